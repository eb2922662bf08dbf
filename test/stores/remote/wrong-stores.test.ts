import { isSessionError } from "sessiontree";
import { remoteStore, type SessionBackend } from "sessiontree/stores";
import { faultyBackend, sessionStoreSuite } from "sessiontree/testing";
import { describe, expect, test } from "vitest";
import { getPosition } from "../../../src/stores/contract/select-sessions.ts";
import type {
  FoundLine,
  NewEntryLine,
  NewLine,
  StoredLine,
} from "../../../src/stores/contract/session-backend.ts";
import { sessionExists, writesLost } from "../../../src/stores/contract/store-errors.ts";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import { overBackend } from "../support/over-backend.ts";

const QUICK = { minRetryMs: 0, maxRetryMs: 1, pollMs: 2, giveUpAfterMs: 1_000 };

/** Runs the suite on stores over a backend until a test fails; returns its name. */
async function refusedBy(
  make: (memory: MemoryBackend) => SessionBackend,
  without: readonly ("backend" | "faults")[] = [],
): Promise<string | undefined> {
  const tests: { name: string; run: () => Promise<void> }[] = [];
  sessionStoreSuite({
    test: (name, run) => tests.push({ name, run }),
    without,
    factory: () => {
      const memory = new MemoryBackend();
      const inner = make(memory);
      const { backend, faults } = faultyBackend(inner);
      const store = remoteStore(backend, QUICK);
      // As another process has it: a separate object over the same storage.
      return { store, another: () => remoteStore(make(memory), QUICK), backend: inner, faults };
    },
  });
  for (const { name, run } of tests) {
    const result = run().then(
      () => true,
      () => false,
    );
    if (!(await Promise.race([result, later(8_000)]))) return name;
  }
  return undefined;
}

/** Resolves to false after a time: a wrong store's call that hangs has failed, too. */
const later = (ms: number) =>
  new Promise<false>((resolve) => {
    setTimeout(() => resolve(false), ms).unref();
  });

/** A backend with a fault. */
type Wrong = (memory: MemoryBackend) => Partial<SessionBackend>;

const changedText = (line: NewLine, change: (text: string) => string): NewLine => ({
  ...line,
  text: change(line.text),
});

async function* piecesOf(...pieces: (readonly NewLine[])[]): AsyncGenerator<readonly NewLine[], void> {
  yield* pieces;
}

const creating =
  (change: (lines: readonly NewLine[]) => readonly NewLine[]): Wrong =>
  (memory) => ({
    create: (facts, batches) =>
      memory.create(
        facts,
        (async function* () {
          for await (const lines of batches) yield change(lines);
        })(),
      ),
  });

const reading =
  (change: (lines: readonly StoredLine[]) => readonly StoredLine[]): Wrong =>
  (memory) => ({
    read: async (id, afterSeq, limit, entryId) => {
      const page = await memory.read(id, afterSeq, limit, entryId);
      return { ...page, lines: change(page.lines) };
    },
  });

/** Changes lines so that a repeated one is not recognized. */
const unknown = (lines: readonly NewEntryLine[], salt: number): NewEntryLine[] =>
  lines.map((line) => ({ ...line, text: line.text + " ".repeat(salt) }));

/** Backends whose watchers miss something. */
const WITHOUT_HINTS: Readonly<Record<string, Wrong>> = {
  "sends no hints": () => ({ subscribe: async () => undefined }),
  "sends a hint immediately, and none after it": () => ({ subscribe: async (_, onMore) => onMore() }),
  "sends a hint of the first change only": (memory) => ({
    subscribe(id, onMore, options) {
      let isTold = false;
      const once = () => {
        if (!isTold) onMore();
        isTold = true;
      };
      return memory.subscribe(id, once, options);
    },
  }),
  "sends hints only of its own appends": (memory) => {
    const listeners = new Set<() => void>();
    return {
      async subscribe(_, onMore, { signal }) {
        listeners.add(onMore);
        signal.addEventListener("abort", () => listeners.delete(onMore));
      },
      async append(id, lines, condition) {
        const receipt = await memory.append(id, lines, condition);
        for (const onMore of listeners) onMore();
        return receipt;
      },
    };
  },
};

