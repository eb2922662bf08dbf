import { isContent, toContentBlocks, toNumber, toRecord } from "../context/entry-fields.ts";
import { toText } from "../context/message-parts.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import { isJsonRecord, type JsonRecord } from "../format/json.ts";
import type { EntryOutcome } from "./outcome.ts";

/** Part of an entry's content. Strings are returned as stored and may contain any characters. */
export type ContentPart =
  /** Markdown text from a user or a model. */
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string; readonly isRedacted: boolean }
  | { readonly kind: "image"; readonly mimeType: string; readonly data: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly input: unknown }
  | OutputPart
  | { readonly kind: "data"; readonly title: string; readonly value: unknown }
  | { readonly kind: "note"; readonly text: string }
  /** Failure or abort of an answer, or a damaged entry. */
  | { readonly kind: "failure"; readonly of: EntryOutcome | "damaged"; readonly text: string };

/** Text as a program wrote it. */
export interface OutputPart {
  readonly kind: "output";
  /** Source of the text: a tool, a command run by the user, or a section of the instructions. */
  readonly of: "tool" | "command" | "section";
  /** Tool, command, or section name. */
  readonly title: string;
  readonly notes: readonly string[];
  readonly text: string;
  readonly isError: boolean;
}

/** Content of an entry, in reading order. */
export interface EntryContent {
  /** Parts of the content; empty if there are none. */
  readonly parts: readonly ContentPart[];
  /** Other stored fields of the entry or its message, by name, excluding the fields of the entry's head. */
  readonly others: readonly (readonly [name: string, value: unknown])[];
}

const HEAD = ["type", "id", "parentId", "timestamp"];

const UNKNOWN = "Content of an unknown kind";

/** Fields of an entry or a message. Tracks which fields were used for its parts. */
class Fields {
  readonly all: JsonRecord;
  readonly #taken: Set<string>;

  constructor(all: JsonRecord, taken: readonly string[] = []) {
    this.all = all;
    this.#taken = new Set(taken);
  }

  take(name: string): unknown {
    this.#taken.add(name);
    return this.all[name];
  }

  /** Returns a string field and marks it as used. A value that is not a string remains in `others`. */
  text(name: string): string {
    const value = this.all[name];
    return typeof value === "string" ? toText(this.take(name)) : "";
  }

