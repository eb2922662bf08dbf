import { fieldsOf, numberOf } from "../../context/entry-fields.ts";
import { textOf } from "../../context/message-parts.ts";
import { type AnySessionEntry, outcomeOf } from "../../core.ts";
import type { JsonRecord } from "../../schema/json.ts";
import { kindOf } from "../../view/entry-kind.ts";
import { usageTexts } from "../../view/usage.ts";
import { dateAndTimeOf, timeOf, tokens } from "../model/format.ts";
import { type ItemState, STATE_WORDS } from "../model/path-items.ts";
import { siblingsOf } from "../model/session-model.ts";
import { EntryActions, EntryId } from "./entry-actions.tsx";
import { BackIcon, ChevronIcon, IconButton } from "./icons.tsx";
import { NestedLinks } from "./nested-links.tsx";
import { usePage } from "./page-context.ts";

interface EntryHeadProps {
  readonly entry: AnySessionEntry;
  readonly ordinal: number;
  readonly state: ItemState;
  readonly isEnd: boolean;
  /** For entries that are one line. */
  readonly excerpt: string;
}

/** What is said of an entry before what it says itself, and what can be done with it. */
export function EntryHead({ entry, ordinal, state, isEnd, excerpt }: EntryHeadProps) {
  const { session } = usePage();
  const { style: tone, word } = kindOf(entry);
  // A failed result says so itself.
  const outcome = word === "assistant" ? outcomeOf(entry) : undefined;
  const Heading = tone === "quiet" ? "span" : word === "user" ? "h2" : "h3";
  const label = session.labels.get(ordinal);
  const stateWord = STATE_WORDS[state];
  return (
    <header class="entry-head">
      <Heading class="entry-kind">{headline(entry)}</Heading>
      {excerpt !== "" && <span class="entry-excerpt">{excerpt}</span>}
      <span class="entry-facts" title={factsOf(entry)}>
        {factsOf(entry)}
      </span>
      {label !== undefined && <span class="chip is-label">{label}</span>}
      {outcome !== undefined && <span class={`chip is-${outcome}`}>{outcome}</span>}
      {stateWord !== "" && <span class={`chip is-${state}`}>{stateWord}</span>}
      {ordinal === session.leaf && <span class="chip is-leaf">leaf</span>}
      <BranchSwitch ordinal={ordinal} />
      <NestedLinks ordinal={ordinal} />
      <EntryId id={entry.id} />
      <span class="entry-end">
        <EntryActions entry={entry} ordinal={ordinal} isEnd={isEnd} />
        <time title={dateAndTimeOf(entry.timestamp)}>{timeOf(entry.timestamp)}</time>
      </span>
    </header>
  );
}

/** Where the conversation goes on in several ways: which one this is, and the way to the others. */
function BranchSwitch({ ordinal }: { ordinal: number }) {
  const { session, go } = usePage();
  const siblings = siblingsOf(session, ordinal);
  if (siblings.length < 2) return null;
  const at = siblings.indexOf(ordinal);
  const toOther = (step: number) => {
    const other = siblings[(at + step + siblings.length) % siblings.length] ?? ordinal;
    go({ go: "entry", ordinal: other });
  };
  return (
    <span class="branch-switch">
      <IconButton icon={BackIcon} class="no-print" label="Previous branch" onClick={() => toOther(-1)} />
      <span>
        branch {at + 1} of {siblings.length}
      </span>
      <IconButton icon={ChevronIcon} class="no-print" label="Next branch" onClick={() => toOther(1)} />
    </span>
  );
}

function headline(entry: AnySessionEntry): string {
  const { word } = kindOf(entry);
  const fields = fieldsOf(entry);
  const message = fieldsOf(fields["message"]);
  if (word === "assistant") return textOf(message["model"]) || "assistant";
  if (word === "custom message") return textOf(fields["customType"]) || textOf(message["customType"]) || word;
  return word === "user" ? "You" : word;
}

function factsOf(entry: AnySessionEntry): string {
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
  return [cost, spent].filter(Boolean).join(" · ");
}

function byHook(fields: JsonRecord): string {
  return fields["fromHook"] === true ? "by an extension" : "";
}
