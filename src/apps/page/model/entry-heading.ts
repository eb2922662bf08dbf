import { fieldsOf, numberOf } from "../../../core/context/entry-fields.ts";
import { textOf } from "../../../core/context/message-parts.ts";
import { costText, type Spent } from "../../../core/facts/spending.ts";
import { usageTexts } from "../../../core/facts/usage.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { type AnySessionEntry, type EntryOutcome, outcomeOf } from "../../../core.ts";
import { type EntryKind, KINDS } from "../../text/entry-kind.ts";
import { tokens } from "./format.ts";

/** What stands above an entry. */
export interface EntryHeading {
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
    return [size, byHook(fields)].filter(Boolean).join(", ");
  }
  if (entry.type === "branch_summary") {
    return [`of the branch at ${textOf(fields["fromId"]) || "an unknown entry"}`, byHook(fields)]
      .filter(Boolean)
      .join(", ");
  }
  const { cost, tokens: spent } = usageTexts(entry);
  const known = used === undefined || used.estimated === null ? cost : costText(used);
  return [known, spent].filter(Boolean).join(" · ");
}

function byHook(fields: JsonRecord): string {
  return fields["fromHook"] === true ? "by an extension" : "";
}
