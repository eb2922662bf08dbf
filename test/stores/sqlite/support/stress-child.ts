import { writeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { SessionManager } from "sessiontree";
import { openSqliteStore } from "sessiontree/sqlite";
import type { SqliteStressEvent } from "./sqlite-stress.ts";

const [task = "", path = "", name = "", seed = "1"] = process.argv.slice(2);

let isOver = false;
process.stdin.on("end", () => {
  isOver = true;
});
process.stdin.resume();

let count = 0;
let state = Number(seed);

/** Returns the next pseudorandom number below `limit`, determined by the seed. */
function random(limit: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

/** Sends a message to the parent in one synchronous write. */
function tell(told: SqliteStressEvent): void {
  writeSync(1, `${JSON.stringify(told)}\n`);
}

/** Appends some messages, and acknowledges them once they are stored. */
async function append(session: SessionManager): Promise<void> {
  const texts = Array.from(
    { length: 1 + random(4) },
    () => `${name}-${count++} ${"x".repeat(random(2_000))}`,
  );
  const entries = texts.map((content) =>
    session.appendMessage({ role: "user", content, timestamp: Date.now() }),
  );
  await session.flush();
  tell({ session: session.getSessionId(), acknowledged: entries });
}

/** Keeps one session open, in which other processes write as well. */
async function keep(): Promise<void> {
  const store = await openSqliteStore(path);
  const session = await store.openOrCreate("shared", { cwd: "/stress" });
  while (!isOver) {
    if (random(10) === 0) await session.refreshAsync();
    await append(session);
    await nextTurn();
  }
  await store.close();
}

/** Opens the file and a session for a few entries, repeatedly. */
async function reopen(): Promise<void> {
  while (!isOver) {
    const store = await openSqliteStore(path);
    const session = await store.openOrCreate(`own-${random(20)}`, { cwd: "/stress" });
    for (let i = random(3); i >= 0; i--) await append(session);
    await store.close();
    // Everything before is synchronous, so the end of the input would never be noticed.
    await nextTurn();
  }
}

/** Redacts entries, so that stored lines are replaced. */
async function redact(): Promise<void> {
  const store = await openSqliteStore(path);
  const session = await store.openOrCreate("shared", { cwd: "/stress" });
  while (!isOver) {
    await session.refreshAsync();
    const messages = session.getEntries().filter(({ type }) => type === "message");
    const entry = messages[random(messages.length)];
    if (entry !== undefined) {
      session.redactEntry(entry.id);
      await session.flush();
      tell({ redacted: entry.id });
    }
    await nextTurn();
  }
  await store.close();
}

const TASKS: { readonly [task: string]: () => Promise<void> } = { keep, reopen, redact };
await TASKS[task]?.();
process.exit(0);
