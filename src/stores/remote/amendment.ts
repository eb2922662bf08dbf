import { factsAfter } from "../../core/facts/session-facts.ts";
import { addTo } from "../../core/format/group-by.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { changeLine, encodeCurrentLine, type LineChange } from "../../core/jsonl/entry-body.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import type { LogLine } from "../../session/log/session-log.ts";
import { makeStorableFacts, parseEntryFacts } from "../contract/line-facts.ts";
import type { Amendment, NewLine, SessionBackend, StoredLine } from "../contract/session-backend.ts";
import { makeEntryLine, toNewLine } from "./line-codec.ts";
import { type RemoteLines, readAllLines, toRemoteLines } from "./remote-lines.ts";

/** Change to make to stored lines. */
export interface StoredChange {
  /** Called for the header and each entry. If undefined, all lines are upgraded to the current version. */
  readonly change: LineChange | undefined;
  /** Whether to remove lines that contain neither the header nor an entry, because their content is unknown. */
  readonly dropsRest: boolean;
}

/** Maximum number of attempts to make a change while other processes change lines. */
const MAX_ATTEMPTS = 5;

/**
 * Changes stored lines of a session and appends other lines atomically.
 *
 * Can safely be called again if the response was lost: no change is made twice.
 *
 * @returns Revisions before and after the change; equal if no change was necessary.
 * @throws {SessionError} Error from the backend if it refused the change. After any other error, the call can be
 *   retried.
 */
export async function amendLines(
  backend: SessionBackend,
  id: string,
  change: StoredChange,
  more: () => readonly LogLine[],
): Promise<{ readonly before: number; readonly after: number }> {
  const withSearchText = backend.supports.search;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const { lines: stored, known, revision } = await readAllLines(backend, id);
    const plan = planAmendment(stored, known, change, withSearchText);
    const { tree } = known.index;
    const lines = more();
    const isThere = lines.every(({ head }) => tree.find(head.id) !== NONE);
    if (isThere && plan.replace.length + plan.remove.length === 0)
      return { before: revision, after: revision };
    const append = isThere ? [] : lines.map(({ text }) => makeEntryLine(text, withSearchText));
    const amendment = { ...plan, expectedRevision: revision, append };
    const receipt = await backend.amend?.(id, amendment);
    if (receipt !== undefined) return { before: revision, after: receipt.revision };
  }
  throw new Error("other processes kept changing lines of the session");
}

/** Parts of an amendment that are computed from the lines. */
type AmendmentPlan = Pick<Amendment, "replace" | "remove" | "facts">;

/** Computes which lines of a session change, and their new content. */
function planAmendment(
  lines: readonly StoredLine[],
  session: RemoteLines,
  { change, dropsRest }: StoredChange,
  withSearchText: boolean,
): AmendmentPlan {
  const { index } = session;
  const texts = new Map<number, Uint8Array[]>();
  session.readLines(index.spans.inFileOrder(index.tree.ordinals()), (ordinal, bytes) => {
    const { line } = index.spans.at(ordinal);
    const head = index.tree.headAt(ordinal);
    const text = changeLine(encodeCurrentLine(bytes, head, index), head, change);
    // Copies the bytes because the buffer may be reused. Records that share a line remain on one line.
    addTo(texts, line, Buffer.from(text));
  });
  const replace: { seq: number; line: NewLine }[] = [];
  const remove: number[] = [];
  for (const [i, { seq, text, encoding }] of lines.entries()) {
    const parts = texts.get(i + 1);
    const isHeader = index.headerSpan?.line === i + 1;
    if (parts === undefined) {
      const header = isHeader ? headerLine(session, text, change) : text;
      if (header !== text) replace.push({ seq, line: { text: header } });
      else if (!isHeader && dropsRest) remove.push(seq);
      continue;
    }
    // A header that shares its line with entries remains before them.
    const front = isHeader ? [Buffer.from(headerLine(session, undefined, change))] : [];
    const line = toNewLine(Buffer.concat([...front, ...parts]), withSearchText);
    if (line.text !== text.replace(/\r+$/, "") || line.encoding !== encoding) replace.push({ seq, line });
  }
  const removed = new Set(remove);
  const replaced = new Map(replace.map(({ seq, line }) => [seq, line]));
  const future = lines.filter(({ seq }) => !removed.has(seq));
  return {
    replace,
    remove,
    facts: collectFacts(future.map((line) => ({ seq: line.seq, ...(replaced.get(line.seq) ?? line) }))),
  };
}

/** Returns the header line, changed only if necessary. */
function headerLine(
  { index }: RemoteLines,
  line: string | undefined,
  change: LineChange | undefined,
): string {
  const header = line === undefined || index.needsUpgrade ? encodeRecord({ ...index.header }) : line;
  return change?.(header) ?? header;
}

/** Computes the facts shown in lists from the new lines. */
function collectFacts(lines: readonly StoredLine[]): Amendment["facts"] {
  const { header } = toRemoteLines(lines).index;
  if (header === undefined) return {};
  const entries = lines.map(({ text }) => ({ entry: parseEntryFacts(text, false) }));
  const { name, firstMessage } = factsAfter(makeStorableFacts(header), entries);
  return { name, firstMessage };
}
