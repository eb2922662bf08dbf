import type { AnySessionEntry } from "../../core.ts";
import { plainText } from "../render/plain-text.ts";
import { fieldsOf, listOf, textOf } from "./fields.ts";

/** Arguments of tool calls that say most about the call, best first. */
const TELLING = [
  "path",
  "file_path",
  "filePath",
  "command",
  "cmd",
  "pattern",
  "query",
  "url",
  "prompt",
  "name",
];

/** Characters of an excerpt. */
const LONGEST = 160;

/** Gives the line that says most about an entry. */
export function excerptOf(entry: AnySessionEntry): string {
  const fields = fieldsOf(entry);
  const text = (name: string) => textOf(fields[name]);
  switch (entry.type) {
    case "message":
      return excerptOfMessage(fields["message"]);
    case "compaction":
    case "branch_summary":
      return plainLine(text("summary"));
    case "custom_message":
      return plainLine(contentText(fields["content"]) || text("customType"));
    case "custom":
      return oneLine(text("customType"));
    case "model_change":
      return oneLine([text("provider"), text("modelId")].filter(Boolean).join("/") || text("model"));
    case "thinking_level_change":
      return oneLine(text("thinkingLevel"));
    case "label":
      return text("label") === "" ? "(removed)" : oneLine(text("label"));
    case "session_info":
      return oneLine(text("name")) || "(none)";
    case "title_change":
      return oneLine(text("title")) || "(none)";
    case "context_edit":
      return `${fields["replacement"] === null ? "removes" : "replaces"} ${oneLine(text("targetId"))}`;
    case "usage":
      return oneLine([text("kind"), text("model")].filter(Boolean).join(" · "));
    case "damaged":
      return "cannot be read";
    default:
      return "";
  }
}

/** Gives the line that says most about a message, of whatever role. */
function excerptOfMessage(given: unknown): string {
  const message = fieldsOf(given);
  switch (message["role"]) {
    case "bashExecution":
      return oneLine(`$ ${textOf(message["command"])}`);
    case "branchSummary":
    case "compactionSummary":
      return plainLine(textOf(message["summary"]));
    case "assistant":
      return assistantExcerpt(message);
    case "toolResult":
      return oneLine(contentText(message["content"]));
    default:
      return plainLine(contentText(message["content"]));
  }
}

/** Gives the argument that says most about a tool call; empty if none does. */
export function tellingArgument(given: unknown): string {
  const fields = fieldsOf(given);
  const value = TELLING.map((name) => fields[name]).find((one) => typeof one === "string" && one !== "");
  return oneLine(textOf(value));
}

/** Brings the beginning of a text onto one line. */
export function oneLine(text: string, longest = LONGEST): string {
  const head = text
    .slice(0, longest * 2)
    .replace(/\s+/g, " ")
    .trim();
  return head.length > longest ? `${head.slice(0, longest - 1)}…` : head;
}

/** Brings the beginning of a Markdown text onto one line, without its markup. */
export function plainLine(text: string): string {
  return oneLine(plainText(text.slice(0, LONGEST * 4)));
}

function assistantExcerpt(message: ReturnType<typeof fieldsOf>): string {
  if (message["stopReason"] === "error")
    return oneLine(textOf(message["errorMessage"])) || "the model failed";
  const said = plainLine(contentText(message["content"]));
  if (said !== "") return said;
  const parts = listOf(message["content"]).map(fieldsOf);
  const calls = parts.flatMap(({ type, name, arguments: given }) =>
    type === "toolCall" ? `${textOf(name)} ${tellingArgument(given)}`.trim() : [],
  );
  if (calls.length > 0) return oneLine(calls.join(", "));
  if (message["stopReason"] === "aborted") return "(aborted)";
  return parts.some(({ type }) => type === "thinking") ? "(thinking)" : "";
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  const texts = listOf(content).map((part) => {
    const { type, text } = fieldsOf(part);
    return type === "image" ? "[image]" : textOf(text);
  });
  return texts.filter(Boolean).join(" ");
}
