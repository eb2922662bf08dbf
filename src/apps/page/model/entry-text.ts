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

/** Returns the text of part of an entry as the page shows it. */
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

/** Returns arguments as the page shows them: strings unchanged, other values as JSON. */
function formatInput(input: unknown): string {
  if (typeof input !== "object" || input === null) return toText(input);
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : formatJson(value)}`)
    .join("\n");
}

/**
 * Returns the text to copy from an entry: its messages or, if it has no messages, everything that it shows; for tool or command
 * output, only its text.
 */
export function getTextToCopy(parts: readonly ContentPart[]): string {
  const said = parts.filter(({ kind }) => kind === "text");
  const chosen = said.length > 0 ? said : parts;
  const texts = chosen.map((part) =>
    part.kind === "output" ? readColors(part.text).plain : getPartText(part),
  );
  return joinNonempty("\n\n", ...texts);
}

/**
 * Returns the most informative line of a failure; see `failureLine` of core.
 *
 * @returns Empty for an entry that did not fail.
 * @remarks Cost: O(characters) the first time, then O(1).
 */
export const failureLine = rememberReads((message) => toShortLine(lineOf(message)));

/**
 * Returns the line of output that states the error, without colors but otherwise unchanged; empty in the same cases as
 * `failureLine`.
 */
export const findErrorLine = rememberReads(getErrorLine);

/** Creates a function that caches the lines that another function reads from failures. */
function rememberReads(read: (message: unknown) => string): (entry: AnySessionEntry | undefined) => string {
  const known = new WeakMap<AnySessionEntry, string>();
  return (entry) => {
    if (entry === undefined || !isFailure(entry)) return "";
    const line = known.get(entry) ?? read(toRecord(entry)["message"]);
    known.set(entry, line);
    return line;
  };
}

/** Heading of an entry. */
interface EntryHeading {
  readonly text: string;
  /** Additional facts: tokens and cost, or the source of a summary. */
  readonly facts: string;
  /** Outcome of a model's answer that failed or was aborted; a failed result shows its own outcome. */
  readonly outcome: EntryOutcome | undefined;
  /** 2 for the start of a turn, 3 for an entry inside one; undefined for mere notes. */
  readonly level: 2 | 3 | undefined;
}

/**
 * Creates the heading of an entry.
 *
 * @param used - Usage of the entry, possibly estimated.
 */
export function makeHeading(entry: AnySessionEntry, kind: EntryKind, used?: Readonly<Spent>): EntryHeading {
  return {
    text: formatHeadingText(entry, kind),
    facts: formatFacts(entry, used),
    outcome: kind === KINDS.assistant ? outcomeOf(entry) : undefined,
    level: getHeadingLevel(kind),
  };
}

/**
 * Returns the heading level of an entry: 2 for the start of a turn, 3 for an entry within a turn; undefined for an entry shown on
 * one line.
 */
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
