import type { SearchHit } from "../catalog/search.ts";
import { searchedText } from "../catalog/search-text.ts";
import type { SessionFacts } from "../catalog/session-facts.ts";
import { snippetOf } from "../catalog/snippet.ts";
import { literalMatcher } from "../catalog/text-matcher.ts";
import { decodeRecord } from "../jsonl/decode.ts";
import { refuseAborted } from "../schema/abort.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import { isSessionError } from "../schema/errors.ts";
import { bytesOf } from "./line-codec.ts";
import { PAGE_LINES } from "./read-lines.ts";
import { type RetryPace, untilAnswered } from "./retries.ts";
import { positionOf } from "./select-sessions.ts";
import type { FoundLine, SessionBackend } from "./session-backend.ts";

/** What reads from a backend. */
export interface BackendReader {
  readonly backend: SessionBackend;
  readonly pace: RetryPace;
  readonly signal: AbortSignal | undefined;
}

/** Sessions or lines requested at a time. */
const PAGE = 100;

/**
 * Yields lines that may hold the words: those that the backend finds, or all if it cannot search.
 *
 * @param cwd - Only sessions of this project.
 * @throws {SessionError} `STORE_UNAVAILABLE`, `ABORTED`
 */
export async function* linesWith(
  reader: BackendReader,
  words: readonly string[],
  cwd: string | undefined,
): AsyncGenerator<FoundLine, void, undefined> {
  const { backend } = reader;
  const filter = { limit: PAGE, ...(cwd !== undefined && { cwd }) };
  if (backend.search === undefined) {
    yield* allLines(reader, filter);
    return;
  }
  for (let last: FoundLine | undefined; ; ) {
    const after = last && { sessionId: last.session.id, seq: last.line.seq };
    const query = { words, ...filter, ...(after && { after }) };
    const page = await ask(reader, async (end) => (await backend.search?.(query, end)) ?? []);
    yield* page;
    last = page.at(-1);
    if (page.length < PAGE) return;
  }
}

/** All lines of all sessions, for backends that cannot search. */
async function* allLines(
  reader: BackendReader,
  filter: { readonly limit: number; readonly cwd?: string },
): AsyncGenerator<FoundLine, void, undefined> {
  let last: SessionFacts | undefined;
  do {
    const query = { ...filter, ...(last && { after: positionOf(last) }) };
    const page = await ask(reader, () => reader.backend.list(query));
    for (const session of page) yield* linesIfThere(reader, session);
    last = page.length < PAGE ? undefined : page.at(-1);
  } while (last !== undefined);
}

async function* linesIfThere(
  reader: BackendReader,
  session: SessionFacts,
): AsyncGenerator<FoundLine, void, undefined> {
  try {
    for (let [afterSeq, isEnd] = [0, false]; !isEnd; ) {
      refuseAborted(reader.signal);
      const page = await ask(reader, () => reader.backend.read(session.id, afterSeq, PAGE_LINES));
      for (const line of page.lines) yield { session, line };
      isEnd = page.isEnd;
      afterSeq = page.lines.at(-1)?.seq ?? afterSeq;
    }
  } catch (error) {
    // Deleted since it was listed.
    if (!isSessionError(error, "SESSION_NOT_FOUND")) throw error;
  }
}

function ask<T>({ pace, signal }: BackendReader, call: (end: AbortSignal) => Promise<T>): Promise<T> {
  return untilAnswered(call, pace, signal);
}

/** Makes the hit of a line; undefined if it does not hold the words after all. */
export function textHit(
  { line }: FoundLine,
  words: readonly string[],
): Omit<SearchHit, "session"> | undefined {
  const record = decodeRecord(bytesOf(line));
  const { id, type } = record ?? {};
  if (record === undefined || typeof id !== "string" || typeof type !== "string") return undefined;
  const entry: AnySessionEntry = { parentId: null, timestamp: "", ...record, id, type };
  const searched = searchedText(entry);
  if (searched === undefined) return undefined;
  const text = searched.texts.join("\n");
  const matches = words.map((word) => literalMatcher(word, false)([text])[0]);
  const [match] = matches;
  if (match === undefined || matches.includes(undefined)) return undefined;
  return { entryId: id, role: searched.role, ...snippetOf(text, match) };
}
