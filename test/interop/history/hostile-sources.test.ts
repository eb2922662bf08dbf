import { execFileSync } from "node:child_process";
import { fstatSync, mkdirSync, rmSync, statSync, symlinkSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ImportSessionsOptions } from "../../../src/interop/history/import-sessions.ts";
import { cli } from "../../apps/cli/support/cli.ts";
import { failing } from "../../support/failing-calls.ts";
import { takeSample } from "../../support/share.ts";
import { call, joinLines, part, result, SESSION_ID, text, user } from "../import/support/claude-records.ts";
import { meta, numbered, said, THREAD_ID, turn } from "../import/support/codex-records.ts";
import { Places } from "./support/places.ts";

const PROJECTS = ".claude/projects/-code-project";
const MEGABYTE = 1024 * 1024;

/** A session of Claude Code that must be imported whatever precedes it; no record names its folder. */
const GOOD = [user("q", null, "hello"), part("a", "q", "msg_1", text("hi"))].map(({ cwd: _, ...one }) => one);

const idOf = (number: number) => `00000000-2222-4333-8444-${String(number).padStart(12, "0")}`;

function mine(number: number, fields: object = {}) {
  const sessionId = idOf(number);
  return joinLines([
    { ...user(`q${number}`, null, "hello"), sessionId, ...fields },
    { ...part(`a${number}`, `q${number}`, `msg_${number}`, text("hi")), sessionId },
  ]);
}

/** A home folder of files that no program should write; they sort before the good sessions. */
class HostileHome extends Places {
  /** Skipped files, each with one line. */
  readonly odd: string[] = [];

  /** @param levels - Depth of a record that is too deep. */
  constructor(levels = 1_000_001) {
    super();
    this.#links();
    this.#largeFiles();
    this.#deepRecord(levels);
    this.#pipes();
    this.put(`${PROJECTS}/${idOf(1)}.jsonl`, mine(1, { cwd: "/code/\0project" }));
    this.put(`${PROJECTS}/${SESSION_ID}.jsonl`, joinLines(GOOD));
    const thread = numbered([
      meta({ timestamp: "2026-11-22T04:00:00.000Z" }),
      ...turn("Count the taps", said("assistant", "Three.")),
    ]);
    this.put(`.codex/sessions/2026/11/22/rollout-2026-11-22T05-00-00-${THREAD_ID}.jsonl`, joinLines(thread));
    const messages = [{ id: "m1", type: "user", content: "hello", timestamp: "2026-11-22T06:00:00.000Z" }];
    const document = {
      sessionId: "g1",
      projectHash: "hash",
      startTime: "2026-11-22T06:00:00.000Z",
      messages,
    };
    this.put(".gemini/tmp/hash/chats/session-x.json", JSON.stringify(document));
    this.#failures();
  }

