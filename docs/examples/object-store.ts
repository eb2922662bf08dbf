/**
 * A session store in an object store: S3, R2, GCS, or any other that honors `If-Match` and `If-None-Match` of a PUT.
 *
 *     const store = remoteStore(objectBackend(httpObjects("https://bucket.example/agents/")));
 *
 * A session consists of an object `head`, which is replaced only if no other process has replaced it, and objects of
 * lines, which never change. The head contains the last lines, so an append is one PUT without a GET: lines up to
 * `afterSeq` do not have to be compared.
 */
import { randomUUID } from "node:crypto";
import {
  type Amendment,
  type AppendCondition,
  type AppendReceipt,
  backendKit,
  type NewEntryLine,
  type NewLine,
  type SessionBackend,
  type SessionFacts,
  type StoredLine,
} from "sessiontree/stores";

const { commutingTypes, factsAfter, selectSessions, sessionExists, sessionNotFound, staleLeaf, writesLost } =
  backendKit;

/** Calls that an object store must support. In GCS, the condition is `x-goog-if-generation-match`. */
export interface Objects {
  /** Returns undefined if the object does not exist, and `"same"` if its tag has not changed. */
  get(key: string, knownTag?: string): Promise<{ body: string; tag: string } | "same" | undefined>;
  /** Returns the new tag, or undefined if the object's tag is not `tag`, or the object exists although `tag` is null. */
  put(key: string, body: string, tag: string | null): Promise<string | undefined>;
  delete(key: string): Promise<void>;
  keys(): AsyncIterable<string>;
}

/** Accesses an object store with the S3 protocol. Pass a `fetch` that signs requests, such as `aws4fetch`'s. */
export function httpObjects(base: string, send: typeof fetch = fetch): Objects {
  const call = async (key: string, options: RequestInit, ...expected: number[]) => {
    const response = await send(new URL(key, base), options);
    if (expected.includes(response.status)) return response;
    throw new Error(`${options.method ?? "GET"} ${key}: ${response.status} ${await response.text()}`);
  };
  const getTag = ({ headers }: Response) => headers.get("etag") ?? "";
  return {
    async get(key, knownTag) {
      const headers: Record<string, string> = knownTag === undefined ? {} : { "if-none-match": knownTag };
      const response = await call(key, { headers }, 200, 304, 404);
      const body = await response.text();
      if (response.status === 304) return "same";
      return response.status === 404 ? undefined : { body, tag: getTag(response) };
    },
    async put(key, body, tag) {
      const headers: Record<string, string> = tag === null ? { "if-none-match": "*" } : { "if-match": tag };
      const response = await call(key, { method: "PUT", body, headers }, 200, 404, 412);
      await response.text();
      return response.status === 200 ? getTag(response) : undefined;
    },
    delete: async (key) => void (await (await call(key, { method: "DELETE" }, 200, 204, 404)).text()),
    async *keys() {
      for (let token: string | undefined = ""; token !== undefined; ) {
        const page: string = await (await call(`?list-type=2&continuation-token=${token}`, {}, 200)).text();
        for (const [, key = ""] of page.matchAll(/<Key>(.*?)<\/Key>/g)) yield key;
        const next: string | undefined = /<NextContinuationToken>(.*?)</.exec(page)?.[1];
        token = next && encodeURIComponent(next);
      }
    },
  };
}

type Line = StoredLine & { readonly entry?: { readonly id: string; readonly type: string } };

/** An object that contains lines: its key, its last line's number, and that line's entry. */
interface Part {
  readonly key: string;
  readonly to: number;
  readonly lastId?: string | undefined;
}

interface Head {
  readonly facts: SessionFacts;
  readonly revision: number;
  /** Whether the session was deleted. Its ID can be used again, with a greater revision. */
  readonly isDeleted: boolean;
  readonly nextSeq: number;
  /** The last entry that continues the conversation (or null), and later entries that do not. */
  readonly leaf: readonly (string | null)[];
  readonly parts: readonly Part[];
  readonly tail: readonly Line[];
}

interface Known {
  readonly head: Head;
  readonly tag: string | null;
}

/** Maximum number of characters of lines in the head; beyond it, the lines are moved to their own object. */
const MAX_TAIL = 64 * 1024;
/** Maximum number of heads remembered between calls. */
const MAX_KNOWN = 1_000;

/** Returns the folder of a session, encoded because an ID may contain special characters of a path or a URL. */
const getFolder = (id: string) => `${Buffer.from(id).toString("base64url")}/`;
const headKey = (id: string) => `${getFolder(id)}head`;

function leafAfter(before: Head["leaf"], lines: readonly Line[]): Head["leaf"] {
  let leaf = [...before];
  for (const { entry } of lines) {
    if (entry === undefined) continue;
    if (!commutingTypes.includes(entry.type)) leaf = [];
    leaf.push(entry.id);
  }
  return leaf;
}

