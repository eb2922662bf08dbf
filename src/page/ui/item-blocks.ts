import type { AnySessionEntry, Message } from "../../core.ts";
import { kindOf, kindOfMessage } from "../../view/entry-kind.ts";
import { type Block, blocksOfEntry, blocksOfMessage } from "../model/blocks.ts";
import type { ConversationItem } from "../model/conversation-rows.ts";

const made = new WeakMap<object, readonly Block[]>();

/** Returns what an entry of the conversation shows: as it is stored, or as the model gets it; the same list each time. */
export function blocksOfItem(item: ConversationItem): readonly Block[] {
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
  const isPlain = kindOf(entry) === kindOfMessage(message);
  const note: Block = { kind: "line", text: `sent as a ${message.role} message:` };
  return isPlain ? blocksOfMessage(message) : [note, ...blocksOfMessage(message)];
}
