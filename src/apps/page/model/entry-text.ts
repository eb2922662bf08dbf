import { toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { type ContentPart, formatOutputTitle } from "../../../core/facts/entry-content.ts";
import { getErrorLine, failureLine as lineOf } from "../../../core/facts/failure-text.ts";
import { joinNonempty } from "../../../core/facts/number-text.ts";
import { type EntryOutcome, outcomeOf } from "../../../core/facts/outcome.ts";
import { toShortLine } from "../../../core/facts/plain-text.ts";
import { formatCost, type Spent } from "../../../core/facts/usage-tally.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import type { AnySessionEntry } from "../../../core.ts";
import { type EntryKind, isFailure, KINDS } from "../../text/entry-kind.ts";
import { formatJson } from "../../text/stored-values.ts";
import { formatUsage } from "../../text/usage-text.ts";
import { formatTokens } from "./format.ts";
import { readColors } from "./terminal-colors.ts";

/** Returns what a part of an entry shows as a text. */
export function getPartText(part: ContentPart): string {
  switch (part.kind) {
    case "image":
      return "";
    case "call":
      return `${part.name}\n${formatInput(part.input)}`;
    case "output":
      return `${formatOutputTitle(part)}\n${readColors(part.text).plain}`;
    case "data":
      return `${part.title}\n${formatJson(part.value)}`;
    default:
      return part.text;
  }
}

/** Arguments as the page shows them: texts as they are, the rest as JSON. */
function formatInput(input: unknown): string {
  if (typeof input !== "object" || input === null) return toText(input);
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : formatJson(value)}`)
    .join("\n");
}

/** Returns what a reader takes along of an entry: what was said; of one without words, all it shows; of an output, its text alone. */
export function getTextToCopy(parts: readonly ContentPart[]): string {
  const said = parts.filter(({ kind }) => kind === "text");
  const chosen = said.length > 0 ? said : parts;
  const texts = chosen.map((part) =>
    part.kind === "output" ? readColors(part.text).plain : getPartText(part),
  );
  return joinNonempty("\n\n", ...texts);
}

/**
 * Returns the line that says most about a failure; see `failureLine` of core.
 *
 * @returns Empty for an entry that did not fail.
 * @remarks Cost: O(characters) the first time, O(1) afterwards.
 */
export const failureLine = rememberReads((message) => toShortLine(lineOf(message)));

/** Returns the line of an output that names the error, as it stands there without its colors; empty as `failureLine`. */
export const findErrorLine = rememberReads(getErrorLine);

/** Makes a function that remembers what another one says of failures. */
function rememberReads(read: (message: unknown) => string): (entry: AnySessionEntry | undefined) => string {
  const known = new WeakMap<AnySessionEntry, string>();
  return (entry) => {
    if (entry === undefined || !isFailure(entry)) return "";
    const line = known.get(entry) ?? read(toRecord(entry)["message"]);
    known.set(entry, line);
    return line;
  };
}

/** What stands above an entry. */
interface EntryHeading {
  readonly text: string;
  /** What else is known of it: tokens and cost, or where a summary comes from. */
  readonly facts: string;
  /** How an answer of the model ended, if it did not end well; a failed result says so itself. */
  readonly outcome: EntryOutcome | undefined;
  /** 2 for what begins a turn, 3 for what belongs to one; undefined for lines that only note something. */
  readonly level: 2 | 3 | undefined;
}

/**
 * Decides what stands above an entry.
 *
 * @param used - What it used, which may have been estimated.
 */
export function makeHeading(entry: AnySessionEntry, kind: EntryKind, used?: Readonly<Spent>): EntryHeading {
  return {
    text: formatHeadingText(entry, kind),
    facts: formatFacts(entry, used),
    outcome: kind === KINDS.assistant ? outcomeOf(entry) : undefined,
    level: getHeadingLevel(kind),
  };
}

/** Returns the level of the heading of an entry: 2 for what begins a turn, 3 for what belongs to one; undefined for a line. */
export function getHeadingLevel(kind: EntryKind): EntryHeading["level"] {
  if (kind.tone === "quiet") return undefined;
  return kind === KINDS.user ? 2 : 3;
}

function formatHeadingText(entry: AnySessionEntry, kind: EntryKind): string {
  const fields = toRecord(entry);
  const message = toRecord(fields["message"]);
  if (kind === KINDS.user) return "You";
  if (kind === KINDS.assistant) return toText(message["model"]) || kind.word;
  if (kind !== KINDS.customMessage) return kind.word;
  return toText(fields["customType"]) || toText(message["customType"]) || kind.word;
}

function formatFacts(entry: AnySessionEntry, used: Readonly<Spent> | undefined): string {
  const fields = toRecord(entry);
  if (entry.type === "compaction") {
    const before = toNumber(fields["tokensBefore"]);
    const size = before > 0 ? `the context had ${formatTokens(before)} tokens before` : "";
    return joinNonempty(", ", size, byHook(fields));
  }
  if (entry.type === "branch_summary") {
    const from = toText(fields["fromId"]) || "an unknown entry";
    return joinNonempty(", ", `of the branch at ${from}`, byHook(fields));
  }
  const { cost, tokens: spent } = formatUsage(entry);
  const known = used === undefined || used.estimated === null ? cost : formatCost(used);
  return joinNonempty(" · ", known, spent);
}

function byHook(fields: JsonRecord): string {
  return fields["fromHook"] === true ? "by an extension" : "";
}