/** Creates a backend for `remoteStore` from an object store. */
export function objectBackend(objects: Objects): SessionBackend {
  const known = new Map<string, Known>();

  const remember = (id: string, one: Known) => {
    known.delete(id);
    known.set(id, one);
    for (const oldest of known.keys()) if (known.size > MAX_KNOWN) known.delete(oldest);
    return one;
  };
  const find = async (id: string): Promise<Known | undefined> => {
    const before = known.get(id);
    const answer = await objects.get(headKey(id), before?.tag ?? undefined);
    if (answer === "same") return before;
    return answer && remember(id, { head: JSON.parse(answer.body), tag: answer.tag });
  };
  const require = async (id: string, error = sessionNotFound): Promise<Known> => {
    const one = await find(id);
    if (one === undefined) throw error(id);
    if (one.head.isDeleted) throw sessionNotFound(id);
    return one;
  };
  /** Replaces a head; returns false if another process has replaced it. */
  const replace = async (id: string, { tag }: { tag: string | null }, head: Head): Promise<boolean> => {
    known.delete(id);
    const put = await objects.put(headKey(id), JSON.stringify(head), tag);
    if (put !== undefined) remember(id, { head, tag: put });
    return put !== undefined;
  };
  const writePart = async (id: string, lines: readonly Line[]): Promise<Part> => {
    const key = `${getFolder(id)}${randomUUID()}`;
    await objects.put(key, JSON.stringify(lines), null);
    return { key, to: lines.at(-1)?.seq ?? 0, lastId: lines.at(-1)?.entry?.id };
  };
  const removeParts = async (parts: readonly Part[]) => {
    for (const { key } of parts) await objects.delete(key);
  };
  /** Reads the lines after `afterSeq`, part by part. */
  async function* linesBehind({ parts, tail }: Head, afterSeq: number): AsyncGenerator<Line, void> {
    for (const { key, to } of parts) {
      if (to <= afterSeq) continue;
      const part = await objects.get(key);
      // Another process has changed lines in the meantime: the store retries.
      if (part === undefined || part === "same") throw new Error(`the object ${key} is gone`);
      const lines: Line[] = JSON.parse(part.body);
      yield* lines.filter(({ seq }) => seq > afterSeq);
    }
    yield* tail.filter(({ seq }) => seq > afterSeq);
  }
  const collect = async (head: Head, afterSeq: number): Promise<Line[]> => {
    const lines: Line[] = [];
    for await (const line of linesBehind(head, afterSeq)) lines.push(line);
    return lines;
  };
  const assertKnown = async (head: Head, { afterSeq, afterEntryId }: AppendCondition) => {
    if (afterSeq === undefined) return;
    const part = head.parts.find(({ to }) => to === afterSeq);
    const line = part === undefined ? await first(linesBehind(head, afterSeq - 1)) : undefined;
    const id = part === undefined ? line?.entry?.id : part.lastId;
    const isThere = part !== undefined || line?.seq === afterSeq;
    if (!isThere || (afterEntryId ?? id) !== id) throw writesLost(head.facts.id);
  };
  /** Returns the head with the lines appended; a full tail becomes a part. */
  const withLines = async (
    head: Head,
    lines: readonly NewLine[],
    facts: SessionFacts,
    gap = 0,
  ): Promise<Head> => {
    let nextSeq = head.nextSeq + gap;
    const added = lines.map(({ entry, ...line }): Line => {
      return { ...line, seq: nextSeq++, ...(entry && { entry: { id: entry.id, type: entry.type } }) };
    });
    const leaf = leafAfter(head.leaf, added);
    const tail = [...head.tail, ...added];
    const isFull = tail.reduce((sum, { text }) => sum + text.length, 0) > MAX_TAIL;
    const parts = isFull ? [...head.parts, await writePart(facts.id, tail)] : head.parts;
    return { ...head, facts, nextSeq, leaf, parts, tail: isFull ? [] : tail };
  };

  /** Appends to a head; returns undefined if it was replaced in the meantime, or if there is nothing to add and it may be stale. */
  const appendTo = async (
    id: string,
    one: Known,
    given: readonly NewEntryLine[],
    condition: AppendCondition,
    isFresh: boolean,
  ): Promise<AppendReceipt | undefined> => {
    const { head } = one;
    await assertKnown(head, condition);
    const before = condition.afterSeq ?? 0;
    const behind = await collect(head, before);
    const seqs = new Map(behind.map(({ text, seq }) => [text, seq]));
    const added = [...new Map(given.map((line) => [line.text, line])).values()].filter(
      ({ text }) => !seqs.has(text),
    );
    if (added.length === 0 && !isFresh) return undefined;
    const { expectedLeafId, gap } = condition;
    if (added.length > 0 && expectedLeafId !== undefined && !head.leaf.includes(expectedLeafId)) {
      throw staleLeaf(expectedLeafId, head.leaf[0] ?? null);
    }
    const next = await withLines(head, added, factsAfter(head.facts, added), gap);
    const firstAdded = next.nextSeq - added.length;
    if (added.length > 0 && !(await replace(id, one, next))) return undefined;
    for (const [i, { text }] of added.entries()) seqs.set(text, firstAdded + i);
    const all = [before, ...behind.map(({ seq }) => seq), ...added.map((_, i) => firstAdded + i)];
    const firstSeq = seqs.get(given[0]?.text ?? "") ?? firstAdded;
    const precedingSeq = all.filter((seq) => seq < firstSeq).at(-1) ?? before;
    return {
      precedingSeq,
      lastSeq: seqs.get(given.at(-1)?.text ?? "") ?? precedingSeq,
      revision: head.revision,
    };
  };

  return {
    supports: { rewrite: true, search: false, watch: false, conditionalAppend: true },

    async create(facts, batches) {
      const before = await find(facts.id);
      if (before !== undefined && !before.head.isDeleted) throw sessionExists(facts.id);
      const revision = before === undefined ? 0 : before.head.revision + 1;
      let head: Head = { facts, revision, isDeleted: false, nextSeq: 1, leaf: [null], parts: [], tail: [] };
      let isMade = false;
      try {
        for await (const lines of batches) head = await withLines(head, lines, factsAfter(head.facts, lines));
        isMade = await replace(facts.id, before ?? { tag: null }, head);
        if (!isMade) throw sessionExists(facts.id);
      } catch (error) {
        // If only the response was lost, the head refers to the parts: keep them.
        if (!isMade && (await find(facts.id))?.head.parts[0]?.key !== head.parts[0]?.key)
          await removeParts(head.parts);
        throw error;
      }
      return { precedingSeq: 0, lastSeq: head.nextSeq - 1, revision };
    },

    async read(id, afterSeq, limit, afterEntryId) {
      const { head } = await require(id);
      if (afterEntryId !== undefined) await assertKnown(head, { afterSeq, afterEntryId });
      const lines: StoredLine[] = [];
      for await (const { entry: _, ...line } of linesBehind(head, afterSeq)) {
        if (lines.length === limit) return { lines, isEnd: false, revision: head.revision };
        lines.push(line);
      }
      return { lines, isEnd: true, revision: head.revision };
    },

    async append(id, lines, condition = {}) {
      const remembered = known.get(id);
      if (remembered !== undefined && !remembered.head.isDeleted) {
        // The remembered head may be stale, so its errors are ignored, and a fresh one is read.
        const receipt = await appendTo(id, remembered, lines, condition, false).catch(() => undefined);
        if (receipt !== undefined) return receipt;
      }
      for (;;) {
        const one = await require(id, condition.afterSeq === undefined ? sessionNotFound : writesLost);
        const receipt = await appendTo(id, one, lines, condition, true);
        if (receipt !== undefined) return receipt;
      }
    },

    async amend(id, { expectedRevision, replace: changes, remove, append, facts }: Amendment) {
      const one = await require(id);
      const { head } = one;
      if (head.revision !== expectedRevision) return undefined;
      const changed = new Map(changes.map(({ seq, line }) => [seq, line]));
      const lines: Line[] = (await collect(head, 0))
        .filter(({ seq }) => !remove.includes(seq))
        .map((line) => ({ ...line, ...changed.get(line.seq), seq: line.seq }));
      const there = new Set(lines.map(({ text }) => text));
      const added = append.filter(({ text }) => !there.has(text));
      const whole = [await writePart(id, lines)];
      const base: Head = {
        ...head,
        revision: head.revision + 1,
        leaf: leafAfter([null], lines),
        parts: whole,
        tail: [],
      };
      const next = await withLines(base, added, factsAfter({ ...head.facts, ...facts }, added));
      if (!(await replace(id, one, next))) return undefined;
      await removeParts(head.parts);
      const last = lines.at(-1)?.seq ?? 0;
      return {
        precedingSeq: last,
        lastSeq: added.length > 0 ? next.nextSeq - 1 : last,
        revision: next.revision,
      };
    },

    async list(query) {
      const ids: string[] = [];
      for await (const key of objects.keys()) {
        const [, name] = /([^/]+)\/head$/.exec(key) ?? [];
        if (name !== undefined) ids.push(Buffer.from(name, "base64url").toString());
      }
      const heads = await Promise.all(ids.map(find));
      return selectSessions(
        heads.flatMap((one) => (one === undefined || one.head.isDeleted ? [] : [one.head.facts])),
        query,
      );
    },

    async delete(id) {
      for (;;) {
        const one = await find(id);
        if (one === undefined || one.head.isDeleted) return false;
        const { facts, revision, nextSeq } = one.head;
        const bare = { ...facts, cwd: "", name: null, parentSession: null, firstMessage: null };
        const mark: Head = { facts: bare, revision, isDeleted: true, nextSeq, leaf: [], parts: [], tail: [] };
        if (!(await replace(id, one, mark))) continue;
        await removeParts(one.head.parts);
        return true;
      }
    },

    close: async () => known.clear(),
  };
}

async function first<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}
