import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
// The benchmarks measure the build.
import { iterateSessions, searchSessions } from "../../dist/catalog.js";
import { SessionManager } from "../../dist/index.js";
import {
  naiveAppend,
  naiveContext,
  naiveList,
  naiveOpen,
  naivePath,
  naiveSearch,
  naiveTree,
} from "./naive.ts";

/** Result of a case: the time of the measured part, and its outcome. */
interface Outcome {
  readonly ms: number;
  readonly result: number;
}

type Case = (path: string) => Outcome | Promise<Outcome>;

/** Loads pi's session manager, which `pi.ts` has unpacked; ours replaces it in programs, so it has our type. */
async function loadPi(): Promise<typeof SessionManager> {
  const path = process.env["PI_SESSION_MANAGER"] ?? "";
  const loaded: { SessionManager: typeof SessionManager } = await import(path);
  return loaded.SessionManager;
}

/** A case that needs pi's session manager, whose loading is not measured. */
function withPi(run: (manager: typeof SessionManager, path: string) => Outcome | Promise<Outcome>): Case {
  return async (path) => run(await loadPi(), path);
}

function timed(work: () => number): Outcome {
  const start = performance.now();
  const result = work();
  return { ms: performance.now() - start, result };
}

/** Returns the median time of work in a process that has repeated it, so that its code is compiled. */
function inRunningProcess(work: () => number): Outcome {
  for (let i = 0; i < WARM_UP; i++) work();
  const outcomes = Array.from({ length: REPETITIONS }, () => timed(work)).sort((a, b) => a.ms - b.ms);
  return outcomes[REPETITIONS >> 1] ?? { ms: Number.NaN, result: 0 };
}

const readOnly = { mode: "read-only" } as const;
const APPENDS = 20_000;
const TURNS = 1_000;
const WARM_UP = 200;
const REPETITIONS = 51;
const WANTED = "wrong path in its";
/** A query of ordinary letters that is in no session. */
const NOWHERE = "a quizzical mind";

function userMessage(i: number) {
  return { role: "user" as const, content: `turn ${i} ${"of a benchmark ".repeat(40)}`, timestamp: i };
}

const ANSWER = {
  role: "assistant" as const,
  content: [],
  api: "bench",
  provider: "bench",
  model: "m",
  usage: {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  },
  stopReason: "stop" as const,
  timestamp: 0,
};

