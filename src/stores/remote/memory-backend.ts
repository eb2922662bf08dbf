import { hasWord } from "../../catalog/query/search-query.ts";
import { factsAfter, type SessionFacts } from "../../core/facts/session-facts.ts";
import { addTo } from "../../core/format/group-by.ts";
import { COMMUTING_TYPES, staleLeaf } from "../../session/log/expected-leaf.ts";
import { selectSessions } from "../contract/select-sessions.ts";
import type {
  Amendment,
  AppendCondition,
  AppendReceipt,
  BackendListQuery,
  BackendSearchQuery,
  FactsWithUsage,
  FoundLine,
  LinePage,
  NewEntryLine,
  NewLine,
  SessionBackend,
} from "../contract/session-backend.ts";
import { sessionExists, sessionNotFound, writesLost } from "../contract/store-errors.ts";

interface HeldLine extends NewLine {
  readonly seq: number;
}

interface HeldSession {
  facts: SessionFacts;
  lines: HeldLine[];
  byEntryId: Map<string, HeldLine[]>;
  nextSeq: number;
  revision: number;
  readonly listeners: Set<() => void>;
}

/** Compares ids by code unit. */
const compareIds = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/**
 * In-memory backend that serves as the executable specification for backends.
 *
 * @remarks Cost: O(lines appended), O(lines of the session) for an amendment, O(lines of all sessions) for a search.
 */
export class MemoryBackend implements SessionBackend {
  readonly supports = { rewrite: true, search: true, watch: true, conditionalAppend: true };
  readonly #sessions = new Map<string, HeldSession>();
  /** Initial revisions for sessions created with the ids of deleted sessions. */
  readonly #nextRevisions = new Map<string, number>();

  async create(facts: SessionFacts, batches: AsyncIterable<readonly NewLine[]>): Promise<AppendReceipt> {
    this.#assertFree(facts.id);
    const revision = this.#nextRevisions.get(facts.id) ?? 0;
    const session: HeldSession = {
      facts,
      lines: [],
      byEntryId: new Map(),
      nextSeq: 1,
      revision,
      listeners: new Set(),
    };
    for await (const lines of batches) addHeldLines(session, lines);
    this.#assertFree(facts.id);
    this.#sessions.set(facts.id, session);
    return { precedingSeq: 0, lastSeq: session.nextSeq - 1, revision };
  }

  async read(id: string, afterSeq: number, limit: number, afterEntryId?: string): Promise<LinePage> {
    const session = this.#session(id);
    const { lines, revision } = session;
    if (afterEntryId !== undefined) assertKnown(session, { afterSeq, afterEntryId });
    const start = countUpTo(lines, afterSeq);
    const page = lines.slice(start, start + limit);
    return { lines: page, isEnd: page.at(-1) === lines.at(-1) || page.length === 0, revision };
  }

