import { fieldsOf, numberOf } from "../../../core/context/entry-fields.ts";
import { textOf } from "../../../core/context/message-parts.ts";
import { type ContentPart, outputTitle } from "../../../core/facts/entry-content.ts";
import { errorLine, failureLine as lineOf } from "../../../core/facts/failure-text.ts";
import { joined } from "../../../core/facts/number-text.ts";
import { type EntryOutcome, outcomeOf } from "../../../core/facts/outcome.ts";
import { beginningOf } from "../../../core/facts/plain-text.ts";
import { costText, type Spent } from "../../../core/facts/usage-tally.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import type { AnySessionEntry } from "../../../core.ts";
import { type EntryKind, isFailure, KINDS } from "../../text/entry-kind.ts";
import { prettyJson } from "../../text/stored-values.ts";
import { usageTexts } from "../../text/usage-text.ts";
import { tokens } from "./format.ts";
import { readColors } from "./terminal-colors.ts";

/** Returns what a part of an entry shows as a text. */
export function textOfPart(part: ContentPart): string {
  switch (part.kind) {
    case "image":
      return "";
    case "call":
      return `${part.name}\n${inputText(part.input)}`;
    case "output":
      return `${outputTitle(part)}\n${readColors(part.text).plain}`;
    case "data":
      return `${part.title}\n${prettyJson(part.value)}`;
    default:
      return part.text;
  }
}

/** Arguments as the page shows them: texts as they are, the rest as JSON. */
function inputText(input: unknown): string {
  if (typeof input !== "object" || input === null) return textOf(input);
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : prettyJson(value)}`)
    .join("\n");
}

/** Returns what a reader takes along of an entry: what was said; of one without words, all it shows; of an output, its text alone. */
export function textToCopy(parts: readonly ContentPart[]): string {
  const said = parts.filter(({ kind }) => kind === "text");
  const chosen = said.length > 0 ? said : parts;
  const texts = chosen.map((part) =>
    part.kind === "output" ? readColors(part.text).plain : textOfPart(part),
  );
  return joined("\n\n", ...texts);
}

/**
 * Returns the line that says most about a failure; see `failureLine` of core.
 *
 * @returns Empty for an entry that did not fail.
 * @remarks Cost: O(characters) the first time, O(1) afterwards.
 */
export const failureLine = remembered((message) => beginningOf(lineOf(message)));

/** Returns the line of an output that names the error, as it stands there without its colors; empty as `failureLine`. */
export const errorLineOf = remembered(errorLine);

/** Makes a function that remembers what another one says of failures. */
function remembered(read: (message: unknown) => string): (entry: AnySessionEntry | undefined) => string {
  const known = new WeakMap<AnySessionEntry, string>();
  return (entry) => {
    if (entry === undefined || !isFailure(entry)) return "";
    const line = known.get(entry) ?? read(fieldsOf(entry)["message"]);
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
export function headingOf(entry: AnySessionEntry, kind: EntryKind, used?: Readonly<Spent>): EntryHeading {
  return {
    text: textOfHeading(entry, kind),
    facts: factsOf(entry, used),
    outcome: kind === KINDS.assistant ? outcomeOf(entry) : undefined,
    level: kind.tone === "quiet" ? undefined : kind === KINDS.user ? 2 : 3,
  };
}

function textOfHeading(entry: AnySessionEntry, kind: EntryKind): string {
  const fields = fieldsOf(entry);
  const message = fieldsOf(fields["message"]);
  if (kind === KINDS.user) return "You";
  if (kind === KINDS.assistant) return textOf(message["model"]) || kind.word;
  if (kind !== KINDS.customMessage) return kind.word;
  return textOf(fields["customType"]) || textOf(message["customType"]) || kind.word;
}

function factsOf(entry: AnySessionEntry, used: Readonly<Spent> | undefined): string {
  const fields = fieldsOf(entry);
  if (entry.type === "compaction") {
    const before = numberOf(fields["tokensBefore"]);
    const size = before > 0 ? `the context had ${tokens(before)} tokens before` : "";
    return joined(", ", size, byHook(fields));
  }
  if (entry.type === "branch_summary") {
    const from = textOf(fields["fromId"]) || "an unknown entry";
    return joined(", ", `of the branch at ${from}`, byHook(fields));
  }
  const { cost, tokens: spent } = usageTexts(entry);
  const known = used === undefined || used.estimated === null ? cost : costText(used);
  return joined(" · ", known, spent);
}

function byHook(fields: JsonRecord): string {
  return fields["fromHook"] === true ? "by an extension" : "";
}
