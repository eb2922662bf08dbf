import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { buildProgram, PROGRAM } from "../../support/program.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { joinLines, part, SESSION_ID, text, user } from "../import/support/claude-records.ts";

const SESSIONS = 12;
const TURNS = 40;

beforeAll(buildProgram);

function idOf(number: number): string {
  return `${SESSION_ID.slice(0, -2)}${String(number).padStart(2, "0")}`;
}

/** Writes transcripts with a number of turns. */
function write(home: string, turns: number): void {
  for (let number = 0; number < SESSIONS; number++) {
    // Names have four characters, because the support makes ids from no more.
    const nameOf = (role: string, turn: number) =>
      `${role}${String.fromCharCode(97 + number)}${String(turn).padStart(2, "0")}`;
    const records = Array.from({ length: turns }, (_, turn) => {
      const asked = nameOf("q", turn);
      const answer = part(nameOf("a", turn), asked, `msg_${number}_${turn}`, text(`${turn} `.repeat(500)), {
        stop: "end_turn",
      });
      return [user(asked, turn === 0 ? null : nameOf("a", turn - 1), `turn ${turn}`), answer];
    });
    const path = join(home, ".claude/projects/-code-project", `${idOf(number)}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, joinLines(records.flat()));
  }
}

function start(root: string) {
  const env = {
    PATH: process.env["PATH"],
    HOME: root,
    XDG_DATA_HOME: join(root, "data"),
    XDG_CACHE_HOME: join(root, "cache"),
    PI_CODING_AGENT_DIR: join(root, "agent"),
  };
  const child = spawn(process.execPath, [PROGRAM, "import", "--all", "--json"], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (data) => {
    stdout += data;
  });
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  return { child, ended: once(child, "close").then(([code]) => ({ code, stdout, stderr })) };
}

/** Checks that there is one file for each session, with each turn once and on the path. */
function check(root: string, turns: number): void {
  const folder = join(root, "data/sessiontree/imported/--code-project--");
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  expect(names).toHaveLength(SESSIONS);
  for (const name of names) {
    const path = join(folder, name);
    const session = SessionManager.open(path, { mode: "read-only" });
    expect(session.issues).toEqual([]);
    expect(session.buildSessionContext().messages).toHaveLength(turns * 2);
    expect(readFileSync(path, "utf8").split('"role":"user"')).toHaveLength(turns + 1);
  }
}

test("three concurrent imports all succeed, create each session once, and duplicate nothing", async () => {
  const root = temporaryFolder();
  for (const turns of [TURNS, TURNS + 5]) {
    write(root, turns);
    const all = await Promise.all([start(root), start(root), start(root)].map(({ ended }) => ended));
    for (const { code, stdout, stderr } of all) {
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout.trim().split("\n")).toHaveLength(SESSIONS);
    }
    check(root, turns);
  }
});

test("the next import completes one that was killed at any moment", async () => {
  const root = temporaryFolder();
  let turns = 5;
  for (let round = 0; round < 6; round++, turns += 5) {
    write(root, turns);
    const { child, ended } = start(root);
    const wanted = 1 + ((round * 5) % SESSIONS);
    let seen = "";
    child.stdout.on("data", (data) => {
      seen += data;
      if (seen.split("\n").length > wanted) child.kill("SIGKILL");
    });
    await ended;
  }
  const { code, stderr } = await start(root).ended;
  expect([code, stderr]).toEqual([0, ""]);
  check(root, turns - 5);
});
