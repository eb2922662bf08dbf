import { fieldsOf } from "../../context/entry-fields.ts";
import { partsOf } from "../../context/message-parts.ts";
import type { AnySessionEntry } from "../../schema/entry.ts";
import { isJsonRecord, type JsonRecord } from "../../schema/json.ts";
import { plainLine, plainText } from "../../view/plain.ts";
import { prettyJson } from "../../view/pretty-json.ts";
import { bytes } from "../../view/words.ts";

/** All that an entry holds, in an order for reading; every text is harmless. */
export interface EntryDetails {
  /** Short values by name. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** Texts of any length. */
  readonly blocks: readonly DetailBlock[];
}

/** A piece of an entry's content. */
export interface DetailBlock {
  /** What it is; undefined for the text that the entry is about. */
  readonly title?: string;
  readonly text: string;
}

/** Longer values are no facts but blocks. */
const LONGEST_FACT = 60;

const HEAD_FIELDS: ReadonlySet<string> = new Set(["type", "id", "parentId", "timestamp"]);

/**
 * Takes an entry apart for reading: the fields of its message or its own, whatever their names.
 *
 * @remarks Cost: O(size of the entry).
 */
export function detailsOf(entry: AnySessionEntry): EntryDetails {
  const facts: [string, string][] = [];
  const blocks: DetailBlock[] = [];
  for (const [name, value] of fieldsToShow(fieldsOf(entry))) {
    if (name === "content") blocks.push(...contentBlocks(value));
    else if (isFact(value)) facts.push([plainLine(name), plainLine(String(value))]);
    else if (typeof value === "string") blocks.push({ title: plainLine(name), text: plainText(value) });
    else blocks.push({ title: plainLine(name), text: plainText(prettyJson(value)) });
  }
  return { facts, blocks };
}

function fieldsToShow(entry: JsonRecord): [string, unknown][] {
  const own = Object.entries(entry).filter(([name]) => !HEAD_FIELDS.has(name));
  return own.flatMap(([name, value]) =>
    name === "message" && isJsonRecord(value) ? Object.entries(value) : [[name, value]],
  );
}

function isFact(value: unknown): boolean {
  if (typeof value === "string") return value.length <= LONGEST_FACT && !value.includes("\n");
  return value === null || typeof value !== "object";
}

function contentBlocks(content: unknown): DetailBlock[] {
  if (typeof content === "string") return [{ text: plainText(content) }];
  if (!Array.isArray(content)) return [{ title: "content", text: plainText(prettyJson(content)) }];
  return content.map(contentBlock);
}

function contentBlock(block: unknown): DetailBlock {
  const [part] = partsOf({ content: [block] });
  switch (part?.kind) {
    case "text":
      return { text: plainText(part.text) };
    case "thinking":
      return { title: "thinking", text: plainText(part.text) };
    case "toolCall":
      return { title: plainLine(`→ ${part.name}`), text: plainText(prettyJson(part.arguments)) };
    case "image":
      return { title: "image", text: imageText(fieldsOf(block)) };
    default:
      return { title: "block", text: plainText(prettyJson(block)) };
  }
}

/** Says of what type an image is, and how large. */
export function imageText({ mimeType, data }: JsonRecord): string {
  const size = typeof data === "string" ? Math.floor((data.length * 3) / 4) : 0;
  return plainLine(`${String(mimeType)}, ${bytes(size)}`);
}
