import { blocksOf, fieldsOf, isContent, numberOf } from "../context/entry-fields.ts";
import { textOf } from "../context/message-parts.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import { isJsonRecord, type JsonRecord } from "../format/json.ts";
import type { EntryOutcome } from "./outcome.ts";

/** A part of what an entry says. Its texts are as they were written: they may hold anything. */
export type ContentPart =
  /** Text in Markdown, of a person or a model. */
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string; readonly isRedacted: boolean }
  | { readonly kind: "image"; readonly mimeType: string; readonly data: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly input: unknown }
  | OutputPart
  | { readonly kind: "data"; readonly title: string; readonly value: unknown }
  | { readonly kind: "note"; readonly text: string }
  /** How an answer failed or was stopped, or that the entry is damaged. */
  | { readonly kind: "failure"; readonly of: EntryOutcome | "damaged"; readonly text: string };

/** Text as a program wrote it. */
export interface OutputPart {
  readonly kind: "output";
  /** Whether a tool or a command of a person wrote it, or it is a section of the instructions. */
  readonly of: "tool" | "command" | "section";
  /** The tool, the command, or what section it is. */
  readonly title: string;
  readonly notes: readonly string[];
  readonly text: string;
  readonly isError: boolean;
}

/** What an entry holds, in an order for reading. */
export interface EntryContent {
  /** What it says; empty if it has nothing to say. */
  readonly parts: readonly ContentPart[];
  /** What else is stored in it or in its message, by name; without what the head of an entry holds. */
  readonly others: readonly (readonly [name: string, value: unknown])[];
}

const HEAD = ["type", "id", "parentId", "timestamp"];

const UNKNOWN = "Content of an unknown kind";

/** The fields of an entry or a message, and which of them were taken for its parts. */
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

  /** Takes a text; what is none stays for the others. */
  text(name: string): string {
    const value = this.all[name];
    return typeof value === "string" ? textOf(this.take(name)) : "";
  }

  get others(): [string, unknown][] {
    return Object.entries(this.all).filter(([name]) => !this.#taken.has(name));
  }
}

/** Takes an entry apart for reading; undefined stands for a damaged body. */
export function contentOf(entry: AnySessionEntry | undefined): EntryContent {
  if (entry === undefined || entry.type === "damaged") {
    const text = "This entry cannot be read. It keeps its position in the tree.";
    return { parts: [{ kind: "failure", of: "damaged", text }], others: [] };
  }
  const fields = new Fields(fieldsOf(entry), HEAD);
  if (entry.type !== "message") return { parts: partsOfEntry(entry, fields), others: fields.others };
  const stored = fields.take("message");
  const message = new Fields(fieldsOf(stored));
  const parts = [...partsOfMessage(stored, message), ...storedWithResult(message)];
  return { parts, others: [...fields.others, ...message.others] };
}

/** Returns what a message says, whatever is stored in it, without what a model never gets of it. */
export function contentOfMessage(message: unknown): ContentPart[] {
  return partsOfMessage(message, new Fields(fieldsOf(message)));
}

function partsOfEntry(entry: AnySessionEntry, fields: Fields): ContentPart[] {
  switch (entry.type) {
    case "custom_message":
      return [...partsIn(fields.take("content")), ...data("Details", fields.take("details"))];
    case "compaction":
    case "branch_summary":
      return [...markdown(fields.text("summary")), ...data("Details", fields.take("details"))];
    case "custom":
      return data("Data", fields.take("data"));
    case "context_edit":
      return isJsonRecord(fields.all["replacement"])
        ? partsIn(fieldsOf(fields.take("replacement"))["content"])
        : [];
    case "usage":
      return data("Usage", fields.take("usage"));
    case "model_change":
    case "thinking_level_change":
    case "label":
    case "session_info":
      return [];
    default:
      for (const name of Object.keys(fields.all)) fields.take(name);
      return data("Data", entry);
  }
}

function partsOfMessage(message: unknown, fields: Fields): ContentPart[] {
  switch (fields.all["role"]) {
    case "assistant":
      return [...partsIn(fields.take("content")), ...ending(fields)];
    case "toolResult":
      return resultParts(fields);
    case "bashExecution":
      return [commandPart(fields)];
    case "system":
      return [...partsIn(fields.take("content")), ...systemParts(fields)];
    case "branchSummary":
    case "compactionSummary":
      return markdown(fields.text("summary"));
    case "user":
    case "custom":
      return partsIn(fields.take("content"));
    default:
      return "content" in fields.all ? partsIn(fields.take("content")) : data("Message", message);
  }
}

