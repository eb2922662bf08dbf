import * as nodeFs from "node:fs";
import { setTimeout as after, setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { isSessionError, SessionManager, type SessionOptions } from "sessiontree";
import { fileStore } from "sessiontree/stores";
import { watchedFs } from "./faulty-fs.ts";
import { header, lines, message, user } from "./sessions.ts";

/** What a child process can be told to do, with its arguments. */
const TASKS: { readonly [task: string]: (...args: string[]) => void | Promise<void> } = {
  appendForEver,
  appendMany,
  importForEver,
  upgradeUntilCall,
  holdLease,
  leaseInThread,
  raceForLease,
  openMany,
  appendEvery,
  watchAndLeave,
};

const [task = "", ...given] = process.argv.slice(2);
const options = (json: string | undefined): SessionOptions => (json === undefined ? {} : JSON.parse(json));

/** Tells the parent something, in one write that has happened when the call returns. */
function say(value: unknown): void {
  nodeFs.writeSync(1, `${JSON.stringify(value)}\n`);
}

/** Waits until the parent says so. */
async function signal(): Promise<void> {
  for await (const _ of process.stdin) return;
}

/** Appends until it is killed, and says each id after the append has returned. */
function appendForEver(path = "", seed = "", json?: string): void {
  const session = SessionManager.open(path, options(json));
  for (let i = 0; ; i++) say(session.appendMessage(user(`${seed} ${i} ${"x".repeat((i * 37) % 3000)}`)));
}

/** Imports a session into a folder whose bytes never end; says so when some of them are there. */
async function importForEver(folder = ""): Promise<void> {
  await fileStore({ sessionDir: folder }).importBytes(endless());
}

async function* endless(): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(lines(header()));
  yield Buffer.from(lines(message("00000001", null, "unfinished")));
  say("began");
  await signal();
}

/** Appends so many entries when the parent says so, together with others whom it waits for; tells whom it noticed. */
async function appendMany(path = "", name = "", count = "", others = ""): Promise<void> {
  const session = SessionManager.open(path);
  const noticed = new Set<string>();
  session.on("foreign_entries", ({ entries }) => {
    for (const entry of entries) noticed.add(getWriter(entry));
  });
  say("ready");
  await signal();
  const ids: string[] = [];
  for (let i = 0; i < Number(count); i++) {
    ids.push(session.appendMessage(user(`${name} ${i}`)));
    for (; i === 0 && noticed.size < Number(others); session.refresh()) await nextTurn();
  }
  session.refresh();
  say({ ids, path: session.getPathIds(), noticed: [...noticed].sort(), entries: session.getEntryCount() });
  await session.close();
}

/** Who appended an entry, by its text. */
function getWriter(entry: object): string {
  return /writer \d/.exec(JSON.stringify(entry))?.[0] ?? "nobody";
}

/** Upgrades a file and kills itself before a given call of the file system, or says how many calls there were. */
function upgradeUntilCall(path = "", number = ""): void {
  let calls = 0;
  const fs = watchedFs(() => {
    if (++calls === Number(number)) process.kill(process.pid, "SIGKILL");
  });
  const session = SessionManager.open(path, { fs });
  calls = 0;
  session.appendMessage(user("after"));
  say(calls);
}

/** Opens a session with a lease, says so, and holds it until it is killed, told to end, or has held it so long. */
async function holdLease(path = "", json?: string, milliseconds?: string): Promise<void> {
  const session = SessionManager.open(path, options(json));
  say(session.getSessionId());
  if (milliseconds === undefined) return signal();
  await after(Number(milliseconds));
  await session.close();
}

/** Has a thread hold a lease, which says so, and ends that thread when the parent says so. */
async function leaseInThread(path = ""): Promise<void> {
  const argv = ["holdLease", path, JSON.stringify({ lease: "fail" })];
  const thread = new Worker(new URL(import.meta.url), { argv, stdin: true });
  for await (const _ of process.stdin) {
    await thread.terminate();
    say("terminated");
  }
}

/** Tries to take a lease when the parent says so; tells whether it has it, and holds it until told to end. */
async function raceForLease(path = ""): Promise<void> {
  say("ready");
  for await (const _ of process.stdin) {
    let session: SessionManager | undefined;
    try {
      session = SessionManager.open(path, { lease: "fail" });
      say("won");
    } catch (error) {
      if (!isSessionError(error, "LEASE_HELD")) throw error;
      say("lost");
    }
    held.push(session);
  }
}

/** Keeps leases from being collected. */
const held: (SessionManager | undefined)[] = [];

/** Opens many sessions, appends to each, and tells how many descriptors are open then, and later. */
async function openMany(folder = "", number = ""): Promise<void> {
  const descriptors = () => nodeFs.readdirSync("/proc/self/fd").length;
  const before = descriptors();
  const count = Number(number);
  const make = () => {
    const session = SessionManager.create("/project", folder);
    session.appendMessage(user("one"));
    return session;
  };
  let sessions = Array.from({ length: count }, make);
  const open = descriptors();
  for (const session of sessions) session.appendMessage(user("two"));
  const used = descriptors();
  await Promise.all(sessions.map((session) => session.close()));
  const closed = descriptors();
  sessions = Array.from({ length: 50 }, make);
  const reopened = descriptors();
  sessions = [];
  for (let i = 0; i < 100 && descriptors() > closed; i++) {
    globalThis.gc?.();
    await after(5);
  }
  say({ before, open, used, closed, reopened, collected: descriptors() });
}

/** Appends when the parent says so, each time, and tells id and time. */
async function appendEvery(path = ""): Promise<void> {
  const session = SessionManager.open(path);
  say("ready");
  for await (const _ of process.stdin)
    say({ id: session.appendMessage(user("from a child")), at: Date.now() });
}

/** Watches a session in the two ways of leaving off: after one entry, and by a signal without asking again. */
async function watchAndLeave(path = ""): Promise<void> {
  const session = SessionManager.open(path);
  SessionManager.open(path).appendMessage(user("one"));
  for await (const { id } of session.watch()) {
    say(id);
    break;
  }
  const controller = new AbortController();
  const watched = session.watch({ signal: controller.signal });
  void watched.next();
  await nextTurn();
  controller.abort();
}

await TASKS[task]?.(...given);