const WRONG: Readonly<Record<string, Wrong>> = {
  "reverses the lines of a batch": (memory) => ({
    append: (id, lines, condition) => memory.append(id, [...lines].reverse(), condition),
  }),
  "reverses lines while it creates a session": creating((lines) => [...lines].reverse()),
  "adds a resent line again": (memory) => {
    let salt = 0;
    return { append: (id, lines, condition) => memory.append(id, unknown(lines, salt++), condition) };
  },
  "reports a lost batch as stored": (memory) => {
    let calls = 0;
    return {
      async append(id, lines, condition) {
        if (++calls % 3 !== 0) return memory.append(id, lines, condition);
        const { lines: there, revision } = await memory.read(id, 0, 1_000);
        const last = there.at(-1)?.seq ?? 0;
        return { precedingSeq: last, lastSeq: last, revision };
      },
    };
  },
  "drops resent lines": (memory) => {
    const seen = new Set<string>();
    return {
      async append(id, lines, condition) {
        const isAgain = lines.every(({ text }) => seen.has(text));
        for (const { text } of lines) seen.add(text);
        if (!isAgain) return memory.append(id, lines, condition);
        const { lines: there, revision } = await memory.read(id, 0, 1_000);
        const last = there.at(-1)?.seq ?? 0;
        return { precedingSeq: last, lastSeq: last, revision };
      },
    };
  },
  "treats another entry with the same id as the same": (memory) => ({
    async append(id, lines, condition) {
      const { lines: there } = await memory.read(id, 0, 1_000);
      const isNew = ({ entry }: NewEntryLine) =>
        !there.some(({ text }) => text.includes(`"id":"${entry.id}"`));
      const known = lines.filter((line) => !isNew(line) && there.some(({ text }) => text === line.text));
      return memory.append(id, [...known, ...lines.filter(isNew)], condition);
    },
  }),
  "writes a batch line by line, so that others come between": (memory) => ({
    async append(id, lines, condition) {
      const receipts = [];
      for (const line of lines) {
        receipts.push(await memory.append(id, [line], condition));
        await new Promise((resolve) => setImmediate(resolve));
      }
      const [first] = receipts;
      const last = receipts.at(-1);
      if (first === undefined || last === undefined) return memory.append(id, lines, condition);
      return { ...last, precedingSeq: first.precedingSeq };
    },
  }),
  "hides in its receipts that others have written": (memory) => {
    const known = new Map<string, number>();
    return {
      async append(id, lines, condition) {
        const receipt = await memory.append(id, lines, condition);
        const precedingSeq = known.get(id) ?? receipt.precedingSeq;
        known.set(id, receipt.lastSeq);
        return { ...receipt, precedingSeq };
      },
    };
  },
  "ignores the expected leaf": (memory) => ({
    append: (id, lines, { expectedLeafId: _, ...known } = {}) => memory.append(id, lines, known),
  }),
  "ignores the line that must be stored": (memory) => ({
    append: (id, lines, { afterSeq: _, afterEntryId: __, ...condition } = {}) =>
      memory.append(id, lines, condition),
  }),
  "checks the position of the line that must be stored, and not its entry": (memory) => ({
    append: (id, lines, { afterEntryId: _, ...condition } = {}) => memory.append(id, lines, condition),
  }),
  "leaves no positions free": (memory) => ({
    append: (id, lines, { gap: _, ...condition } = {}) => memory.append(id, lines, condition),
  }),
  "reads after a line that it does not have": (memory) => ({
    read: (id, afterSeq, limit) => memory.read(id, afterSeq, limit),
  }),
  "adds lines before it checks the line that must be stored": (memory) => ({
    async append(id, lines, { afterSeq, afterEntryId, ...condition } = {}) {
      const receipt = await memory.append(id, lines, condition);
      if (afterSeq !== undefined) await memory.read(id, afterSeq, 1, afterEntryId ?? "none");
      return receipt;
    },
  }),
  "starts with the same revision under the id of a deleted session": (memory) => {
    const first = new Map<string, number>();
    const counted = <T extends { readonly revision: number }>(id: string, answer: T): T => ({
      ...answer,
      revision: answer.revision - (first.get(id) ?? 0),
    });
    return {
      async create(facts, batches) {
        const receipt = await memory.create(facts, batches);
        first.set(facts.id, receipt.revision);
        return counted(facts.id, receipt);
      },
      read: async (id, ...given) => counted(id, await memory.read(id, ...given)),
      append: async (id, ...given) => counted(id, await memory.append(id, ...given)),
      async amend(id, change) {
        const expectedRevision = change.expectedRevision + (first.get(id) ?? 0);
        const receipt = await memory.amend(id, { ...change, expectedRevision });
        return receipt && counted(id, receipt);
      },
    };
  },
  "treats a deleted session as one that it has lost": (memory) => ({
    append: async (id, lines, condition) =>
      memory.append(id, lines, condition).catch((error: unknown) => {
        throw isSessionError(error, "SESSION_NOT_FOUND") && condition?.afterSeq ? writesLost(id) : error;
      }),
  }),
  "lets labels break a condition": (memory) => ({
    async append(id, lines, condition) {
      const { lines: there } = await memory.read(id, 0, 1_000);
      const strict = condition?.expectedLeafId;
      const isLast = there.at(-1)?.text.includes(`"id":"${strict}"`) || there.length === 1;
      return memory.append(id, lines, strict && !isLast ? { expectedLeafId: "ffffffff" } : condition);
    },
  }),
  "refuses resent lines, because the leaf has changed": (memory) => ({
    async append(id, lines, condition = {}) {
      if (condition.expectedLeafId === undefined) return memory.append(id, lines, condition);
      await memory.append(id, unknown(lines, 1), condition);
      return memory.append(id, lines);
    },
  }),
  "appends to sessions that were deleted": (memory) => {
    const gone = new Set<string>();
    return {
      async delete(id) {
        gone.add(id);
        return memory.delete(id);
      },
      append: (id, lines, condition) =>
        gone.has(id)
          ? Promise.resolve({ precedingSeq: 0, lastSeq: 1, revision: 0 })
          : memory.append(id, lines, condition),
    };
  },
  "lists deleted sessions": (memory) => ({
    delete: async (id) => (await memory.list({ limit: 1_000 })).some((one) => one.id === id),
  }),
  "reports everything as deleted": (memory) => ({
    delete: (id) => memory.delete(id).then(() => true),
  }),
  "creates a session over another one": (memory) => ({
    async create(facts, batches) {
      await memory.delete(facts.id);
      return memory.create(facts, batches);
    },
  }),
  "leaves half a session where the source breaks off": (memory) => ({
    async create(facts, batches) {
      const taken: (readonly NewLine[])[] = [];
      let cause: unknown;
      try {
        for await (const lines of batches) taken.push(lines);
      } catch (error) {
        cause = error;
      }
      const receipt = await memory.create(facts, piecesOf(...taken));
      if (cause !== undefined) throw cause;
      return receipt;
    },
  }),
  "removes carriage returns": creating((lines) =>
    lines.map((line) => changedText(line, (text) => text.replace(/\r$/, ""))),
  ),
  "removes the byte order mark": reading((lines) =>
    lines.map((line) => ({ ...line, text: line.text.replace(/^\ufeff/, "") })),
  ),
  "omits empty lines": creating((lines) => lines.filter(({ text }) => text !== "")),
  "omits equal lines": creating((lines) => {
    const texts = lines.map(({ text }) => text);
    return lines.filter(({ text }, i) => texts.indexOf(text) === i);
  }),
  "drops bytes that are not UTF-8": reading((lines) =>
    lines.map(({ encoding, ...line }) =>
      encoding === undefined ? line : { ...line, text: Buffer.from(line.text, "base64").toString() },
    ),
  ),
  "ends every line": reading((lines) => lines.map(({ isUnterminated: _, ...line }) => line)),
  "rewrites records": reading((lines) =>
    lines.map((line) => ({ ...line, text: line.text.replace(/: /g, ":").replaceAll("\\u0000", "") })),
  ),
  "reports only an empty page as the end": (memory) => ({
    async read(id, afterSeq, limit, entryId) {
      const page = await memory.read(id, afterSeq, limit, entryId);
      return { ...page, isEnd: page.lines.length === 0 };
    },
  }),
  "reports a page as the end as soon as it is full": (memory) => ({
    async read(id, afterSeq, limit, entryId) {
      const page = await memory.read(id, afterSeq, limit, entryId);
      return { ...page, isEnd: page.isEnd || page.lines.length === limit };
    },
  }),
  "returns more lines than requested": (memory) => ({
    read: (id, afterSeq, _limit, entryId) => memory.read(id, afterSeq, 1_000, entryId),
  }),
  "repeats lines where a page ends": (memory) => ({
    read: (id, afterSeq, limit) => memory.read(id, Math.max(0, afterSeq - 1), limit),
  }),
  "does not count changes of lines": (memory) => ({
    async read(...given) {
      return { ...(await memory.read(...given)), revision: 0 };
    },
    amend: async (id, change) => {
      const { revision } = await memory.read(id, 0, 1);
      const receipt = await memory.amend(id, { ...change, expectedRevision: revision });
      return receipt && { ...receipt, revision: 0 };
    },
  }),
  "changes lines although another process has changed them": (memory) => ({
    amend: async (id, change) =>
      memory.amend(id, { ...change, expectedRevision: (await memory.read(id, 0, 1)).revision }),
  }),
  "keeps the facts of what was redacted": (memory) => ({
    amend: (id, change) => memory.amend(id, { ...change, facts: {} }),
  }),
  "finds what was redacted": (memory) => ({
    amend: (id, change) => {
      const secret = (line: NewLine): NewLine =>
        line.entry === undefined ? line : { ...line, entry: { ...line.entry, searchText: "the secret" } };
      const replace = change.replace.map(({ seq, line }) => ({ seq, line: secret(line) }));
      return memory.amend(id, { ...change, replace });
    },
  }),
  "lists the oldest first": (memory) => ({
    list: async (query) => [...(await memory.list(query))].reverse(),
  }),
  "lists sessions of the same time in any order": (memory) => ({
    list: async (query) =>
      [...(await memory.list(query))].sort(
        (a, b) => getPosition(b).modifiedMs - getPosition(a).modifiedMs || (a.id < b.id ? 1 : -1),
      ),
  }),
  "repeats the last of a page": (memory) => ({
    list: (query) =>
      memory.list(
        query.after === undefined
          ? query
          : { ...query, after: { ...query.after, modifiedMs: query.after.modifiedMs + 1 } },
      ),
  }),
  "skips sessions of the same time where a page ends": (memory) => ({
    list: (query) =>
      memory.list(query.after === undefined ? query : { ...query, after: { ...query.after, id: "~" } }),
  }),
  "treats signs in names as wildcards": (memory) => ({
    list: ({ name, ...query }) => memory.list(name === "%" ? query : { ...query, ...(name && { name }) }),
  }),
  "lists other projects, too": (memory) => ({ list: ({ cwd: _, ...query }) => memory.list(query) }),
  "ignores the beginning of ids": (memory) => ({
    list: ({ idPrefix: _, ...query }) => memory.list(query),
  }),
  "treats the time of any entry as that of a message": creating((lines) =>
    lines.map(({ entry, ...line }) =>
      entry === undefined ? line : { ...line, entry: { ...entry, messageMs: entry.timestampMs ?? 0 } },
    ),
  ),
  "forgets the name in the header": (memory) => ({
    create: (facts, batches) => memory.create({ ...facts, name: null }, batches),
  }),
  "counts resent lines": (memory) => {
    let again = 0;
    return {
      append: async (id, lines, condition) => {
        const before = (await memory.read(id, 0, 1_000)).lines.length;
        const receipt = await memory.append(id, lines, condition);
        if ((await memory.read(id, 0, 1_000)).lines.length === before) again += lines.length;
        return receipt;
      },
      list: async (query) =>
        (await memory.list(query)).map((one) => ({ ...one, messageCount: one.messageCount + again })),
    };
  },
  "searches other projects, too": (memory) => ({ search: ({ cwd: _, ...query }) => memory.search(query) }),
  "finds entries with one of the words": (memory) => ({
    search: ({ words, ...query }) => memory.search({ ...query, words: words.slice(0, 1) }),
  }),
  "stops searching after the first page": (memory) => ({
    search: async (query) => (query.after === undefined ? memory.search(query) : []),
  }),
  "returns hits in reverse order": (memory) => ({
    search: async (query) => [...(await memory.search(query))].reverse(),
  }),
  ...WITHOUT_HINTS,
  "notifies watchers that have stopped": (memory) => ({
    subscribe: (id, onMore) => memory.subscribe(id, onMore, new AbortController()),
  }),
  "drops the rest of a partly stored batch": (memory) => ({
    async append(id, lines, condition) {
      const { lines: there } = await memory.read(id, 0, 1_000);
      const known = lines.filter(({ text }) => there.some((line) => line.text === text));
      return memory.append(id, known.length > 0 ? known : lines, condition);
    },
  }),
  "reports a partly stored batch as after all others": (memory) => ({
    async append(id, lines, condition) {
      const { lines: there } = await memory.read(id, 0, 1_000);
      const isKnown = (line: NewEntryLine) => there.some(({ text }) => text === line.text);
      const receipt = await memory.append(id, lines, condition);
      const isPartlyThere = lines.some(isKnown) && !lines.every(isKnown);
      return isPartlyThere ? { ...receipt, precedingSeq: there.at(-1)?.seq ?? 0 } : receipt;
    },
  }),
  "shows a session while it is being created": (memory) => ({
    async create(facts, batches) {
      await memory.create(facts, piecesOf());
      const held: NewLine[] = [];
      try {
        for await (const lines of batches) held.push(...lines);
      } finally {
        await memory.delete(facts.id);
      }
      return memory.create(facts, piecesOf(held));
    },
  }),
  "lets two create the same session": (memory) => ({
    async create(facts, batches) {
      if ((await memory.list({ limit: 1_000 })).some(({ id }) => id === facts.id)) {
        throw sessionExists(facts.id);
      }
      const held: NewLine[] = [];
      for await (const lines of batches) held.push(...lines);
      await memory.delete(facts.id);
      return memory.create(facts, piecesOf(held));
    },
  }),
  "leaves receipts of a deleted session": (memory) => {
    const taken = new Set<string>();
    return {
      async append(id, lines, condition) {
        const isNew = (line: NewEntryLine) => !taken.has(`${id} ${line.text}`);
        const { lines: there, revision } = await memory.read(id, 0, 1_000);
        const last = there.at(-1)?.seq ?? 0;
        const fresh = lines.filter((line) => isNew(line) || there.some(({ text }) => text === line.text));
        if (fresh.length === 0) return { precedingSeq: last, lastSeq: last, revision };
        const receipt = await memory.append(id, fresh, condition);
        for (const { text } of lines) taken.add(`${id} ${text}`);
        return receipt;
      },
    };
  },
  "finds what was deleted": (memory) => {
    let before: readonly FoundLine[] = [];
    return {
      async delete(id) {
        before = [...before, ...(await memory.search({ words: ["needle"], limit: 1_000 }))];
        return memory.delete(id);
      },
      search: async (query) => [...(await memory.search(query)), ...before].slice(0, query.limit),
    };
  },
  "compares the leaf with one that was removed": (memory) => {
    const removed = new Set<string>();
    return {
      async amend(id, change) {
        const { lines } = await memory.read(id, 0, 1_000);
        for (const { seq, text } of lines) {
          if (change.remove.includes(seq) && text.startsWith("{")) removed.add(JSON.parse(text).id);
        }
        return memory.amend(id, change);
      },
      append: (id, lines, condition) => {
        const isGone = removed.has(condition?.expectedLeafId ?? "");
        return memory.append(id, lines, isGone ? undefined : condition);
      },
    };
  },
  "cannot be closed twice": () => {
    let isClosed = false;
    return {
      async close() {
        if (isClosed) throw new Error("it is closed");
        isClosed = true;
      },
    };
  },
};

