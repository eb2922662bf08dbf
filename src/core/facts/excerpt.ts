import { textsOf } from "../context/content-text.ts";
import { fieldsOf } from "../context/entry-fields.ts";
import { partsOf, textOf } from "../context/message-parts.ts";
import { textsOfSystemMessage } from "../context/system-message.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import type { JsonRecord } from "../format/json.ts";
import { failureText } from "./failure-text.ts";
import { count, counted, joined } from "./number-text.ts";
import { beginningOf, wholeLine, withoutMarkdown } from "./plain-text.ts";
import { tellingArgument } from "./tool-calls.ts";

/** What a line says of an entry. */
export interface Excerpt {
  /** One harmless line; empty if the entry says nothing. */
  readonly text: string;
  readonly isError: boolean;
}

interface Said extends Excerpt {
  /** What stands for it where its beginning is enough. */
  readonly brief: string;
}

/**
 * Returns the line that says most about an entry; undefined stands for a damaged body.
 *
 * @param isWhole - Whether the line holds all that the entry says, however long that is, and as it was written; default:
 *   its beginning, without the marks of Markdown.
 */
export function excerptOf(entry: AnySessionEntry | undefined, isWhole = false): Excerpt {
  return onOneLine(saidByEntry(entry), isWhole);
}

/** Returns the line that says most about a message, of whatever role, as `excerptOf` does of an entry. */
export function excerptOfMessage(message: unknown, isWhole = false): Excerpt {
  return onOneLine(saidByMessage(fieldsOf(message)), isWhole);
}

function onOneLine({ text, brief, isError }: Said, isWhole: boolean): Excerpt {
  return { text: isWhole ? wholeLine(text) : beginningOf(brief), isError };
}

function saidByEntry(entry: AnySessionEntry | undefined): Said {
  if (entry === undefined || entry.type === "damaged") return failure("the body cannot be read");
  const fields = fieldsOf(entry);
  switch (entry.type) {
    case "message":
      return saidByMessage(fieldsOf(fields["message"]));
    case "compaction":
      return prose(`${tokensText(fields["tokensBefore"])}${withoutHeadingMarks(fields["summary"])}`);
    case "branch_summary":
      return prose(withoutHeadingMarks(fields["summary"]));
    case "custom_message":
      return prose(named(fields["customType"], contentText(fields)));
    default:
      return success(entryText(entry.type, fields));
  }
}

function saidByMessage(message: JsonRecord): Said {
  switch (message["role"]) {
    case "assistant":
      return saidByModel(message);
    case "toolResult": {
      const { toolName, isError } = message;
      const text = contentText(message);
      return isError === true
        ? failure(named(`${textOf(toolName)} failed`.trimStart(), text), failureText(message))
        : success(named(toolName, text));
    }
    case "bashExecution": {
      const { command, exitCode, output, cancelled } = message;
      if (cancelled === true) return failure(`(aborted) $ ${textOf(command)}`);
      const hasFailed = typeof exitCode === "number" && exitCode !== 0;
      return hasFailed
        ? failure(named(`$ ${textOf(command)} (exit code ${exitCode})`, textOf(output)), failureText(message))
        : success(`$ ${textOf(command)}`);
    }
    case "branchSummary":
    case "compactionSummary":
      return prose(withoutHeadingMarks(message["summary"]));
    case "system":
      return prose(textsOfSystemMessage(message).join(" "));
    default:
      return prose(contentText(message));
  }
}

function success(text: string, brief = text): Said {
  return { text, brief, isError: false };
}

/** What is written in Markdown. */
function prose(text: string): Said {
  return success(text, withoutMarkdown(text));
}

function failure(text: string, brief = text): Said {
  return { text, brief, isError: true };
}

function saidByModel(message: JsonRecord): Said {
  const { stopReason, errorMessage } = message;
  if (stopReason === "error")
    return failure(textOf(errorMessage) || "the model failed", failureText(message));
  const parts = partsOf(message);
  const said = parts.flatMap((part) => (part.kind === "text" ? part.text : [])).join(" ");
  const calls = parts.flatMap((part) =>
    part.kind === "toolCall" ? callText(part.name, part.arguments) : [],
  );
  const thought = parts.some((part) => part.kind === "thinking") ? "(thinking)" : "";
  const rest = said.trim() === "" && calls.length === 0 ? [thought] : calls;
  const [text, brief] = [said, withoutMarkdown(said)].map((one) => joined("  ", one.trim(), ...rest));
  const mark = stopReason === "aborted" ? "(aborted) " : "";
  return { text: `${mark}${text}`, brief: `${mark}${brief}`, isError: mark !== "" };
}

/** Says in a few words what a tool was called for: `→ bash npm test`. */
export function callText(name: string, input: unknown): string {
  return `→ ${callTitle(name, input)}`;
}

/** Names a call: the tool, and the argument that says most. */
export function callTitle(name: string, input: unknown): string {
  return `${name || "(unnamed tool)"} ${tellingArgument(input)}`.trimEnd();
}

/** The text of a message or custom message, with its images mentioned. */
function contentText(fields: JsonRecord): string {
  const images = partsOf(fields).filter(({ kind }) => kind === "image").length;
  const text = textsOf(fields["content"]).join(" ");
  return images === 0 ? text : `[${counted(images, "image")}] ${text}`;
}

/** A text with the name of what it comes from before it, if there is one. */
function named(name: unknown, text: string): string {
  return joined(": ", textOf(name), text);
}

/** What the data of a program say to a person: a text for people, or for the model, else what a call was made for. */
function stateText(data: JsonRecord): string {
  return textsOf(data["content"]).join(" ") || tellingArgument(data) || tellingArgument(data["action"]);
}

/** What an entry that is no message says, by its type. */
function entryText(type: string, fields: JsonRecord): string {
  const text = (name: string) => textOf(fields[name]);
  switch (type) {
    case "custom":
      return named(fields["customType"], stateText(fieldsOf(fields["data"])));
    case "model_change":
      return joined("/", text("provider"), text("modelId")) || text("model");
    case "thinking_level_change":
      return text("thinkingLevel");
    case "label":
      return text("label") === ""
        ? `none on ${text("targetId")}`
        : `"${text("label")}" on ${text("targetId")}`;
    case "session_info":
      return text("name") || "(none)";
    case "title_change":
      return text("title") || "(none)";
    case "context_edit":
      return `${fields["replacement"] === null ? "removes" : "replaces"} ${text("targetId")}`;
    case "usage":
    case "model_usage":
      return joined(" ", text("kind") || text("purpose"), joined("/", text("provider"), text("model")));
    default:
      return "";
  }
}

function tokensText(tokens: unknown): string {
  return typeof tokens === "number" && tokens > 0 ? `${count(tokens)}-token context → ` : "";
}

/** A summary without the marks of its headings. */
function withoutHeadingMarks(summary: unknown): string {
  return textOf(summary).replace(/^#+ /gm, "");
}
