import * as nodeFs from "node:fs";
import { setTimeout as after, setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { isSessionError, SessionManager, type SessionOptions } from "sessiontree";
import { fileStore } from "sessiontree/stores";
import { assistant } from "../../support/messages.ts";
import { watchedFs } from "./faulty-fs.ts";
import { header, lines, message, user } from "./sessions.ts";

/** Tasks of a child process, with their arguments. */
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
  streamForEver,
  openOrCreate,
};

const [task = "", ...given] = process.argv.slice(2);
const options = (json: string | undefined): SessionOptions => (json === undefined ? {} : JSON.parse(json));

/** Sends a value to the parent, in one write that is complete when the call returns. */
function say(value: unknown): void {
  nodeFs.writeSync(1, `${JSON.stringify(value)}\n`);
}

/** Waits for the parent's signal. */
async function signal(): Promise<void> {
  for await (const _ of process.stdin) return;
}

/** Appends until it is killed, and reports each id after the append has returned. */
function appendForEver(path = "", seed = "", json?: string): void {
  const session = SessionManager.open(path, options(json));
  for (let i = 0; ; i++) say(session.appendMessage(user(`${seed} ${i} ${"x".repeat((i * 37) % 3000)}`)));
}

/** Receives an answer piece by piece until it is killed; reports each piece and its time after offering it for saving. */
async function streamForEver(path = "", everyMs = ""): Promise<void> {
  const session = SessionManager.open(path);
  const message = assistant("", { stopReason: "pending" });
  let text = "";
  for (let piece = 0; ; piece++) {
    text += `${piece} `;
    message.content = [{ type: "text", text }];
    const atMs = performance.now();
    await session.savePartialAnswer(message, { everyMs: Number(everyMs) });
    say({ piece, atMs });
    await nextTurn();
  }
}

/** Imports a session into a folder from endless bytes; reports when some of them have arrived. */
async function importForEver(folder = ""): Promise<void> {
  await fileStore({ sessionDir: folder }).importBytes(endless());
}

async function* endless(): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(lines(header()));
  yield Buffer.from(lines(message("00000001", null, "unfinished")));
  say("began");
  await signal();
}

/** Appends entries on the parent's signal, together with others that it waits for; reports whose entries it saw. */
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

/** Returns the writer of an entry, by its text. */
function getWriter(entry: object): string {
  return /writer \d/.exec(JSON.stringify(entry))?.[0] ?? "nobody";
}

/** Upgrades a file and kills itself before a given call of the file system, or reports the number of calls. */
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

/** Opens a session with a lease, reports it, and holds it until it is killed, dismissed, or time runs out. */
async function holdLease(path = "", json?: string, milliseconds?: string): Promise<void> {
  const session = SessionManager.open(path, options(json));
  say(session.getSessionId());
  if (milliseconds === undefined) return signal();
  await after(Number(milliseconds));
  await session.close();
}

/** Holds a lease in a thread, which reports it, and ends that thread on the parent's signal. */
async function leaseInThread(path = ""): Promise<void> {
  const argv = ["holdLease", path, JSON.stringify({ lease: "fail" })];
  const thread = new Worker(new URL(import.meta.url), { argv, stdin: true });
  for await (const _ of process.stdin) {
    await thread.terminate();
    say("terminated");
  }
}

/** Attempts to acquire a lease on the parent's signal; reports the result, and holds it until dismissed. */
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

/** Opens many sessions, appends to each, and reports how many descriptors are open then, and later. */
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

/** Appends on each signal of the parent, and reports id and time. */
async function appendEvery(path = ""): Promise<void> {
  const session = SessionManager.open(path);
  say("ready");
  for await (const _ of process.stdin)
    say({ id: session.appendMessage(user("from a child")), at: Date.now() });
}

/** Watches a session and stops in both ways: after one entry, and by a signal without another call of `next`. */
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

/** Opens or creates a session on the parent's signal, by class or by store, appends to it, and reports its file. */
async function openOrCreate(folder = "", id = "", name = "", way = ""): Promise<void> {
  say("ready");
  await signal();
  const session =
    way === "store"
      ? await fileStore({ sessionDir: folder }).openOrCreate(id, { cwd: "/project" })
      : SessionManager.openOrCreate("/project", id, folder);
  say({ path: session.getSessionFile(), entry: session.appendMessage(user(name)) });
  await session.close();
}

await TASKS[task]?.(...given);