/** For backends with a subtle fault, the test that must detect it: other tests would detect a crude imitation of the fault. */
const REASONS: Readonly<Record<string, string>> = {
  "starts with the same revision under the id of a deleted session":
    "never restores a deleted session, not even in a new session with its id",
  "treats a deleted session as one that it has lost":
    "does not restore a deleted session, and reports the deletion",
  "ignores the line that must be stored":
    "appends entries that the store accepted and lost again, only once, and reports them",
  "checks the position of the line that must be stored, and not its entry":
    "does not restore lost entries after lines were redacted, and reports the loss",
  "leaves no positions free":
    "skips positions before added lines as requested, and does not treat them as lines",
  "reads after a line that it does not have":
    "restores lost entries alongside later entries of other processes, whichever process notices first",
  "adds lines before it checks the line that must be stored":
    "appends entries that the store accepted and lost again, only once, and reports them",
  "leaves receipts of a deleted session": "retains nothing from a deleted session",
  "finds what was deleted": "retains nothing from a deleted session",
  "compares the leaf with one that was removed":
    "compares the leaf with the remaining lines after other lines were removed",
  "shows a session while it is being created":
    "hides a session that is being created, and lets only one of two creators succeed",
  "reports a partly stored batch as after all others":
    "returns the position of the first line of a partly stored batch, and adds the rest at the end",
};

