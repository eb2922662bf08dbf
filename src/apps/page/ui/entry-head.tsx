import { formatCount, formatCounted, joinNonempty } from "../../../core/facts/number-text.ts";
import { formatDuration } from "../../../core/facts/times.ts";
import { formatCost } from "../../../core/facts/usage-tally.ts";
import type { AnySessionEntry } from "../../../core.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import { makeHeading } from "../model/entry-text.ts";
import { formatDateAndTime, formatTime } from "../model/format.ts";
import { type ItemState, STATE_WORDS } from "../model/path-items.ts";
import { getKindAt, getSiblings } from "../model/session-model.ts";
import { getTookMs, type Turn } from "../model/turns.ts";
import { EntryActions } from "./entry-actions.tsx";
import { BackIcon, BesideIcon, ChevronIcon, IconButton, SessionIcon } from "./icons.tsx";
import { usePage } from "./page-context.ts";

interface EntryHeadProps {
  readonly entry: AnySessionEntry;
  readonly ordinal: number;
  readonly state: ItemState;
  readonly isEnd: boolean;
  /** For entries that are one line. */
  readonly excerpt: string;
  /** Returns what is copied of it. */
  readonly getText: () => string;
}

/** What is said of an entry before what it says itself, and what can be done with it. */
export function EntryHead({ entry, ordinal, state, isEnd, excerpt, getText }: EntryHeadProps) {
  const { session, turns, shownLeaf } = usePage();
  const { text, facts, outcome, level } = makeHeading(
    entry,
    getKindAt(session, ordinal),
    session.facts[ordinal]?.used,
  );
  const Heading = level === undefined ? "span" : level === 2 ? "h2" : "h3";
  const label = session.labels.get(ordinal);
  const stateWord = STATE_WORDS[state];
  const took = getTookMs(session, ordinal);
  const turn = turns.get(ordinal);
  const known = [
    facts,
    took === undefined ? "" : formatDuration(took),
    turn === undefined ? "" : formatTurn(turn),
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
      {ordinal === shownLeaf && (
        <span class="chip is-leaf" title="The session continues here">
          now
        </span>
      )}
      <BranchSwitch ordinal={ordinal} />
      <NestedLinks ordinal={ordinal} />
      <EntryId id={entry.id} />
      <span class="entry-end">
        <EntryActions entry={entry} ordinal={ordinal} isEnd={isEnd} getText={getText} />
        <time title={formatDateAndTime(entry.timestamp)}>{formatTime(entry.timestamp)}</time>
      </span>
    </header>
  );
}

/** What came of a message of the user: calls of models, what they cost, and how long all took. */
function formatTurn({ used, milliseconds }: Turn): string {
  const time = milliseconds > 0 ? formatDuration(milliseconds) : "";
  return `turn: ${joinNonempty(" · ", formatCounted(used.calls, "call"), formatCost(used), time)}`;
}

/** Where the conversation goes on in several ways: which one this is, and the way to the others. */
function BranchSwitch({ ordinal }: { ordinal: number }) {
  const { session, go } = usePage();
  const siblings = getSiblings(session, ordinal);
  if (siblings.length < 2) return null;
  const at = siblings.indexOf(ordinal);
  const otherAt = (step: number) => siblings[(at + step + siblings.length) % siblings.length] ?? ordinal;
  const toOther = (step: number) => go({ go: "entry", ordinal: otherAt(step) });
  return (
    <span class="branch-switch">
      <IconButton icon={BackIcon} class="no-print" label="Previous branch" onClick={() => toOther(-1)} />
      <span>
        branch {formatCount(at + 1)} of {formatCount(siblings.length)}
      </span>
      <IconButton icon={ChevronIcon} class="no-print" label="Next branch" onClick={() => toOther(1)} />
      <IconButton
        icon={BesideIcon}
        class="no-print"
        label="Compare two branches"
        hint="Show the next branch next to this one"
        onClick={() => go({ go: "beside", ordinal, sibling: otherAt(1) })}
      />
    </span>
  );
}

/** The sessions that an entry names, such as that of a subagent: links, or how to open them where no server has them. */
export function NestedLinks({ ordinal }: { ordinal: number }) {
  const { session } = usePage();
  return (
    <>
      {(session.linked.get(ordinal) ?? []).map(({ path, href }) =>
        href === undefined ? (
          <span key={path} class="nested-link" title={path}>
            <SessionIcon />
            nested session: <code>sessiontree view {quoteForShell(path)}</code>
          </span>
        ) : (
          <a key={path} class="nested-link" href={href} title={path} target="_blank" rel="noopener">
            <SessionIcon />
            nested session
          </a>
        ),
      )}
    </>
  );
}

/**
 * The id of an entry, as the command line takes it. One click copies it, and selects the whole of it, also where a long one
 * is cut: a browser may not let the page write to the clipboard.
 */
export function EntryId({ id }: { id: string }) {
  const { copy } = usePage();
  return (
    // Keys have the link, which holds the id.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <code
      class="entry-id no-print"
      title={`Entry ${id}: click to copy the id`}
      onClick={() => copy(id, `the id ${id}`)}
    >
      {id}
    </code>
  );
}
