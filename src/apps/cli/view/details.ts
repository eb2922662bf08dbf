import { type ContentPart, contentOf, outputTitle } from "../../../core/facts/entry-content.ts";
import { imageText } from "../../../core/facts/images.ts";
import { plainLine, plainText } from "../../../core/facts/plain-text.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import { prettyJson } from "../../text/pretty-json.ts";

/** All that an entry holds; every text is harmless. */
export interface EntryDetails {
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly blocks: readonly DetailBlock[];
}

interface DetailBlock {
  /** What it is; empty for the text that the entry is about. */
  readonly title: string;
  readonly text: string;
  readonly isError: boolean;
}

/** Longer values are no facts but blocks. */
const LONGEST_FACT = 60;

/**
 * Lays out what an entry holds: short values, what it says, and whatever else is stored; undefined stands for a damaged
 * body.
 */
export function detailsOf(entry: AnySessionEntry | undefined): EntryDetails {
  const { parts, others } = contentOf(entry);
  const facts = others.filter(([, value]) => isFact(value));
  const long = others.filter(([, value]) => !isFact(value));
  const blocks = [
    ...parts.map(blockOf),
    ...long.map(([title, value]) => blockOf({ kind: "data", title, value })),
  ];
  return {
    facts: facts.map(([name, value]) => [plainLine(name), plainLine(String(value))]),
    blocks: blocks.map(({ isError, title, text }) => ({
      isError,
      title: plainLine(title),
      text: plainText(text),
    })),
  };
}

function isFact(value: unknown): boolean {
  if (typeof value === "string") return value.length <= LONGEST_FACT && !value.includes("\n");
  return value === null || typeof value !== "object";
}

function blockOf(part: ContentPart): DetailBlock {
  const block = (title: string, text: string) => ({ title, text, isError: part.kind === "failure" });
  switch (part.kind) {
    case "text":
    case "note":
    case "failure":
      return block("", part.text);
    case "thinking":
      return block("thinking", part.isRedacted ? "(withheld)" : part.text);
    case "call":
      return block(`→ ${part.name}`, prettyJson(part.input));
    case "image":
      return block("image", imageText(part));
    case "output":
      // The name of a tool is among the facts.
      return block(part.of === "tool" ? "" : outputTitle(part), part.text);
    case "data":
      return block(part.title, typeof part.value === "string" ? part.value : prettyJson(part.value));
  }
}