  get others(): [string, unknown][] {
    return Object.entries(this.all).filter(([name]) => !this.#taken.has(name));
  }
}

/** Splits an entry into parts for display. An undefined entry means that the body is damaged. */
export function getEntryContent(entry: AnySessionEntry | undefined): EntryContent {
  if (entry === undefined || entry.type === "damaged") {
    const text = "This entry cannot be read. It keeps its position in the tree.";
    return { parts: [{ kind: "failure", of: "damaged", text }], others: [] };
  }
  const fields = new Fields(toRecord(entry), HEAD);
  if (entry.type !== "message") return { parts: makeEntryParts(entry, fields), others: fields.others };
  const stored = fields.take("message");
  const message = new Fields(toRecord(stored));
  const parts = [...makeMessageParts(stored, message), ...makeStoredParts(message)];
  return { parts, others: [...fields.others, ...message.others] };
}

/** Returns the content of a message, without the fields that a model never receives. Accepts any stored value. */
export function getMessageContent(message: unknown): ContentPart[] {
  return makeMessageParts(message, new Fields(toRecord(message)));
}

function makeEntryParts(entry: AnySessionEntry, fields: Fields): ContentPart[] {
  switch (entry.type) {
    case "custom_message":
      return [...getContentParts(fields.take("content")), ...toDataParts("Details", fields.take("details"))];
    case "compaction":
    case "branch_summary":
      return [...toMarkdownParts(fields.text("summary")), ...toDataParts("Details", fields.take("details"))];
    case "custom":
      return toDataParts("Data", fields.take("data"));
    case "context_edit":
      return isJsonRecord(fields.all["replacement"])
        ? getContentParts(toRecord(fields.take("replacement"))["content"])
        : [];
    case "usage":
      return toDataParts("Usage", fields.take("usage"));
    case "model_change":
    case "thinking_level_change":
    case "label":
    case "session_info":
      return [];
    default:
      for (const name of Object.keys(fields.all)) fields.take(name);
      return toDataParts("Data", entry);
  }
}

function makeMessageParts(message: unknown, fields: Fields): ContentPart[] {
  switch (fields.all["role"]) {
    case "assistant":
      return [...getContentParts(fields.take("content")), ...makeEndingParts(fields)];
    case "toolResult":
      return makeResultParts(fields);
    case "bashExecution":
      return [makeCommandPart(fields)];
    case "system":
      return [...getContentParts(fields.take("content")), ...makeSystemParts(fields)];
    case "branchSummary":
    case "compactionSummary":
      return toMarkdownParts(fields.text("summary"));
    case "user":
    case "custom":
      return getContentParts(fields.take("content"));
    default:
      return "content" in fields.all
        ? getContentParts(fields.take("content"))
        : toDataParts("Message", message);
  }
}

/** Returns the parts of stored content. Content of an unknown type is returned as data. */
function getContentParts(content: unknown): ContentPart[] {
  return isContent(content)
    ? toContentBlocks(content).flatMap(makeBlockParts)
    : toDataParts(UNKNOWN, content);
}

function makeBlockParts(block: unknown): ContentPart[] {
  const {
    type,
    text,
    thinking,
    redacted,
    mimeType,
    data: encoded,
    id,
    name,
    arguments: input,
  } = toRecord(block);
  switch (type) {
    case "text":
      return toMarkdownParts(toText(text));
    case "thinking": {
      const isRedacted = redacted === true;
      const isShown = isRedacted || toText(thinking).trim() !== "";
      return isShown ? [{ kind: "thinking", text: toText(thinking), isRedacted }] : [];
    }
    case "image":
      return [{ kind: "image", mimeType: toText(mimeType), data: toText(encoded) }];
    case "toolCall":
      return [{ kind: "call", id: toText(id), name: toText(name) || "(unnamed tool)", input }];
    default:
      return toDataParts(UNKNOWN, block);
  }
}

function toMarkdownParts(text: string): ContentPart[] {
  return text.trim() === "" ? [] : [{ kind: "text", text }];
}

function toDataParts(title: string, value: unknown): ContentPart[] {
  return isEmptyData(value) ? [] : [{ kind: "data", title, value }];
}

/** Returns whether stored data is empty: undefined, null, an empty string, or an array or object without fields. */
function isEmptyData(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function makeResultParts(fields: Fields): ContentPart[] {
  const content = fields.take("content");
  const parts = toContentBlocks(content);
  const text = parts
    .map((part) => toText(toRecord(part)["text"]))
    .filter(Boolean)
    .join("\n");
  const { toolName, isError } = fields.all;
  const title = toText(toolName) || "result";
  const output: OutputPart = {
    kind: "output",
    of: "tool",
    title,
    notes: [],
    text,
    isError: isError === true,
  };
  const others = isContent(content)
    ? parts.filter(isNoText).flatMap(makeBlockParts)
    : getContentParts(content);
  return text === "" && others.length > 0 ? others : [output, ...others];
}

/** Returns whether a part of a result is not text, regardless of its type. */
function isNoText(part: unknown): boolean {
  const { type, text } = toRecord(part);
  return type !== "text" && (type === "image" || toText(text) === "");
}

/** Returns the data that a program stores with a result and that the model never receives. */
function makeStoredParts(fields: Fields): ContentPart[] {
  if (fields.all["role"] !== "toolResult") return [];
  return [
    ...toDataParts("Details", fields.take("details")),
    ...toDataParts("Nested calls", fields.take("nestedCalls")),
  ];
}

function makeCommandPart(fields: Fields): OutputPart {
  const { exitCode, cancelled, truncated, excludeFromContext } = fields.all;
  return {
    kind: "output",
    of: "command",
    title: fields.text("command"),
    notes: [
      cancelled === true ? "cancelled" : "",
      typeof exitCode === "number" && exitCode !== 0 ? `exit code ${exitCode}` : "",
      truncated === true ? "output truncated" : "",
      excludeFromContext === true ? "kept from the model" : "",
    ].filter(Boolean),
    text: fields.text("output"),
    isError: cancelled !== true && toNumber(exitCode) !== 0,
  };
}

function makeSystemParts(fields: Fields): ContentPart[] {
  const stored = isJsonRecord(fields.all["sections"]) ? toRecord(fields.take("sections")) : {};
  const sections = Object.entries(stored).map(([name, text]): ContentPart => {
    if (typeof text !== "string") return { kind: "note", text: `Section ${name} removed` };
    return { kind: "output", of: "section", title: `Section ${name}`, notes: [], text, isError: false };
  });
  return [
    ...sections,
    ...toDataParts("Tools added", fields.take("toolsAdded")),
    ...toDataParts("Tools removed", fields.take("toolsRemoved")),
  ];
}

/** Returns a part that describes how an unfinished answer ended. */
function makeEndingParts(fields: Fields): ContentPart[] {
  switch (fields.all["stopReason"]) {
    case "error":
      return [{ kind: "failure", of: "failed", text: fields.text("errorMessage") || "The model failed." }];
    case "aborted":
      return [{ kind: "failure", of: "aborted", text: fields.text("errorMessage") || "Aborted." }];
    case "pending":
      return [{ kind: "note", text: "The answer ends here: it was still being written." }];
    case "length":
      return [{ kind: "note", text: "The answer ends here: it reached its maximum length." }];
    default:
      return [];
  }
}

/** Formats the title of an output: the tool name, or the command and its outcome. */
export function formatOutputTitle({ of, title, notes }: OutputPart): string {
  if (of !== "command") return title;
  return `$ ${title}${notes.length === 0 ? "" : `  (${notes.join(", ")})`}`;
}
