import { appendFileSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as after, setImmediate as nextTurn } from "node:timers/promises";
import { isSessionError, repairSession, SessionManager } from "sessiontree";
import { mergeSessions } from "sessiontree/catalog";
import { importSessions } from "sessiontree/import";
import { fileStore } from "sessiontree/stores";
import type { Told } from "./stress.ts";
import { sourceBeside, sourceRecord } from "./stress-source.ts";
import { playSystem } from "./systems.ts";

const [task = "", path = "", name = "", seed = "1", given = "os", system] = process.argv.slice(2);

playSystem(system);

const durability = given === "fsync" ? "fsync" : "os";

/** Opens the session of the round. */
const open = (): SessionManager => SessionManager.open(path, { durability });

let isOver = false;
process.stdin.on("end", () => {
  isOver = true;
});
process.stdin.resume();

/** Number of attempts, 20 ms apart, after which an operation counts as permanently rejected. */
const MAX_ATTEMPTS = 100;

let count = 0;
let state = Number(seed);

/** Returns the next number below `limit`; the same sequence for the same seed. */
function random(limit: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

/** Sends a report to the parent, in one write that is complete when the call returns. */
function tell(told: Told): void {
  writeSync(1, `${JSON.stringify(told)}\n`);
}

/** Retries an operation that may be rejected during a replacement; one that is rejected for seconds is reported. */
async function persist<T>(work: () => T): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return work();
    } catch (error) {
      if (!isSessionError(error)) throw error;
      if (attempt === MAX_ATTEMPTS) {
        tell({ refused: error.message });
        throw error;
      }
      await after(20);
    }
  }
}

async function append(session: SessionManager): Promise<void> {
  const content = `secret-${name}-${count++} ${"x".repeat(random(400))}`;
  const message = { role: "user", content, timestamp: Date.now() } as const;
  const id = await persist(() => session.appendMessage(message));
  tell({ acknowledged: id });
}

/** Keeps its session open, and occasionally moves to an entry that others may be using. */
async function* keep(): AsyncGenerator<void, void> {
  const session = open();
  try {
    for (;;) {
      if (random(50) === 0) await persist(() => session.refresh());
      const entries = random(100) === 0 ? session.getEntries() : [];
      const target = entries[random(entries.length)];
      if (target !== undefined) session.branch(target.id);
      await append(session);
      yield;
    }
  } finally {
    await session.close();
  }
}

/** Opens its session for a few entries; closes it, or abandons it. */
async function* reopen(): AsyncGenerator<void, void> {
  for (;;) {
    const session = open();
    for (let i = random(5); i >= 0; i--) await append(session);
    if (random(2) === 0) await session.close();
    yield;
  }
}

/** Redacts the latest texts, each through a separate session. */
async function* redact(): AsyncGenerator<void, void> {
  for (;;) {
    const session = open();
    const said = session.getEntries().flatMap((entry) => {
      const text = /secret-\w+-\d+/.exec(JSON.stringify(entry))?.[0];
      return text === undefined ? [] : [{ id: entry.id, text }];
    });
    const one = said[Math.max(0, said.length - 1 - random(20))];
    if (one !== undefined) {
      session.redactEntry(one.id);
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
    // Opened, because without links the path is briefly missing.
    const header = SessionManager.open(path, { mode: "read-only" }).getHeader();
    writeFileSync(copy, `${JSON.stringify(header)}\n`);
    SessionManager.open(copy).appendMessage({ role: "user", content: "copied", timestamp: Date.now() });
    mergeSessions(path, copy, { inPlace: true });
    tell({ replaced: "merge" });
    yield;
  }
}

/** Appends to the transcript from which the session was imported, and imports it again. */
async function* importAgain(): AsyncGenerator<void, void> {
  const source = sourceBeside(path);
  for (;;) {
    const text = `secret-${name}-${count++} ${"x".repeat(random(400))}`;
    appendFileSync(source, sourceRecord(readFileSync(source, "utf8"), text));
    const store = fileStore({ sessionDir: dirname(path) });
    for await (const { status } of importSessions({ paths: [source], store, cacheDir: `${source}.cache` }))
      if (status === "grown") tell({ replaced: "import" });
    yield;
  }
}

const TASKS: { readonly [task: string]: () => AsyncGenerator<void, void> } = {
  keep,
  reopen,
  redact,
  repair,
  merge,
  import: importAgain,
};

let failures = 0;
while (!isOver) {
  try {
    for await (const _ of TASKS[task]?.() ?? []) {
      failures = 0;
      await nextTurn();
      if (isOver) break;
    }
  } catch (error) {
    if (!isSessionError(error)) throw error;
    if (++failures === MAX_ATTEMPTS) tell({ refused: error.message });
    await after(20);
  }
}
process.exit(0);
