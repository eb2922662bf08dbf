import { toContentBlocks, toRecord } from "./entry-fields.ts";

/** Validated part of a message's content. */
export type MessagePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string }
  | { readonly kind: "image" }
  | { readonly kind: "toolCall"; readonly id: string; readonly name: string; readonly arguments: unknown };

/**
 * Returns the parts of a message's content. Accepts any stored value.
 *
 * A string is treated as one text part. Missing content and unknown blocks are skipped, and text fields of the wrong type are
 * treated as empty.
 *
 * @param message - A message, or any other value.
 * @returns A new array, in the order of the content.
 * @remarks Cost: O(blocks).
 */
export function getMessageParts(message: unknown): MessagePart[] {
  const { content } = toRecord(message);
  return toContentBlocks(content).flatMap((block) => toMessagePart(block) ?? []);
}

function toMessagePart(block: unknown): MessagePart | undefined {
  const fields = toRecord(block);
  switch (fields["type"]) {
    case "text":
      return { kind: "text", text: toText(fields["text"]) };
    case "thinking":
      return { kind: "thinking", text: toText(fields["thinking"]) };
    case "image":
      return { kind: "image" };
    case "toolCall":
      return {
        kind: "toolCall",
        id: toText(fields["id"]),
        name: toText(fields["name"]),
        arguments: fields["arguments"],
      };
    default:
      return undefined;
  }
}

/** Returns a value if it is a string; otherwise, an empty string. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/**
 * Serializes a value as JSON. Never throws.
 *
 * @returns `""` for values that JSON omits, such as undefined; `"[not JSON]"` for a cycle, a BigInt, or nesting that is too deep
 * for the stack.
 */
export function toJson(value: unknown): string {
  try {
    // Despite its declared type, `JSON.stringify` returns undefined for undefined, functions, and symbols.
    const json: unknown = JSON.stringify(value);
    return toText(json);
  } catch {
    return "[not JSON]";
  }
}

/**
 * Returns the beginning of a string.
 *
 * @param text - Any string.
 * @param limit - Maximum length, in UTF-16 units.
 * @returns At most `limit` code units; one fewer if the cut would split a surrogate pair.
 */
export function takeStart(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = isInsidePair(text, limit) ? limit - 1 : limit;
  return text.slice(0, end);
}

function isInsidePair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}
