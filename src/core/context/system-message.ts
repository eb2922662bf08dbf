import { ARRAY, assertArgument } from "../format/arguments.ts";
import type { AgentMessage, SystemMessage, ToolDeclaration } from "../format/message.ts";
import { getTexts } from "./content-text.ts";
import { toRecord } from "./entry-fields.ts";

/** Name of the section for instructions. The latest one applies. */
export const INSTRUCTIONS_SECTION = "instructions";

/**
 * Folds the system messages of a context into a single message, which a compaction replays.
 *
 * Joins content with blank lines, and merges sections and tools by name, in order. Ignores malformed values.
 *
 * @param messages - Messages of the context; all except system messages are skipped.
 * @param timestamp - Time of the compaction, Unix milliseconds.
 * @returns The message, whose `content` is empty if no message has any; undefined if there are no system messages.
 * @remarks Cost: O(messages). Source: docs/format.md#context
 */
export function foldSystemMessages(
  messages: readonly AgentMessage[],
  timestamp: number,
): SystemMessage | undefined {
  assertArgument("messages", messages, ARRAY);
  let isThere = false;
  const contents: string[] = [];
  const sections = new Map<string, string>();
  const tools = new Map<unknown, ToolDeclaration>();
  for (const message of messages) {
    const { role, content, ...patch } = toRecord(message);
    if (role !== "system") continue;
    isThere = true;
    const texts = getTexts(content);
    if (texts.some((text) => text !== "")) contents.push(texts.join("\n"));
    patchSections(sections, patch["sections"]);
    patchTools(tools, patch["toolsRemoved"], patch["toolsAdded"]);
  }
  if (!isThere) return undefined;
  return {
    role: "system",
    content: contents.join("\n\n"),
    // Object.fromEntries defines properties, so a section named __proto__ remains a section.
    ...(sections.size === 0 ? {} : { sections: Object.fromEntries(sections) }),
    ...(tools.size === 0 ? {} : { toolsAdded: [...tools.values()] }),
    timestamp,
  };
}

/** Returns the strings in a system message: its content, then the sections that it sets. */
export function getSystemTexts(message: unknown): string[] {
  const { content, sections } = toRecord(message);
  const set = Object.values(toRecord(sections)).filter((text) => typeof text === "string");
  return [...getTexts(content), ...set].filter((text) => text !== "");
}

function patchSections(sections: Map<string, string>, patch: unknown): void {
  for (const [name, text] of Object.entries(toRecord(patch))) {
    if (text === null) sections.delete(name);
    else if (typeof text === "string") sections.set(name, text);
  }
}

function patchTools(tools: Map<unknown, ToolDeclaration>, removed: unknown, added: unknown): void {
  if (Array.isArray(removed)) for (const tool of removed) tools.delete(getRemovedName(tool));
  if (!Array.isArray(added)) return;
  for (const tool of added) if (isToolDeclaration(tool)) tools.set(tool.name, tool);
}

/** Returns the name of a removed tool. The tool is an object or, in old files, a string. */
function getRemovedName(tool: unknown): unknown {
  return typeof tool === "string" ? tool : toRecord(tool)["name"];
}

/** Returns whether a value is a tool declaration, which must have a name. Other fields belong to the host and are not changed. */
function isToolDeclaration(tool: unknown): tool is ToolDeclaration {
  return typeof toRecord(tool)["name"] === "string";
}

/** Returns the text of system messages: their content, then the sections in effect. */
export function joinSystemText(messages: readonly SystemMessage[]): string {
  const folded = foldSystemMessages(messages, 0);
  const parts = [...getTexts(folded?.content), ...Object.values(folded?.sections ?? {})];
  return parts.filter((part) => typeof part === "string" && part !== "").join("\n\n");
}
