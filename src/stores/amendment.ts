import { encodeRecord } from "../jsonl/encode.ts";
import { currentLine } from "../jsonl/entry-body.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import { bodyContextOf } from "../store/canonical-copy.ts";
import { newLineOf } from "./line-codec.ts";
import { entryFactsOf } from "./line-facts.ts";
import type { RemoteLines } from "./remote-lines.ts";
import type { Amendment, NewLine, StoredLine } from "./session-backend.ts";

/** A change of entries that are there. */
export interface EntryChange {
  /** Called for each entry; undefined brings all to the current version. */
  readonly change: ((entry: AnySessionEntry) => AnySessionEntry) | undefined;
  /** Whether lines that hold neither the header nor an entry go, since nobody can tell what is in them. */
  readonly dropsRest: boolean;
}

/** What of an amendment follows from the lines. */
export type AmendmentPlan = Pick<Amendment, "replace" | "remove" | "facts">;

/**
 * Works out which lines of a session become others.
 *
 * @param lines - All lines, read into `session`, in order.
 * @remarks Cost: O(bytes).
 */
export function planAmendment(
  lines: readonly StoredLine[],
  session: RemoteLines,
  { change, dropsRest }: EntryChange,
  withSearchText: boolean,
): AmendmentPlan {
  const { index } = session;
  const context = bodyContextOf(index);
  const texts = new Map<number, Uint8Array[]>();
  session.readLines(index.places.inFileOrder(index.tree.ordinals()), (ordinal, bytes) => {
    const { line } = index.places.at(ordinal);
    const text = currentLine(bytes, index.tree.headAt(ordinal), context, change);
    const parts = texts.get(line) ?? [];
    // Copied, since the bytes may be used again. Records that were glued on one line stay on one.
    parts.push(Buffer.from(text));
    texts.set(line, parts);
  });
  const replace: { seq: number; line: NewLine }[] = [];
  const remove: number[] = [];
  for (const [i, { seq, text, encoding }] of lines.entries()) {
    const parts = texts.get(i + 1);
    const isHeader = index.headerPlace?.line === i + 1;
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
  return { replace, remove, facts: factsIn(lines, new Map(replace.map(({ seq, line }) => [seq, line]))) };
}

function currentHeader({ index }: RemoteLines): NewLine {
  return { text: encodeRecord({ ...index.header }) };
}

/** The facts that a list shows, from the lines as they will be. */
function factsIn(lines: readonly StoredLine[], replaced: ReadonlyMap<number, NewLine>): Amendment["facts"] {
  let name: string | null = null;
  let firstMessage: string | null = null;
  for (const { seq, text } of lines) {
    const entry = entryFactsOf(replaced.get(seq)?.text ?? text, false);
    if (entry?.sessionName !== undefined) name = entry.sessionName;
    firstMessage ??= entry?.userText ?? null;
  }
  return { name, firstMessage };
}