/** The parts of stored content. What is of an unknown kind is shown as it stands. */
function partsIn(content: unknown): ContentPart[] {
  return isContent(content) ? blocksOf(content).flatMap(partsOfBlock) : data(UNKNOWN, content);
}

function partsOfBlock(block: unknown): ContentPart[] {
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
  } = fieldsOf(block);
  switch (type) {
    case "text":
      return markdown(textOf(text));
    case "thinking": {
      const isRedacted = redacted === true;
      const isShown = isRedacted || textOf(thinking).trim() !== "";
      return isShown ? [{ kind: "thinking", text: textOf(thinking), isRedacted }] : [];
    }
    case "image":
      return [{ kind: "image", mimeType: textOf(mimeType), data: textOf(encoded) }];
    case "toolCall":
      return [{ kind: "call", id: textOf(id), name: textOf(name) || "(unnamed tool)", input }];
    default:
      return data(UNKNOWN, block);
  }
}

function markdown(text: string): ContentPart[] {
  return text.trim() === "" ? [] : [{ kind: "text", text }];
}

function data(title: string, value: unknown): ContentPart[] {
  return value === undefined || value === null ? [] : [{ kind: "data", title, value }];
}

function resultParts(fields: Fields): ContentPart[] {
  const content = fields.take("content");
  const parts = blocksOf(content);
  const text = parts
    .map((part) => textOf(fieldsOf(part)["text"]))
    .filter(Boolean)
    .join("\n");
  const { toolName, isError } = fields.all;
  const title = textOf(toolName) || "result";
  const output: OutputPart = {
    kind: "output",
    of: "tool",
    title,
    notes: [],
    text,
    isError: isError === true,
  };
  const others = isContent(content) ? parts.filter(isNoText).flatMap(partsOfBlock) : partsIn(content);
  return text === "" && others.length > 0 ? others : [output, ...others];
}

/** Tells whether a part of a result is not text, of whatever type. */
function isNoText(part: unknown): boolean {
  const { type, text } = fieldsOf(part);
  return type !== "text" && (type === "image" || textOf(text) === "");
}

/** What a program keeps with a result, and the model never gets. */
function storedWithResult(fields: Fields): ContentPart[] {
  if (fields.all["role"] !== "toolResult") return [];
  return [...data("Details", fields.take("details")), ...data("Nested calls", fields.take("nestedCalls"))];
}

function commandPart(fields: Fields): OutputPart {
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
    isError: cancelled !== true && numberOf(exitCode) !== 0,
  };
}

function systemParts(fields: Fields): ContentPart[] {
  const stored = isJsonRecord(fields.all["sections"]) ? fieldsOf(fields.take("sections")) : {};
  const sections = Object.entries(stored).map(([name, text]): ContentPart => {
    if (typeof text !== "string") return { kind: "note", text: `Section ${name} removed` };
    return { kind: "output", of: "section", title: `Section ${name}`, notes: [], text, isError: false };
  });
  return [
    ...sections,
    ...data("Tools added", fields.take("toolsAdded")),
    ...data("Tools removed", fields.take("toolsRemoved")),
  ];
}

/** How an answer ended, where it was not finished. */
function ending(fields: Fields): ContentPart[] {
  switch (fields.all["stopReason"]) {
    case "error":
      return [{ kind: "failure", of: "failed", text: fields.text("errorMessage") || "The model failed." }];
    case "aborted":
      return [{ kind: "failure", of: "aborted", text: fields.text("errorMessage") || "Aborted." }];
    case "pending":
      return [{ kind: "note", text: "The answer ends here: it was still being written." }];
    case "length":
      return [{ kind: "note", text: "The answer ends here: it reached its greatest length." }];
    default:
      return [];
  }
}

/** Writes what an output is of: the tool, or a command and how it ended. */
export function outputTitle({ of, title, notes }: OutputPart): string {
  if (of !== "command") return title;
  return `$ ${title}${notes.length === 0 ? "" : `  (${notes.join(", ")})`}`;
}
