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
  /** Excerpt for entries of one line. */
  readonly excerpt: string;
  /** Returns the text to copy. */
  readonly getText: () => string;
}

/** Head of an entry: heading, facts, and actions. */
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

/** Formats the usage of a turn: model calls, their cost, and the total time. */
function formatTurn({ used, milliseconds }: Turn): string {
  const time = milliseconds > 0 ? formatDuration(milliseconds) : "";
  return `turn: ${joinNonempty(" · ", formatCounted(used.calls, "call"), formatCost(used), time)}`;
}

/** Switch at a fork of the conversation: the number of this branch, and buttons for the other branches. */
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

/**
 * Sessions that an entry refers to, such as a subagent's session: links or, if no server has them, the command that opens them.
 */
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
 * Id of an entry, as the command line accepts it. A click copies the id and selects all of it, even if it is truncated, because a
 * browser may not let the page write to the clipboard.
 */
export function EntryId({ id }: { id: string }) {
  const { copy } = usePage();
  return (
    // Keyboard users have the link, which contains the id.
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
