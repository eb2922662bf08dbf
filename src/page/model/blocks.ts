import { fieldsOf, listOf, numberOf } from "../../context/entry-fields.ts";
import { textOf } from "../../context/message-parts.ts";
import type { AnySessionEntry } from "../../core.ts";
import { isJsonRecord, type JsonRecord } from "../../schema/json.ts";
import { isShownImage } from "../../view/images.ts";
import { prettyJson } from "../../view/pretty-json.ts";

/** A piece of what an entry shows, of a kind that says how it is drawn. */
export type Block =
  | { readonly kind: "markdown"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string; readonly isRedacted: boolean }
  | { readonly kind: "image"; readonly source: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly given: unknown }
  /** Text as a program wrote it, folded if it is long. */
  | {
      readonly kind: "output";
      readonly title: string;
      readonly text: string;
      readonly isError: boolean;
      /** Whether the title is a command that a person gave, and this what came of it. */
      readonly isCommand: boolean;
    }
  | { readonly kind: "json"; readonly title: string; readonly text: string }
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "error"; readonly text: string };

/** Returns what an entry shows, in order; empty if it has nothing to show. */
export function blocksOfEntry(entry: AnySessionEntry): Block[] {
  const fields = fieldsOf(entry);
  const text = (name: string) => textOf(fields[name]);
  switch (entry.type) {
    case "message":
      return [...blocksOfMessage(fields["message"]), ...storedWithResult(fields["message"])];
    case "custom_message":
      return [...contentBlocks(fields["content"]), ...detailBlocks("Details", fields["details"])];
    case "compaction":
    case "branch_summary":
      return [...markdown(text("summary")), ...detailBlocks("Details", fields["details"])];
    case "custom":
      return detailBlocks(text("customType") || "State", fields["data"]);
    case "context_edit":
      return isJsonRecord(fields["replacement"])
        ? contentBlocks(fieldsOf(fields["replacement"])["content"])
        : [];
    case "usage":
      return detailBlocks("Usage", fields["usage"]);
    case "damaged":
      return [{ kind: "error", text: "This entry cannot be read. It keeps its place in the tree." }];
    case "model_change":
    case "thinking_level_change":
    case "label":
    case "session_info":
      return [];
    default:
      return detailBlocks(`Entry of the type ${entry.type}`, entry);
  }
}

/** Returns what a message shows, whatever somebody stored in it. */
export function blocksOfMessage(given: unknown): Block[] {
  const message = fieldsOf(given);
  switch (message["role"]) {
    case "assistant":
      return [...contentBlocks(message["content"]), ...failureBlocks(message)];
    case "toolResult":
      return resultBlocks(message);
    case "bashExecution":
      return [commandBlock(message)];
    case "system":
      return [...contentBlocks(message["content"]), ...systemBlocks(message)];
    case "branchSummary":
    case "compactionSummary":
      return markdown(textOf(message["summary"]));
    case "user":
    case "custom":
      return contentBlocks(message["content"]);
    default:
      return "content" in message ? contentBlocks(message["content"]) : detailBlocks("Message", given);
  }
}

function contentBlocks(content: unknown): Block[] {
  if (typeof content === "string") return markdown(content);
  return listOf(content).flatMap(blockOfContent);
}

function blockOfContent(part: unknown): Block[] {
  const fields = fieldsOf(part);
  switch (fields["type"]) {
    case "text":
      return markdown(textOf(fields["text"]));
    case "thinking": {
      const isRedacted = fields["redacted"] === true;
      const text = textOf(fields["thinking"]);
      return text.trim() === "" && !isRedacted ? [] : [{ kind: "thinking", text, isRedacted }];
    }
    case "image":
      return [imageBlock(fields["mimeType"], fields["data"])];
    case "toolCall": {
      const name = textOf(fields["name"]) || "(unnamed tool)";
      return [{ kind: "call", id: textOf(fields["id"]), name, given: fields["arguments"] }];
    }
    default:
      return detailBlocks("Content of an unknown kind", part);
  }
}

function imageBlock(mimeType: unknown, data: unknown): Block {
  if (isShownImage(mimeType, data)) return { kind: "image", source: `data:${mimeType};base64,${data}` };
  return { kind: "line", text: `(an image that cannot be shown: ${textOf(mimeType) || "of no known kind"})` };
}

function markdown(text: string): Block[] {
  return text.trim() === "" ? [] : [{ kind: "markdown", text }];
}

function resultBlocks(message: JsonRecord): Block[] {
  const { content } = message;
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
  const text = parts
    .map((part) => textOf(fieldsOf(part)["text"]))
    .filter(Boolean)
    .join("\n");
  const images = parts.filter((part) => fieldsOf(part)["type"] === "image").flatMap(blockOfContent);
  const output: Block = {
    kind: "output",
    title: textOf(message["toolName"]) || "result",
    text,
    isError: message["isError"] === true,
    isCommand: false,
  };
  const unknown = parts.filter(isUnknownPart).flatMap(blockOfContent);
  const others = [...images, ...unknown];
  return text === "" && others.length > 0 ? others : [output, ...others];
}

/** Tells whether a part of a result is neither text, of whatever type, nor an image. */
function isUnknownPart(part: unknown): boolean {
  const { type, text } = fieldsOf(part);
  return type !== "text" && type !== "image" && textOf(text) === "";
}

/** What a program keeps with a result, and the model never gets. */
function storedWithResult(given: unknown): Block[] {
  const message = fieldsOf(given);
  if (message["role"] !== "toolResult") return [];
  return [
    ...detailBlocks("Details", message["details"]),
    ...detailBlocks("Nested calls", message["nestedCalls"]),
  ];
}

function commandBlock(message: JsonRecord): Block {
  const { exitCode, cancelled, excludeFromContext } = message;
  const notes = [
    cancelled === true ? "cancelled" : "",
    typeof exitCode === "number" && exitCode !== 0 ? `exit code ${exitCode}` : "",
    message["truncated"] === true ? "output truncated" : "",
    excludeFromContext === true ? "kept from the model" : "",
  ].filter(Boolean);
  const note = notes.length === 0 ? "" : `  (${notes.join(", ")})`;
  return {
    kind: "output",
    title: `$ ${textOf(message["command"])}${note}`,
    text: textOf(message["output"]),
    isError: cancelled !== true && numberOf(exitCode) !== 0,
    isCommand: true,
  };
}

function systemBlocks(message: JsonRecord): Block[] {
  const sections = Object.entries(fieldsOf(message["sections"])).flatMap(([name, text]): Block[] => [
    typeof text === "string"
      ? { kind: "output", title: `Section ${name}`, text, isError: false, isCommand: false }
      : { kind: "line", text: `Section ${name} removed` },
  ]);
  return [
    ...sections,
    ...detailBlocks("Tools added", message["toolsAdded"]),
    ...detailBlocks("Tools removed", message["toolsRemoved"]),
  ];
}

function failureBlocks({ stopReason, errorMessage }: JsonRecord): Block[] {
  if (stopReason === "error") return [{ kind: "error", text: textOf(errorMessage) || "The model failed." }];
  if (stopReason === "aborted") return [{ kind: "error", text: textOf(errorMessage) || "Aborted." }];
  if (stopReason === "length")
    return [{ kind: "line", text: "The answer ends here: it reached its greatest length." }];
  return [];
}

function detailBlocks(title: string, value: unknown): Block[] {
  if (value === undefined || value === null) return [];
  return [{ kind: "json", title, text: prettyJson(value) }];
}
