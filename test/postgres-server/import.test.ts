import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { run } from "../../src/apps/cli/run.ts";
import { openPostgresStore } from "../../src/stores/postgres/open-postgres-store.ts";
import {
  call,
  joinLines,
  part,
  result,
  SESSION_ID,
  text,
  user,
} from "../interop/import/support/claude-records.ts";
import { cluster } from "./support/cluster.ts";

const place = cluster();
const home = mkdtempSync(join(tmpdir(), "sessiontree-import-"));

afterAll(() => rmSync(home, { recursive: true, force: true }));

const TURN = [
  user("q", null, "Find the leak \u0000 \ud83d"),
  part("a1", "q", "msg_1", call("t1")),
  part("a2", "a1", "msg_1", call("t2"), { stop: "tool_use" }),
  result("r1", "a1", "t1", "a tap"),
  result("r2", "a2", "t2", "a pipe"),
  part("a3", "r2", "msg_2", text("It is the tap."), { stop: "end_turn" }),
];

function write(records: readonly object[]): void {
  const path = join(home, `.claude/projects/-code-project/${SESSION_ID}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, joinLines(records));
}

async function imported(...args: string[]): Promise<{ code: number; lines: string[]; errors: string }> {
  const [out, errors]: [string[], string[]] = [[], []];
  const code = await run(["import", "--all", "--store", place.server.url(), ...args], {
    stdout: { write: (piece) => out.push(piece) },
    stderr: { write: (piece) => errors.push(piece) },
    env: { HOME: home },
    cwd: home,
  });
  return { code, lines: out.join("").trimEnd().split("\n"), errors: errors.join("") };
}

test("imports sessions of other programs into a server once, updates them, and keeps what was added", async () => {
  write(TURN);
  const store = await openPostgresStore(place.server.url(), { migrate: true });
  expect(await imported()).toEqual({
    code: 0,
    lines: ["claude-code: 1 new, 0 grown, 0 unchanged"],
    errors: expect.stringMatching(/^To list them: sessiontree list --all --store postgres:.*\n$/),
  });
  expect((await imported()).lines).toEqual(["claude-code: 0 new, 0 grown, 1 unchanged"]);
  const session = await store.open(SESSION_ID);
  expect(session.issues).toEqual([]);
  expect(session.buildSessionContext().messages.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "toolResult",
    "toolResult",
    "assistant",
  ]);
  const mine = session.appendMessage({ role: "user", content: "mine", timestamp: 0 });
  await session.close();
  write([...TURN, user("q2", "a3", "Thanks"), part("a4", "q2", "msg_3", text("Any time."))]);
  const [line = "{}"] = (await imported("--json")).lines;
  expect(JSON.parse(line)).toMatchObject({ path: SESSION_ID, id: SESSION_ID, issues: [] });
  const grown = await store.open(SESSION_ID);
  expect(grown.issues).toEqual([]);
  expect(grown.getBranch().map(({ id }) => id)).toContain(mine);
  expect(JSON.stringify(grown.getEntries())).toContain("Any time.");
  await grown.close();
  expect((await imported()).lines).toEqual(["claude-code: 0 new, 0 grown, 1 unchanged"]);
  await store.close();
});
