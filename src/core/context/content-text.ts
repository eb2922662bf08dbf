import { toRecord } from "./entry-fields.ts";

/**
 * Returns the texts of a message's content, one for each text block.
 *
 * @param content - As stored: a string, an array of blocks, or any other value.
 * @returns Empty without text blocks. Skips other kinds of blocks.
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
