import type { ConversationRow } from "./conversation-rows.ts";
import type { EntryFacts } from "./entry-facts.ts";
import { findKnownKind, type SessionModel } from "./session-model.ts";

/** Heights in pixels of a row, of its parts, and of a line of text. */
const SMALL = 34;
const COMPACTED = 56;
const CARD = 52;
const FOLD = 36;
const RESULT = 33;
const LINE = 24;

/** Bytes of an entry besides its text: its head, and the usage of an answer. */
const HEAD_BYTES = 220;
const USAGE_BYTES = 330;

/** Average bytes per line of text; many lines are not full. */
const BYTES_PER_LINE = 75;

/**
 * Maximum number of lines: longer content is an image, hidden data, or taller than any screen, so a better estimate is not
 * needed.
 */
const MAX_LINES = 150;

/** Estimates the height of a row, in pixels, from the bytes and facts of its entry; parses no body. */
export function estimateHeight(session: SessionModel, row: ConversationRow): number {
  if (row.kind !== "entry") return COMPACTED;
  const { ordinal, results } = row;
  const tone = findKnownKind(session, ordinal)?.tone;
  if (tone === "quiet") return SMALL;
  const facts = session.facts[ordinal];
  const folds = (facts?.calls.length ?? 0) * FOLD + results.length * RESULT;
  if (folds > 0) return CARD + folds;
  // Results and commands are folded.
  if (tone === "tool" || tone === "command") return CARD + FOLD;
  return CARD + LINE * estimateLines(session.lines.lengthAt(ordinal), facts);
}

function estimateLines(bytes: number, facts: EntryFacts | undefined): number {
  const text = bytes - HEAD_BYTES - (facts?.used === undefined ? 0 : USAGE_BYTES);
  return Math.min(MAX_LINES, Math.max(1, Math.ceil(text / BYTES_PER_LINE)));
}