/** Positions that are far apart. */
const GAP = 10;

const inner = (seq: number) => Math.floor(seq / GAP);

const spread = <T extends { readonly seq: number }>(line: T): T => ({ ...line, seq: line.seq * GAP });

const RIGHT: Readonly<Record<string, Wrong>> = {
  "is correct": () => ({}),
  "returns one line at a time": (memory) => ({
    read: (id, afterSeq, _limit, entryId) => memory.read(id, afterSeq, 1, entryId),
  }),
  "leaves gaps between lines": (memory) => {
    const far = <T extends { precedingSeq: number; lastSeq: number }>(receipt: T): T => ({
      ...receipt,
      precedingSeq: receipt.precedingSeq * GAP,
      lastSeq: receipt.lastSeq * GAP,
    });
    return {
      create: async (...given) => far(await memory.create(...given)),
      append: async (id, lines, { afterSeq, ...condition } = {}) => {
        const known = afterSeq === undefined ? {} : { afterSeq: inner(afterSeq) };
        return far(await memory.append(id, lines, { ...condition, ...known }));
      },
      async read(id, afterSeq, limit, entryId) {
        const page = await memory.read(id, inner(afterSeq), limit, entryId);
        return { ...page, lines: page.lines.map(spread) };
      },
      async amend(id, change) {
        const replace = change.replace.map((one) => ({ ...one, seq: inner(one.seq) }));
        const receipt = await memory.amend(id, { ...change, replace, remove: change.remove.map(inner) });
        return receipt && far(receipt);
      },
      async search(query) {
        const after = query.after && { ...query.after, seq: inner(query.after.seq) };
        const found = await memory.search({ ...query, ...(after && { after }) });
        return found.map((one) => ({ ...one, line: spread(one.line) }));
      },
    };
  },
};

const over = (wrong: Wrong) => (memory: MemoryBackend) => overBackend(memory, wrong(memory));

describe("the suite", () => {
  test.each(Object.entries(RIGHT))("accepts a store that %s", async (_, right) => {
    expect(await refusedBy(over(right))).toBeUndefined();
  });

  const heard = Object.entries(WRONG).filter(([name]) => !Object.hasOwn(WITHOUT_HINTS, name));
  test.each(heard)("refuses a store that %s", async (name, wrong) => {
    expect(await refusedBy(over(wrong))).toEqual(REASONS[name] ?? expect.any(String));
  });
});

// In parallel: each is refused after five seconds without a hint.
describe.concurrent.each(Object.entries(WITHOUT_HINTS))("a store that %s", (_, wrong) => {
  test("is refused by the suite", async () => {
    expect(await refusedBy(over(wrong))).toMatch(/^reports other processes/);
  });

  test("is refused even if the suite gets no backend to inspect", async () => {
    expect(await refusedBy(over(wrong), ["backend", "faults"])).toMatch(/^reports other processes/);
  });
});
