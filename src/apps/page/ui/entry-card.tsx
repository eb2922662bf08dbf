import { Component, type ComponentChild, type FunctionComponent, h } from "preact";
import type { ContentPart } from "../../../core/facts/entry-content.ts";
import { getExcerpt } from "../../../core/facts/excerpt.ts";
import { formatCounted, joinNonempty } from "../../../core/facts/number-text.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import type { AnySessionEntry } from "../../../core.ts";
import { isFailure, KINDS } from "../../text/entry-kind.ts";
import { type EntryRow, getItemParts } from "../model/conversation-rows.ts";
import { getTextToCopy } from "../model/entry-text.ts";
import { STATE_HINTS } from "../model/path-items.ts";
import { getKindAt } from "../model/session-model.ts";
import { EntryHead } from "./entry-head.tsx";
import { BODY, Fold } from "./fold.tsx";
import { usePage } from "./page-context.ts";
import { PartView } from "./part-view.tsx";

interface EntryCardProps {
  readonly row: EntryRow;
  /** The focused entry of this row, which may be one of its results; NONE if the focus is elsewhere. */
  readonly focus: number;
  /** The entry of this row that ends the path; NONE if the path ends elsewhere. */
  readonly end: number;
}

/** Conversation entry with the results of its calls. */
export const EntryCard = memo(function EntryCard({ row, focus, end }: EntryCardProps) {
  const mark = useMark();
  const { session } = usePage();
  const { item, ordinal } = row;
  const { entry, state } = item;
  const kind = getKindAt(session, ordinal);
  const parts = getItemParts(item);
  const isSmall = kind.tone === "quiet" && kind !== KINDS.system;
  // A failed result is red on its own.
  const isFailed = kind === KINDS.assistant && isFailure(entry);
  const classes = [
    "entry",
    `tone-${kind.tone}`,
    `state-${state}`,
    isSmall ? "is-small" : "",
    isCallsOnly(parts) ? "is-calls-only" : "",
    isFailed ? "is-failed" : "",
    focus === ordinal ? "is-focused" : "",
  ];
  return (
    // Keyboard focus on its content also marks the entry.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <article
      class={joinNonempty(" ", ...classes)}
      id={`entry-${ordinal}`}
      data-entry={entry.id}
      title={STATE_HINTS[state]}
      onClick={mark}
      onFocusIn={mark}
    >
      <EntryHead
        entry={entry}
        ordinal={ordinal}
        state={state}
        isEnd={end === ordinal}
        excerpt={isSmall ? getExcerpt(entry).text : ""}
        getText={() => getTextToCopy(parts) || getExcerpt(entry).text}
      />
      {parts.length > 0 && (
        <div class="entry-body">
          {kind === KINDS.system ? (
            <SystemBody row={row} parts={parts} />
          ) : parts.some(hasFold) ? (
            <Parts row={row} parts={parts} focus={focus} end={end} />
          ) : (
            <Fold ordinal={ordinal} name={BODY} summary={<Excerpt entry={entry} />}>
              {() => <Parts row={row} parts={parts} focus={focus} end={end} />}
            </Fold>
          )}
        </div>
      )}
    </article>
  );
});

/** Returns the handler that marks the entry that the reader clicks or focuses with the keyboard, so that keys act on it. */
function useMark(): (event: Event) => void {
  const { session, go } = usePage();
  return ({ target }) => {
    const within = target instanceof Element ? target.closest("[data-entry]") : null;
    const ordinal = session.tree.find(within?.getAttribute("data-entry") ?? "");
    // These controls navigate on their own.
    const isLeading = target instanceof Element && target.closest(".entry-actions, .branch-switch") !== null;
    if (ordinal !== NONE && !isLeading) go({ go: "mark", ordinal });
  };
}

function isCallsOnly(parts: readonly ContentPart[]): boolean {
  return parts.length > 0 && parts.every(({ kind }) => kind === "call" || kind === "thinking");
}

function Parts({ row, parts, focus, end }: EntryCardProps & { parts: readonly ContentPart[] }) {
  return (
    <>
      {parts.map((part, index) => (
        <PartView key={index} row={row} name={String(index)} part={part} focus={focus} end={end} />
      ))}
    </>
  );
}

function hasFold({ kind }: ContentPart): boolean {
  return kind === "call" || kind === "output" || kind === "thinking" || kind === "data";
}

function Excerpt({ entry }: { entry: AnySessionEntry }) {
  return <span class="fold-excerpt">{getExcerpt(entry).text}</span>;
}

/** Instructions to the model, folded because they are usually long and rarely of interest to a reader. */
function SystemBody({ row, parts }: { row: EntryRow; parts: readonly ContentPart[] }) {
  const size = parts.reduce((sum, part) => sum + ("text" in part ? part.text.length : 0), 0);
  const summary = (
    <>
      <span class="fold-title">Instructions</span>
      <Excerpt entry={row.item.entry} />
      <span class="fold-size">{formatCounted(size, "character", "characters")}</span>
    </>
  );
  return (
    <Fold ordinal={row.ordinal} name="system" summary={summary}>
      {() => <Parts row={row} parts={parts} focus={row.ordinal} end={row.ordinal} />}
    </Fold>
  );
}

/** Creates a component that re-renders only if one of its properties changes. */
function memo<P extends object>(part: FunctionComponent<P>): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return !areEqual(this.props, next);
    }

    override render(): ComponentChild {
      return h(part, this.props);
    }
  }
  return (props) => h(Memo, props);
}

function areEqual(before: object, after: object): boolean {
  const [old, entries] = [new Map(Object.entries(before)), Object.entries(after)];
  return old.size === entries.length && entries.every(([name, value]) => old.get(name) === value);
}
