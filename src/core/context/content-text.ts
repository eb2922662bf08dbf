import { toRecord } from "./entry-fields.ts";

/**
 * Returns the text strings in a message's content, one per text block.
 *
 * @param content - As stored: a string, an array of blocks, or any other value.
 * @returns Empty if there are no text blocks. Other kinds of blocks are skipped.
 */
export function getTexts(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  const texts: string[] = [];
  for (const block of content) {
    const { type, text } = toRecord(block);
    if (type === "text" && typeof text === "string") texts.push(text);
  }
  return texts;
}
