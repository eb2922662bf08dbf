import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isSessionError, repairSession, SessionManager, type SessionOptions } from "sessiontree";
import { mergeSessions } from "sessiontree/catalog";
import { expect, test } from "vitest";
import { isSampled } from "../../support/share.ts";
import { type FileSystem, watchedFs } from "./faulty-fs.ts";
import { litter, place, sandbox } from "./sandbox.ts";
import { getIds, header, lines, message, onDisk, user } from "./sessions.ts";

const SECRET = "hunter2";

const ENTRIES = [
  message("0000000a", null, `the word is ${SECRET}`),
  message("0000000b", "0000000a", "one"),
  message("0000000c", "0000000b", "two"),
];

/** Session with text to redact and a line to repair. */
export const SESSION = lines(header(), ...ENTRIES, "what is this");

/** Copy of it that was continued differently. */
const COPY = lines(header(), message("000000cc", null, "only in the copy"));

/** The same texts in a version without a tree. */
export const OLD = lines(
  header({ version: 1 }),
  ...[SECRET, "one"].map((text) => ({
    type: "message",
    timestamp: "2026-03-01T12:00:00.000Z",
    message: user(text),
  })),
);

type Durability = NonNullable<SessionOptions["durability"]>;

/** File, its open sessions, and the promises to their callers. */
class Stage {
  readonly folder = sandbox();
  readonly path: string;
  readonly durability: Durability;
  readonly acknowledged: string[] = [];
  readonly open = new Set<SessionManager>();
  readonly promises: Promise<void>[] = [];
  isRedacted = false;

  constructor(content: string, durability: Durability) {
    this.durability = durability;
    this.path = place(this.folder, "s.jsonl", content);
    place(this.folder, "copy", COPY);
  }

  /** Checks all promises, after all operations have ended. */
  async assertKept(where: string): Promise<void> {
    await Promise.all(this.promises);
    for (const session of this.open) {
      session.refresh();
      this.acknowledged.push(session.appendMessage(user("afterwards")));
      await session.close();
    }
    const disk = onDisk(this.path);
    const ids = new Set(getIds(disk));
    expect(
      this.acknowledged.filter((id) => !ids.has(id)),
      `lost, ${where}`,
    ).toEqual([]);
    const isOdd = (code: string) => code !== "LINE_UNREADABLE" && code !== "ENTRY_REPEATED";
    expect(
      disk.issues.filter(({ code }) => isOdd(code)),
      where,
    ).toEqual([]);
    expect(litter(this.folder), where).toEqual([]);
    if (this.isRedacted) expect(readFileSync(this.path, "utf8"), where).not.toContain(SECRET);
  }
}

/** Process that works on the file, with a session that stays open, and a separate file system. */
class Actor {
  readonly stage: Stage;
  readonly fs: FileSystem;
  readonly session: SessionManager;

  constructor(stage: Stage, before: () => void = () => undefined) {
    this.stage = stage;
    this.fs = watchedFs(before);
    this.session = this.open();
  }

  open(): SessionManager {
    const { path, durability, open } = this.stage;
    const session = SessionManager.open(path, { durability, fs: this.fs });
    open.add(session);
    return session;
  }

  say(session = this.session): void {
    this.stage.acknowledged.push(session.appendMessage(user("said")));
  }

  redact(session = this.session): void {
    const secret = session.getEntries().find((entry) => JSON.stringify(entry).includes(SECRET));
    if (secret === undefined) return;
    this.stage.acknowledged.push(session.redactEntry(secret.id));
    this.stage.isRedacted = true;
  }
}

/** Operations on the file of a session. */
export const OPERATIONS: readonly (readonly [name: string, run: (actor: Actor) => void])[] = [
  ["append", (actor) => actor.say()],
  ["open and append", (actor) => actor.say(actor.open())],
  ["redact", (actor) => actor.redact()],
  ["open and redact", (actor) => actor.redact(actor.open())],
  ["upgrade", (actor) => actor.session.upgrade()],
  ["repair", (actor) => repairSession(actor.stage.path, { fs: actor.fs })],
  ["merge", ({ stage, fs }) => mergeSessions(stage.path, join(stage.folder, "copy"), { inPlace: true, fs })],
  ["refresh", (actor) => actor.session.refresh()],
  ["open and read", (actor) => actor.open().getEntries()],
  [
    "fork",
    ({ stage, fs }) => {
      const options = { sessionDir: join(stage.folder, "forks"), fs };
      expect(SessionManager.forkFrom(stage.path, "/other", options).issues).toEqual([]);
    },
  ],
  ["flush", ({ session, stage }) => stage.promises.push(session.flush())],
  [
    "close",
    ({ session, stage }) => {
      stage.open.delete(session);
      stage.promises.push(session.close());
    },
  ],
];

/** Runs an operation that may be rejected temporarily, because a call further up is replacing the file. */
function actBelow(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!isSessionError(error)) throw error;
    expect(String(error)).toMatch(/being replaced/);
  }
}

/** Runs an operation and, at one of its calls of the file system, others below it; returns the number of its calls. */
async function interleave(
  content: string,
  durability: Durability,
  run: (actor: Actor) => void,
  at: number,
  below: readonly ((actor: Actor) => void)[],
  isHeld: boolean,
  where: string,
): Promise<number> {
  const stage = new Stage(content, durability);
  const others = below.map(() => new Actor(stage));
  let calls = Number.NEGATIVE_INFINITY;
  const actor = new Actor(stage, () => {
    if (++calls !== at) return;
    for (const [i, act] of below.entries()) actBelow(() => act(others[i] ?? actor));
  });
  // An actor that has appended holds the file open.
  if (content === SESSION) for (const one of [actor, ...others]) if (isHeld || one === others[0]) one.say();
  calls = 0;
  run(actor);
  const total = calls;
  calls = Number.NEGATIVE_INFINITY;
  await stage.assertKept(where);
  return total;
}

/**
 * Tests that every promise is kept when two others act, one after the other, at any call of an operation.
 *
 * Each operation runs below each call of each; the third operation, the actor that holds the file open, and the durability of
 * appends alternate.
 */
export function testInterleaving(content: string, operations: readonly string[]): void {
  const outer = OPERATIONS.filter(([name]) => operations.includes(name));
  test.each(outer)("every promise is kept when others act at any call of: %s", async (name, run) => {
    let runs = 0;
    for (const [i, [second, actSecond]] of OPERATIONS.entries()) {
      let first = 1;
      while (!isSampled(first, i)) first++;
      for (let at = first, calls = at; at <= calls; at++) {
        if (!isSampled(at, i)) continue;
        const [third, actThird] = OPERATIONS[(i + at) % OPERATIONS.length] ?? [];
        const durability = (i + at) % 2 === 0 ? "os" : "fsync";
        const isHeld = i % 2 === 0 || name === "flush" || name === "close";
        const where = `${name}, at call ${at}: ${second}, then ${third}; ${durability}`;
        const below = actThird === undefined ? [actSecond] : [actSecond, actThird];
        calls = await interleave(content, durability, run, at, below, isHeld, where);
        runs++;
      }
    }
    expect(runs).toBeGreaterThanOrEqual(OPERATIONS.length);
  });
}
