import { toArray, toNumber, toRecord } from "../../core/context/entry-fields.ts";
import type { SessionProjection } from "../../core/context/session-context.ts";
import { foldSystemMessages, INSTRUCTIONS_SECTION } from "../../core/context/system-message.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { AgentMessage } from "../../core/format/message.ts";
import type { EntryFields, FieldsMaker } from "./entry-draft.ts";

/**
 * Returns the entries that replace the instructions of a context; empty if they are already in effect.
 *
 * Instructions are stored as a section of a system message, so that later instructions replace them. Instructions in the content
 * of a message are removed from the context: a context edit removes the message, and a compaction that replays them is repeated
 * without them. Sections and tools are kept.
 *
 * @param pathIds - Ids of the entries root → leaf.
 * @throws {SessionError} `ENTRY_INVALID` if the context begins with a compaction by another program that retains messages.
 */
export function makeInstructionDrafts(
  { entries, messages }: Pick<SessionProjection, "entries" | "messages">,
  pathIds: readonly string[],
  text: string,
): (EntryFields | FieldsMaker)[] {
  if (typeof text !== "string")
    throw new TypeError("Instructions must be a string; pass an empty string for none.");
  const { content, sections = {}, toolsAdded } = foldSystemMessages(messages, 0) ?? { content: "" };
  const inForce = sections[INSTRUCTIONS_SECTION] ?? "";
  if (content === "" ? inForce === text : content === text && inForce === "") return [];
  const instructions = { [INSTRUCTIONS_SECTION]: text === "" ? null : text };
  const message = { role: "system", content: "", sections: instructions };
  const replaced = content === "" ? [] : entries.filter((entry) => entry.messages.some(isSystem));
  if (replaced.length > 0)
    Object.assign(message, { sections: { ...sections, ...instructions } }, toolsAdded && { toolsAdded });
  const drafts = replaced.map(({ sourceEntry }): EntryFields | FieldsMaker =>
    sourceEntry.type === "compaction"
      ? dropReplay(sourceEntry, pathIds)
      : { type: "context_edit", targetId: sourceEntry.id, replacement: null },
  );
  return [...drafts, (_, timestamp) => ({ type: "message", message: { ...message, timestamp } })];
}

/** Returns a compaction that selects the same messages, but replays no system message. */
function dropReplay(compaction: AnySessionEntry, pathIds: readonly string[]): FieldsMaker {
  const { id: oldId, parentId, timestamp, usage, systemMessage, ...fields } = toRecord(compaction);
  const { firstKeptEntryId, retainedTail } = fields;
  if (toArray(retainedTail).length > 0) {
    throw new SessionError(
      "ENTRY_INVALID",
      `Compaction ${compaction.id} retains its own messages, so its instructions cannot be replaced. Compact the session first.`,
      { details: { entryId: compaction.id } },
    );
  }
  const at = pathIds.indexOf(compaction.id);
  const keptAt = typeof firstKeptEntryId === "string" ? pathIds.indexOf(firstKeptEntryId) : -1;
  const firstKept = keptAt !== -1 && keptAt < at ? firstKeptEntryId : pathIds[at + 1];
  return (id) => ({ ...fields, type: "compaction", firstKeptEntryId: firstKept ?? id });
}

/**
 * Returns the cost of changing the instructions: the answers whose thinking is bound to the old instructions, and the size of the
 * prompt that a provider may have cached.
 */
export function measureInstructionCost({ entries }: Pick<SessionProjection, "entries">): {
  voidThinkingIds: string[];
  uncachedTokens: number;
} {
  const voidThinkingIds: string[] = [];
  let uncachedTokens = 0;
  for (const { sourceEntry, messages } of entries) {
    for (const message of messages) {
      if (message.role !== "assistant") continue;
      if (toArray(message.content).some(isThinking)) voidThinkingIds.push(sourceEntry.id);
      const { cacheRead, cacheWrite, input } = toRecord(message.usage);
      const prompt = toNumber(cacheRead) + toNumber(cacheWrite) + toNumber(input);
      if (prompt > 0) uncachedTokens = prompt;
    }
  }
  return { voidThinkingIds, uncachedTokens };
}

function isSystem({ role }: AgentMessage): boolean {
  return role === "system";
}

function isThinking(block: unknown): boolean {
  return toRecord(block)["type"] === "thinking";
}