  async append(
    id: string,
    lines: readonly NewEntryLine[],
    condition: AppendCondition = {},
  ): Promise<AppendReceipt> {
    const { expectedLeafId, afterSeq, gap = 0 } = condition;
    if (!this.#sessions.has(id) && afterSeq !== undefined && !this.#nextRevisions.has(id))
      throw writesLost(id);
    const session = this.#session(id);
    assertKnown(session, condition);
    const added = findMissing(session, lines);
    if (added.length > 0 && expectedLeafId !== undefined) assertLeaf(session.lines, expectedLeafId);
    if (added.length > 0) {
      session.nextSeq += gap;
      addHeldLines(session, added);
      notifyListeners(session);
    }
    return makeReceipt(session, lines);
  }

  async amend(id: string, change: Amendment): Promise<AppendReceipt | undefined> {
    const session = this.#session(id);
    if (session.revision !== change.expectedRevision) return undefined;
    const replaced = new Map(change.replace.map(({ seq, line }) => [seq, { ...line, seq }]));
    const removed = new Set(change.remove);
    session.lines = session.lines
      .filter(({ seq }) => !removed.has(seq))
      .map((line) => replaced.get(line.seq) ?? line);
    session.byEntryId = new Map();
    for (const line of session.lines) noteEntry(session, line);
    session.facts = { ...session.facts, ...change.facts };
    session.revision++;
    addHeldLines(session, findMissing(session, change.append));
    notifyListeners(session);
    return makeReceipt(session, change.append);
  }

  async list(query: BackendListQuery): Promise<SessionFacts[]> {
    return selectSessions(
      Array.from(this.#sessions.values(), ({ facts }) => facts),
      query,
    );
  }

  async listUsage(query: BackendListQuery): Promise<FactsWithUsage[]> {
    return (await this.list(query)).map((session) => {
      const { lines } = this.#session(session.id);
      const usage = lines.flatMap(({ entry }) => entry?.usage ?? []);
      return { session, usage, linesWithoutEntry: lines.filter(({ entry }) => entry === undefined).length };
    });
  }

  async search({ words, cwd, limit, after }: BackendSearchQuery): Promise<FoundLine[]> {
    const found: FoundLine[] = [];
    const sessions = [...this.#sessions.values()].sort((a, b) => compareIds(b.facts.id, a.facts.id));
    for (const { facts, lines } of sessions) {
      if (cwd !== undefined && facts.cwd !== cwd) continue;
      const order = after === undefined ? -1 : compareIds(facts.id, after.sessionId);
      if (order > 0) continue;
      for (const line of lines) {
        if (after !== undefined && order === 0 && line.seq <= after.seq) continue;
        const text = line.entry?.searchText;
        if (text !== undefined && words.every((word) => hasWord(text, word)))
          found.push({ session: facts, line });
      }
    }
    return found.slice(0, limit);
  }

  async delete(id: string): Promise<boolean> {
    const session = this.#sessions.get(id);
    if (session !== undefined) this.#nextRevisions.set(id, session.revision + 1);
    return this.#sessions.delete(id);
  }

  async subscribe(
    id: string,
    onMore: () => void,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<void> {
    const { listeners } = this.#session(id);
    listeners.add(onMore);
    signal.addEventListener("abort", () => listeners.delete(onMore), { once: true });
  }

  async close(): Promise<void> {
    // The sessions remain in memory until this object is garbage-collected.
  }

  #session(id: string): HeldSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw sessionNotFound(id);
    return session;
  }

  #assertFree(id: string): void {
    if (this.#sessions.has(id)) throw sessionExists(id);
  }
}

function addHeldLines(session: HeldSession, lines: readonly NewLine[]): void {
  for (const line of lines) {
    const held = { ...line, seq: session.nextSeq++ };
    session.lines.push(held);
    noteEntry(session, held);
  }
  session.facts = factsAfter(session.facts, lines);
}

function noteEntry({ byEntryId }: HeldSession, line: HeldLine): void {
  if (line.entry !== undefined) addTo(byEntryId, line.entry.id, line);
}

function notifyListeners({ listeners }: HeldSession): void {
  for (const onMore of [...listeners]) onMore();
}

/** Returns the stored line that a new line repeats. */
function findSame({ byEntryId }: HeldSession, line: NewEntryLine): HeldLine | undefined {
  return byEntryId.get(line.entry.id)?.find(({ text }) => text === line.text);
}

function findMissing(session: HeldSession, lines: readonly NewEntryLine[]): NewEntryLine[] {
  const distinct = new Map(lines.map((line) => [line.text, line]));
  return [...distinct.values()].filter((line) => findSame(session, line) === undefined);
}

function makeReceipt(session: HeldSession, given: readonly NewEntryLine[]): AppendReceipt {
  const { lines, revision } = session;
  const end = lines.at(-1)?.seq ?? 0;
  const seqs = given.map((line) => findSame(session, line)?.seq ?? end);
  const first = countUpTo(lines, (seqs[0] ?? end + 1) - 1);
  return { precedingSeq: lines[first - 1]?.seq ?? 0, lastSeq: seqs.at(-1) ?? end, revision };
}

function countUpTo(lines: readonly HeldLine[], lastSeq: number): number {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle]?.seq ?? 0) <= lastSeq) low = middle + 1;
    else high = middle;
  }
  return low;
}

function assertKnown({ facts, lines }: HeldSession, { afterSeq, afterEntryId }: AppendCondition): void {
  if (afterSeq === undefined) return;
  const known = lines[countUpTo(lines, afterSeq) - 1];
  const isThere = known?.seq === afterSeq && (afterEntryId ?? known.entry?.id) === known.entry?.id;
  if (!isThere) throw writesLost(facts.id);
}

function assertLeaf(lines: readonly HeldLine[], expectedLeafId: string | null): void {
  for (let i = lines.length - 1; i >= 0; i--) {
    const entry = lines[i]?.entry;
    if (entry === undefined) continue;
    if (entry.id === expectedLeafId) return;
    if (!COMMUTING_TYPES.includes(entry.type)) throw staleLeaf(expectedLeafId, entry.id);
  }
  if (expectedLeafId !== null) throw staleLeaf(expectedLeafId, null);
}
