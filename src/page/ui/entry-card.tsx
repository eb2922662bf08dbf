import type { AnySessionEntry, Message } from "../../core.ts";
import { type Block, blocksOfEntry, blocksOfMessage } from "../model/blocks.ts";
import { kindOf } from "../model/entry-kind.ts";
import { excerptOf } from "../model/excerpt.ts";
import { counted } from "../model/format.ts";
import type { ModelItem, PathItem } from "../model/path-items.ts";
import { BlockView } from "./block-view.tsx";
import { EntryHead } from "./entry-head.tsx";
import { Fold } from "./fold.tsx";
import { memo } from "./memo.ts";

/** An entry in the conversation: as it is stored, or as the model gets it. */
interface EntryCardProps {
  readonly item: PathItem | ModelItem;
  readonly isFocused: boolean;
  /** Whether this is the last entry of the path. */
  readonly isEnd: boolean;
}

const made = new WeakMap<object, readonly Block[]>();

/** An entry of the conversation. */
export const EntryCard = memo(function EntryCard({ item, isFocused, isEnd }: EntryCardProps) {
  const { entry, ordinal, state } = item;
  const { tone, word } = kindOf(entry);
  const blocks = blocksOfItem(item);
  const isSmall = tone === "quiet" && word !== "system";
  const isToolWork = tone === "tool" || tone === "command" || isCallsOnly(blocks);
  const title = state === "left-out" ? "Left out by compaction: the model does not see this" : undefined;
  const classes = [
    "entry",
    `tone-${tone}`,
    `state-${state}`,
    isSmall ? "is-small" : "",
    isToolWork ? "is-tool-work" : "",
    isFocused ? "is-focused" : "",
  ];
  return (
    <article
      class={classes.filter(Boolean).join(" ")}
      id={`entry-${ordinal}`}
      data-entry={entry.id}
      title={title}
    >
      <EntryHead
        entry={entry}
        ordinal={ordinal}
        state={state}
        isEnd={isEnd}
        excerpt={isSmall ? excerptOf(entry) : ""}
      />
      {blocks.length > 0 && (
        <div class="entry-body">
          {word === "system" ? (
            <SystemBody entry={entry} ordinal={ordinal} blocks={blocks} />
          ) : (
            <Blocks ordinal={ordinal} blocks={blocks} />
          )}
        </div>
      )}
    </article>
  );
});

function blocksOfItem(item: PathItem | ModelItem): readonly Block[] {
  const source = "messages" in item ? item.messages : item.entry;
  const known = made.get(source);
  if (known !== undefined) return known;
  const blocks =
    "messages" in item
      ? item.messages.flatMap((message) => sentBlocks(item.entry, message))
      : blocksOfEntry(item.entry);
  made.set(source, blocks);
  return blocks;
}

/** What the model gets of an entry; how it is sent is said where that is not plain from the entry. */
function sentBlocks(entry: AnySessionEntry, message: Message): Block[] {
  const isPlain = kindOf(entry).word === ROLE_WORDS[message.role];
  const note: Block = { kind: "line", text: `sent as a ${message.role} message:` };
  return isPlain ? blocksOfMessage(message) : [note, ...blocksOfMessage(message)];
}

const ROLE_WORDS: { readonly [role in Message["role"]]: string } = {
  system: "system",
  user: "user",
  assistant: "assistant",
  toolResult: "tool result",
};

function isCallsOnly(blocks: readonly Block[]): boolean {
  return blocks.length > 0 && blocks.every(({ kind }) => kind === "call" || kind === "thinking");
}

function Blocks({ ordinal, blocks }: { ordinal: number; blocks: readonly Block[] }) {
  return (
    <>
      {blocks.map((block, index) => (
        <BlockView key={index} ordinal={ordinal} name={String(index)} block={block} />
      ))}
    </>
  );
}

/** Instructions to the model are long as a rule, and seldom what one came to read. */
function SystemBody({
  entry,
  ordinal,
  blocks,
}: {
  entry: AnySessionEntry;
  ordinal: number;
  blocks: readonly Block[];
}) {
  const size = blocks.reduce((sum, block) => sum + ("text" in block ? block.text.length : 0), 0);
  const summary = (
    <>
      <span class="fold-title">Instructions</span>
      <span class="fold-excerpt">{excerptOf(entry)}</span>
      <span class="fold-size">{counted(size, "character", "characters")}</span>
    </>
  );
  return (
    <Fold ordinal={ordinal} name="system" summary={summary}>
      {() => <Blocks ordinal={ordinal} blocks={blocks} />}
    </Fold>
  );
}