function inTemporaryFolder(work: (folder: string) => Outcome): Outcome {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-bench-"));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const openedContext = (path: string) =>
  SessionManager.open(path, readOnly).buildSessionContext().messages.length;
const piOpenedContext = (manager: typeof SessionManager, path: string) =>
  manager.open(path).buildSessionContext().messages.length;
const naiveOpenedContext = (path: string) => naiveContext(naiveOpen(path)).length + 1;

/** Measures 1,000 turns on a session that is already open: an append and the context after it. */
function turns(path: string): Outcome {
  return inTemporaryFolder((folder) => {
    const session = SessionManager.forkFrom(path, folder, folder);
    session.buildSessionContext();
    for (let i = 0; i < TURNS; i++) session.appendMessage(userMessage(i));
    return timed(() => {
      let messages = 0;
      for (let i = 0; i < TURNS; i++) {
        session.appendMessage(userMessage(i));
        messages = session.buildSessionContext().messages.length;
      }
      return messages > 0 ? 1 : 0;
    });
  });
}

/** Measures each implementation's appends, after a number of unmeasured ones. */
function appending(before: number): { readonly [implementation: string]: Case } {
  const run = (append: (i: number) => void) => {
    for (let i = 0; i < before; i++) append(i);
    return timed(() => {
      for (let i = 0; i < APPENDS; i++) append(before + i);
      return APPENDS;
    });
  };
  return {
    ours: () =>
      inTemporaryFolder((folder) => {
        const session = SessionManager.create(folder, folder);
        return run((i) => session.appendMessage(userMessage(i)));
      }),
    pi: withPi((manager) =>
      inTemporaryFolder((folder) => {
        const session = manager.create(folder, folder);
        // pi writes nothing before the first answer.
        session.appendMessage(ANSWER);
        return run((i) => session.appendMessage(userMessage(i)));
      }),
    ),
    naive: () =>
      inTemporaryFolder((folder) => {
        let parentId: string | null = null;
        return run((i) => {
          const id = i.toString(16).padStart(8, "0");
          const timestamp = new Date().toISOString();
          const entry = { type: "message", id, parentId, timestamp, message: userMessage(i) };
          naiveAppend(join(folder, "a.jsonl"), entry);
          parentId = id;
        });
      }),
    "writeSync alone": () =>
      inTemporaryFolder((folder) => {
        const head = { type: "message", id: "00000000", parentId: "00000000" };
        const entry = { ...head, timestamp: new Date().toISOString(), message: userMessage(APPENDS) };
        const line = Buffer.from(`${JSON.stringify(entry)}\n`);
        const fd = openSync(join(folder, "a.jsonl"), "a");
        const outcome = run(() => {
          writeSync(fd, line);
        });
        closeSync(fd);
        return outcome;
      }),
  };
}

/** All cases, by name and implementation. */
export const cases: { readonly [name: string]: { readonly [implementation: string]: Case } } = {
  "open and first context": {
    ours: (path) => timed(() => openedContext(path)),
    naive: (path) => timed(() => naiveOpenedContext(path)),
    pi: withPi((manager, path) => timed(() => piOpenedContext(manager, path))),
    "readFileSync alone": (path) => timed(() => readFileSync(path).length),
  },
  "open and first context, running": {
    ours: (path) => inRunningProcess(() => openedContext(path)),
    naive: (path) => inRunningProcess(() => naiveOpenedContext(path)),
    pi: withPi((manager, path) => inRunningProcess(() => piOpenedContext(manager, path))),
  },
  "open, context, append, huge": {
    ours: (path) =>
      timed(() => {
        const session = SessionManager.open(path);
        session.buildSessionContext();
        session.appendMessage(userMessage(0));
        return session.getEntryCount() > 0 ? 1 : 0;
      }),
  },
  "a turn": {
    ours: turns,
    rebuilt: (path) => {
      const session = naiveOpen(path);
      const { ms, result } = timed(() => {
        for (let i = 0; i < 10; i++) naiveContext(session);
        return 1;
      });
      return { ms: (ms / 10) * TURNS, result };
    },
  },
  getEntries: {
    ours: (path) => timed(() => SessionManager.open(path, readOnly).getEntries().length),
    naive: (path) => timed(() => naiveOpen(path).entries.length),
  },
  getTree: {
    ours: (path) => timed(() => SessionManager.open(path, readOnly).getTree().length),
    naive: (path) => timed(() => naiveTree(naiveOpen(path)).length),
  },
  getBranch: {
    ours: (path) => timed(() => SessionManager.open(path, readOnly).getBranch().length),
    naive: (path) => timed(() => naivePath(naiveOpen(path)).length),
  },
  "append 20,000": appending(0),
  "append 20,000, warm": appending(APPENDS),
  list: {
    ours: (path) => listed(SessionManager, path),
    naive: (path) => timed(() => naiveList(path).length),
    pi: withPi(listed),
    "readdir and stat alone": (path) =>
      timed(() => readdirSync(path).filter((name) => statSync(join(path, name)).isFile()).length),
  },
  "list, one grown": {
    ours: async (path) => {
      const first = readdirSync(path)[0] ?? "";
      appendFileSync(
        join(path, first),
        `${JSON.stringify({ type: "session_info", id: Date.now().toString(16).slice(-8), parentId: null, timestamp: new Date().toISOString(), name: "grown" })}\n`,
      );
      return listed(SessionManager, path);
    },
  },
  "list, first row": { ours: (path) => untilFirst(iterateSessions({ sessionDir: path })) },
  search: searching(WANTED),
  "search, nowhere": searching(NOWHERE),
  "search, first hit": { ours: (path) => untilFirst(searchSessions(WANTED, { sessionDir: path })) },
};

/** Searches everything; the result is the number of hits plus 1, so that no hits is a result, too. */
function searching(text: string): { readonly [implementation: string]: Case } {
  return {
    ours: async (path) => {
      const start = performance.now();
      let hits = 0;
      for await (const _hit of searchSessions(text, { sessionDir: path })) hits++;
      return { ms: performance.now() - start, result: hits + 1 };
    },
    naive: (path) => timed(() => naiveSearch(path, text) + 1),
  };
}

/** Measures the time until the first item. */
async function untilFirst(found: AsyncIterable<unknown>): Promise<Outcome> {
  const start = performance.now();
  for await (const _first of found) return { ms: performance.now() - start, result: 1 };
  return { ms: performance.now() - start, result: 0 };
}

async function listed(manager: typeof SessionManager, folder: string): Promise<Outcome> {
  const start = performance.now();
  const infos = await manager.listAll(folder);
  return { ms: performance.now() - start, result: infos.length };
}
