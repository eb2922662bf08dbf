import { factsAfter } from "../catalog/session-facts.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import { currentLine } from "../jsonl/entry-body.ts";
import type { LogLine } from "../log/session-log.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import { NONE } from "../tree/entry-tree.ts";
import { newEntryLine, newLineOf } from "./line-codec.ts";
import { entryFactsOf, storableFacts } from "./line-facts.ts";
import { readAllLines, sessionIn } from "./read-lines.ts";
import type { RemoteLines } from "./remote-lines.ts";
import type { Amendment, NewLine, SessionBackend, StoredLine } from "./session-backend.ts";

/** A change of stored entries. */
export interface EntryChange {
  /** Called for each entry; undefined upgrades all to the current version. */
  readonly change: ((entry: AnySessionEntry) => AnySessionEntry) | undefined;
  /** Whether to remove lines that hold neither the header nor an entry, since their content is unknown. */
  readonly dropsRest: boolean;
}

/** How often a change is prepared anew because somebody else changed lines meanwhile. */
const MAX_ATTEMPTS = 5;

/**
 * Changes stored lines of a session and appends others, all in one step.
 *
 * May be called again if the answer was lost: nothing is done twice.
 *
 * @throws {SessionError} The backend's refusal; any other error means that the call may be retried.
 * @remarks Cost: O(bytes of the session).
 */
export async function amendLines(
  backend: SessionBackend,
  id: string,
  change: EntryChange,
  more: readonly LogLine[],
): Promise<void> {
  const withSearchText = backend.supports.search;
  const append = more.map(({ text }) => newEntryLine(text, withSearchText));
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const { lines, revision } = await readAllLines(backend, id);
    const session = sessionIn(lines);
    const plan = planAmendment(lines, session, change, withSearchText);
    const { tree } = session.index;
    const isThere = more.every(({ head }) => tree.find(head.id) !== NONE);
    if (isThere && plan.replace.length + plan.remove.length === 0) return;
    const amendment = { ...plan, expectedRevision: revision, append: isThere ? [] : append };
    if ((await backend.amend?.(id, amendment)) !== undefined) return;
  }
  throw new Error("others changed lines of the session all the time");
}

/** What of an amendment follows from the lines. */
type AmendmentPlan = Pick<Amendment, "replace" | "remove" | "facts">;

/**
 * Computes which lines of a session change, and to what.
 *
 * @param lines - All lines, read into `session`, in order.
 * @remarks Cost: O(bytes).
 */
function planAmendment(
  lines: readonly StoredLine[],
  session: RemoteLines,
  { change, dropsRest }: EntryChange,
  withSearchText: boolean,
): AmendmentPlan {
  const { index } = session;
  const texts = new Map<number, Uint8Array[]>();
  session.readLines(index.spans.inFileOrder(index.tree.ordinals()), (ordinal, bytes) => {
    const { line } = index.spans.at(ordinal);
    const text = currentLine(bytes, index.tree.headAt(ordinal), index, change);
    const parts = texts.get(line) ?? [];
    // Copied, since the bytes may be reused. Records of one line stay on one line.
    parts.push(Buffer.from(text));
    texts.set(line, parts);
  });
  const replace: { seq: number; line: NewLine }[] = [];
  const remove: number[] = [];
  for (const [i, { seq, text, encoding }] of lines.entries()) {
    const parts = texts.get(i + 1);
    const isHeader = index.headerSpan?.line === i + 1;
    if (parts === undefined) {
      if (isHeader && index.needsUpgrade) replace.push({ seq, line: currentHeader(session) });
      else if (!isHeader && dropsRest) remove.push(seq);
      continue;
    }
    // A header that shares its line with entries is kept in front of them.
    const front = isHeader ? [Buffer.from(currentHeader(session).text)] : [];
    const line = newLineOf(Buffer.concat([...front, ...parts]), withSearchText);
    if (line.text !== text.replace(/\r+$/, "") || line.encoding !== encoding) replace.push({ seq, line });
  }
  const removed = new Set(remove);
  const kept = lines.filter(({ seq }) => !removed.has(seq));
  return {
    replace,
    remove,
    facts: factsIn(session, kept, new Map(replace.map(({ seq, line }) => [seq, line]))),
  };
}

function currentHeader({ index }: RemoteLines): NewLine {
  return { text: encodeRecord({ ...index.header }) };
}

/** The facts that a list shows, from the future lines. */
function factsIn(
  { index }: RemoteLines,
  lines: readonly StoredLine[],
  replaced: ReadonlyMap<number, NewLine>,
): Amendment["facts"] {
  if (index.header === undefined) return {};
  const entries = lines.map(({ seq, text }) => ({
    entry: entryFactsOf(replaced.get(seq)?.text ?? text, false),
  }));
  const { name, firstMessage } = factsAfter(storableFacts(index.header), entries);
  return { name, firstMessage };
}
