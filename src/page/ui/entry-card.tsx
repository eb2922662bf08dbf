import type { AnySessionEntry } from "../../core.ts";
import { NONE } from "../../tree/entry-tree.ts";
import { isFailure, kindOf } from "../../view/entry-kind.ts";
import { excerptOf } from "../../view/excerpt.ts";
import { counted } from "../../view/words.ts";
import type { Block } from "../model/blocks.ts";
import type { EntryRow } from "../model/conversation-rows.ts";
import { BlockView } from "./block-view.tsx";
import { EntryHead } from "./entry-head.tsx";
import { Fold } from "./fold.tsx";
import { blocksOfItem } from "./item-blocks.ts";
import { memo } from "./memo.ts";
import { STATE_HINTS } from "./state-words.ts";
import { usePage } from "./use-page.ts";

interface EntryCardProps {
  readonly row: EntryRow;
  /** The entry of this row that is looked at, itself or one of its results; NONE for none. */
  readonly focus: number;
  /** The entry of this row that is the last of the path; NONE for none. */
  readonly end: number;
}

/** An entry of the conversation, with the results of its calls. */
export const EntryCard = memo(function EntryCard({ row, focus, end }: EntryCardProps) {
  const mark = useMark();
  const { item, ordinal } = row;
  const { entry, state } = item;
  const { style: tone, word } = kindOf(entry);
  const blocks = blocksOfItem(item);
  const isSmall = tone === "quiet" && word !== "system";
  // A failed result is red itself.
  const isFailed = word === "assistant" && isFailure(entry);
  const classes = [
    "entry",
    `tone-${tone}`,
    `state-${state}`,
    isSmall ? "is-small" : "",
    isCallsOnly(blocks) ? "is-calls-only" : "",
    isFailed ? "is-failed" : "",
    focus === ordinal ? "is-focused" : "",
  ];
  return (
    // Keys reach what is in it, which marks it, too.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <article
      class={classes.filter(Boolean).join(" ")}
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
        excerpt={isSmall ? excerptOf(entry).text : ""}
      />
      {blocks.length > 0 && (
        <div class="entry-body">
          {word === "system" ? (
            <SystemBody entry={entry} row={row} blocks={blocks} />
          ) : (
            <Blocks row={row} blocks={blocks} focus={focus} end={end} />
          )}
        </div>
      )}
    </article>
  );
});

/** Returns what marks the entry that somebody clicks at or goes into by keyboard, so that keys are about that one. */
function useMark(): (event: Event) => void {
  const { session, go } = usePage();
  return ({ target }) => {
    const within = target instanceof Element ? target.closest("[data-entry]") : null;
    const ordinal = session.tree.find(within?.getAttribute("data-entry") ?? "");
    // These go somewhere themselves.
    const isLeading = target instanceof Element && target.closest(".entry-actions, .branch-switch") !== null;
    if (ordinal !== NONE && !isLeading) go({ go: "mark", ordinal });
  };
}

function isCallsOnly(blocks: readonly Block[]): boolean {
  return blocks.length > 0 && blocks.every(({ kind }) => kind === "call" || kind === "thinking");
}

function Blocks({ row, blocks, focus, end }: EntryCardProps & { blocks: readonly Block[] }) {
  return (
    <>
      {blocks.map((block, index) => (
        <BlockView key={index} row={row} name={String(index)} block={block} focus={focus} end={end} />
      ))}
    </>
  );
}

/** Instructions to the model are long as a rule, and seldom what one came to read. */
function SystemBody({
  entry,
  row,
  blocks,
}: {
  entry: AnySessionEntry;
  row: EntryRow;
  blocks: readonly Block[];
}) {
  const size = blocks.reduce((sum, block) => sum + ("text" in block ? block.text.length : 0), 0);
  const summary = (
    <>
      <span class="fold-title">Instructions</span>
      <span class="fold-excerpt">{excerptOf(entry).text}</span>
      <span class="fold-size">{counted(size, "character", "characters")}</span>
    </>
  );
  return (
    <Fold ordinal={row.ordinal} name="system" summary={summary}>
      {() => <Blocks row={row} blocks={blocks} focus={row.ordinal} end={row.ordinal} />}
    </Fold>
  );
}
