import { appendFileSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isSessionError, repairSession, SessionManager } from "sessiontree";
import { mergeSessions } from "sessiontree/merge";
import type { Told } from "./stress.ts";

const [task = "", path = "", name = "", seed = "1"] = process.argv.slice(2);

let isOver = false;
process.stdin.on("end", () => {
  isOver = true;
});
process.stdin.resume();

let count = 0;
let state = Number(seed);

/** The next number below `limit`; the same ones for the same seed. */
function random(limit: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

/** Tells the parent, in one write that has happened when the call returns. */
function tell(told: Told): void {
  writeSync(1, `${JSON.stringify(told)}\n`);
}

function append(session: SessionManager): void {
  const content = `secret-${name}-${count++} ${"x".repeat(random(400))}`;
  const id = session.appendMessage({ role: "user", content, timestamp: Date.now() });
  tell({ acknowledged: id });
}

/** Keeps its session open, and now and then goes back to where others may have been. */
async function* keep(): AsyncGenerator<void, void> {
  const session = SessionManager.open(path, name.endsWith("1") ? { durability: "fsync" } : {});
  try {
    for (;;) {
      if (random(50) === 0) session.refresh();
      const entries = random(100) === 0 ? session.getEntries() : [];
      const target = entries[random(entries.length)];
      if (target !== undefined) session.branch(target.id);
      append(session);
      yield;
    }
  } finally {
    await session.close();
  }
}

/** Opens its session for a few entries; closes it, or leaves it. */
async function* reopen(): AsyncGenerator<void, void> {
  for (;;) {
    const session = SessionManager.open(path);
    for (let i = random(5); i >= 0; i--) append(session);
    if (random(2) === 0) await session.close();
    yield;
  }
}

/** Redacts what was said last, through a session of its own for each. */
async function* redact(): AsyncGenerator<void, void> {
  for (;;) {
    const session = SessionManager.open(path);
    const said = session.getEntries().flatMap((entry) => {
      const text = /secret-\w+-\d+/.exec(JSON.stringify(entry))?.[0];
      return text === undefined ? [] : [{ id: entry.id, text }];
    });
    const one = said[Math.max(0, said.length - 1 - random(20))];
    if (one !== undefined) {
      session.redact(one.id);
      tell({ redacted: one.text });
    }
    yield;
  }
}

async function* repair(): AsyncGenerator<void, void> {
  for (;;) {
    appendFileSync(path, "\nno entry\n");
    repairSession(path);
    tell({ replaced: "repair" });
    yield;
  }
}

async function* merge(): AsyncGenerator<void, void> {
  for (;;) {
    const copy = `${path}.${name}`;
    const [header = ""] = readFileSync(path, "utf8").split("\n", 1);
    writeFileSync(copy, `${header}\n`);
    SessionManager.open(copy).appendMessage({ role: "user", content: "copied", timestamp: Date.now() });
    mergeSessions(path, copy, { inPlace: true });
    tell({ replaced: "merge" });
    yield;
  }
}

const TASKS: { readonly [task: string]: () => AsyncGenerator<void, void> } = {
  keep,
  reopen,
  redact,
  repair,
  merge,
};

while (!isOver) {
  try {
    for await (const _ of TASKS[task]?.() ?? []) {
      await nextTurn();
      if (isOver) break;
    }
  } catch (error) {
    if (!isSessionError(error)) throw error;
    tell({ refused: error.message });
  }
}
process.exit(0);
