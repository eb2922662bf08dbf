import { count, counted } from "../../../core/facts/number-text.ts";
import { costText } from "../../../core/facts/spending.ts";
import { duration } from "../../../core/facts/times.ts";
import type { AnySessionEntry } from "../../../core.ts";
import { headingOf } from "../model/entry-heading.ts";
import { dateAndTimeOf, timeOf } from "../model/format.ts";
import { type ItemState, STATE_WORDS } from "../model/path-items.ts";
import { kindAt, siblingsOf } from "../model/session-model.ts";
import { type Turn, tookMs } from "../model/turns.ts";
import { EntryActions, EntryId } from "./entry-actions.tsx";
import { BackIcon, BesideIcon, ChevronIcon, IconButton } from "./icons.tsx";
import { NestedLinks } from "./nested-links.tsx";
import { usePage } from "./page-context.ts";

interface EntryHeadProps {
  readonly entry: AnySessionEntry;
  readonly ordinal: number;
  readonly state: ItemState;
  readonly isEnd: boolean;
  /** For entries that are one line. */
  readonly excerpt: string;
  /** Returns what is copied of it. */
  readonly textOf: () => string;
}

/** What is said of an entry before what it says itself, and what can be done with it. */
export function EntryHead({ entry, ordinal, state, isEnd, excerpt, textOf }: EntryHeadProps) {
  const { session, turns } = usePage();
  const { text, facts, outcome, level } = headingOf(
    entry,
    kindAt(session, ordinal),
    session.facts[ordinal]?.used,
  );
  const Heading = level === undefined ? "span" : level === 2 ? "h2" : "h3";
  const label = session.labels.get(ordinal);
  const stateWord = STATE_WORDS[state];
  const took = tookMs(session, ordinal);
  const turn = turns.get(ordinal);
  const known = [
    facts,
    took === undefined ? "" : duration(took),
    turn === undefined ? "" : turnText(turn),
  ].filter(Boolean);
  return (
    <header class="entry-head">
      <Heading class="entry-kind">{text}</Heading>
      {excerpt !== "" && <span class="entry-excerpt">{excerpt}</span>}
      <span class="entry-facts" title={known.join(" · ")}>
        {known.join(" · ")}
      </span>
      {label !== undefined && <span class="chip is-label">{label}</span>}
      {outcome !== undefined && <span class={`chip is-${outcome}`}>{outcome}</span>}
      {stateWord !== "" && <span class={`chip is-${state}`}>{stateWord}</span>}
      {ordinal === session.leaf && <span class="chip is-leaf">leaf</span>}
      <BranchSwitch ordinal={ordinal} />
      <NestedLinks ordinal={ordinal} />
      <EntryId id={entry.id} />
      <span class="entry-end">
        <EntryActions entry={entry} ordinal={ordinal} isEnd={isEnd} textOf={textOf} />
        <time title={dateAndTimeOf(entry.timestamp)}>{timeOf(entry.timestamp)}</time>
      </span>
    </header>
  );
}

/** What came of a message of the user: calls of models, what they cost, and how long all took. */
function turnText({ used, milliseconds }: Turn): string {
  const time = milliseconds > 0 ? duration(milliseconds) : "";
  return ["turn:", [counted(used.calls, "call"), costText(used), time].filter(Boolean).join(" · ")].join(" ");
}

/** Where the conversation goes on in several ways: which one this is, and the way to the others. */
function BranchSwitch({ ordinal }: { ordinal: number }) {
  const { session, go } = usePage();
  const siblings = siblingsOf(session, ordinal);
  if (siblings.length < 2) return null;
  const at = siblings.indexOf(ordinal);
  const otherAt = (step: number) => siblings[(at + step + siblings.length) % siblings.length] ?? ordinal;
  const toOther = (step: number) => go({ go: "entry", ordinal: otherAt(step) });
  return (
    <span class="branch-switch">
      <IconButton icon={BackIcon} class="no-print" label="Previous branch" onClick={() => toOther(-1)} />
      <span>
        branch {count(at + 1)} of {count(siblings.length)}
      </span>
      <IconButton icon={ChevronIcon} class="no-print" label="Next branch" onClick={() => toOther(1)} />
      <IconButton
        icon={BesideIcon}
        class="no-print"
        label="Compare two branches"
        hint="Show the next branch beside this one"
        onClick={() => go({ go: "beside", ordinal, sibling: otherAt(1) })}
      />
    </span>
  );
}