  #odd(path: string): string {
    const whole = join(this.home, path);
    mkdirSync(dirname(whole), { recursive: true });
    this.odd.push(whole);
    return whole;
  }

  #links(): void {
    symlinkSync("loop.jsonl", this.#odd(`${PROJECTS}/loop.jsonl`));
    symlinkSync("..", this.#odd(`${PROJECTS}/up`));
    symlinkSync(".", this.#odd(`${PROJECTS}/self`));
    // Seen once, under its own name, with nothing to report.
    symlinkSync("-code-project", join(this.home, ".claude/projects/-code-alias"));
  }

  #largeFiles(): void {
    for (const [path, front, size] of [
      [".codex/sessions/zeros.jsonl", "", 600 * MEGABYTE],
      [`${PROJECTS}/${idOf(2)}.jsonl`, mine(2), 2100 * MEGABYTE],
      [
        ".gemini/tmp/hash/chats/session-big.json",
        '{"sessionId":"b","projectHash":"h","messages":[',
        600 * MEGABYTE,
      ],
    ] as const) {
      this.#odd(path);
      truncateSync(this.put(path, front), size);
    }
  }

  #deepRecord(levels: number): void {
    const deep = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    this.#odd(`${PROJECTS}/${idOf(3)}.jsonl`);
    const records = joinLines([
      user("d", null, "x"),
      part("e", "d", "m", call("t")),
      result("f", "e", "t", "y", { toolUseResult: "DEEP" }),
    ]);
    this.put(`${PROJECTS}/${idOf(3)}.jsonl`, records.replace('"DEEP"', deep));
  }

  #pipes(): void {
    const side = [".codex/session_index.jsonl", ".claude.json", ".gemini/projects.json"];
    for (const path of [`${PROJECTS}/pipe.jsonl`, ...side]) execFileSync("mkfifo", [this.#odd(path)]);
  }

  /** A folder and a file that the system refuses to read, even to an administrator. */
  #failures(): void {
    const closed = join(this.home, ".claude/projects/-closed");
    mkdirSync(closed);
    const broken = this.put(`${PROJECTS}/${idOf(4)}.jsonl`, mine(4));
    const { ino } = statSync(broken);
    this.odd.push(closed, broken);
    const refused = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
    const failed = Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    onTestFinished(failing("readdirSync", refused, (path) => path === closed));
    onTestFinished(failing("readSync", failed, (fd) => typeof fd === "number" && fstatSync(fd).ino === ino));
  }

  async run(more: Partial<ImportSessionsOptions> = {}) {
    const skipped: [path: string, error: unknown][] = [];
    const found = await this.import({ ...more, onSkipped: (path, error) => skipped.push([path, error]) });
    return { found, skipped };
  }
}

const GOOD_IDS = [idOf(1), SESSION_ID, "g1", THREAD_ID].sort();

/** Imports several times without the cache; each odd file must be reported once and everything else imported. */
async function importTwice(levels: number): Promise<void> {
  const home = new HostileHome(levels);
  for (const status of ["new", "unchanged"]) {
    const { found, skipped } = await home.run();
    expect(found.map(({ id }) => id).sort()).toEqual(GOOD_IDS);
    expect(new Set(found.map((one) => one.status))).toEqual(new Set([status]));
    expect(skipped.map(([path]) => path).sort()).toEqual([...home.odd].sort());
    for (const [, error] of skipped) expect(String(error)).toMatch(/^(?:SessionError|TypeError): /);
    rmSync(home.cacheDir, { recursive: true });
  }
}

/** Each odd file must be reported on one line, the rest imported, and the exit code 1. */
async function importFromCommandLine(): Promise<void> {
  const home = new HostileHome();
  const settings = { cwd: home.home, env: { HOME: home.home } };
  const run = async (...args: string[]) => {
    const { code, stderr, lines } = await cli(["import", ...args, "--dir", home.sessions], settings);
    expect(code).toBe(1);
    return { lines, told: stderr.split("\n").filter((line) => line !== "") };
  };
  const { lines, told } = await run("--all");
  expect(lines).toEqual([
    "codex: 1 new, 0 grown, 0 unchanged",
    "claude-code: 2 new, 0 grown, 0 unchanged, 1 issue",
    "gemini: 1 new, 0 grown, 0 unchanged",
    expect.stringMatching(/^ {2}\/.*\.jsonl$/),
    expect.stringContaining("SOURCE_LEFT_OUT"),
  ]);
  // One line more names the next command.
  expect(told).toHaveLength(home.odd.length + 1);
  for (const path of home.odd)
    expect(told.filter((line) => line.startsWith(`sessiontree: ${path} `))).toHaveLength(1);
  // A preview reads only the front of each file.
  expect((await run()).told.length).toBeGreaterThan(5);
  expect((await run(join(home.home, PROJECTS, "pipe.jsonl"))).told).toHaveLength(1);
}

/** Tests that take seconds each, because of the odd files' contents: a short run tries one. */
const WAYS: ReadonlyMap<string, () => Promise<void>> = new Map([
  ["twice", () => importTwice(2_000_000)],
  ["from the command line", importFromCommandLine],
]);

test.skipIf(process.platform === "win32").each(takeSample([...WAYS.keys()]))(
  "each odd file is reported once and everything else is imported, %s",
  async (way) => WAYS.get(way)?.(),
  120_000,
);
