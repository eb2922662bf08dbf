import { getTexts } from "../context/content-text.ts";
import { toRecord } from "../context/entry-fields.ts";
import { getMessageParts, toText } from "../context/message-parts.ts";
import { getSystemTexts } from "../context/system-message.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import type { JsonRecord } from "../format/json.ts";
import { formatFailure } from "./failure-text.ts";
import { formatCount, formatCounted, joinNonempty } from "./number-text.ts";
import { toShortLine, toWholeLine, withoutMarkdown } from "./plain-text.ts";
import { getTellingArgument } from "./tool-calls.ts";

/** One-line description of an entry. */
export interface Excerpt {
  /** A single line without control characters. Empty if the entry has no content. */
  readonly text: string;
  readonly isError: boolean;
}

interface Said extends Excerpt {
  /** Text to use for a truncated line. */
  readonly brief: string;
}

/**
 * Returns the most informative line about an entry. An undefined entry means that the body is damaged.
 *
 * @param isWhole - Whether the line contains the whole content as written, regardless of its length. By default, it contains the
 *   beginning, without Markdown syntax.
 */
export function getExcerpt(entry: AnySessionEntry | undefined, isWhole = false): Excerpt {
  return onOneLine(describeEntry(entry), isWhole);
}

/** Returns the most informative line about a message with any role, as `getExcerpt` does for an entry. */
export function getMessageExcerpt(message: unknown, isWhole = false): Excerpt {
  return onOneLine(describeMessage(toRecord(message)), isWhole);
}

function onOneLine({ text, brief, isError }: Said, isWhole: boolean): Excerpt {
  return { text: isWhole ? toWholeLine(text) : toShortLine(brief), isError };
}

function describeEntry(entry: AnySessionEntry | undefined): Said {
  if (entry === undefined || entry.type === "damaged") return makeFailure("the body cannot be read");
  const fields = toRecord(entry);
  switch (entry.type) {
    case "message":
      return describeMessage(toRecord(fields["message"]));
    case "compaction":
      return makeProse(
        `${formatStoredTokens(fields["tokensBefore"])}${withoutHeadingMarks(fields["summary"])}`,
      );
    case "branch_summary":
      return makeProse(withoutHeadingMarks(fields["summary"]));
    case "custom_message":
      return makeProse(formatNamed(fields["customType"], formatContent(fields)));
    default:
      return makeSuccess(formatEntry(entry.type, fields));
  }
}

function describeMessage(message: JsonRecord): Said {
  switch (message["role"]) {
    case "assistant":
      return describeAnswer(message);
    case "toolResult": {
      const { toolName, isError } = message;
      const text = formatContent(message);
      return isError === true
        ? makeFailure(formatNamed(`${toText(toolName)} failed`.trimStart(), text), formatFailure(message))
        : makeSuccess(formatNamed(toolName, text));
    }
    case "bashExecution": {
      const { command, exitCode, output, cancelled } = message;
      if (cancelled === true) return makeFailure(`(aborted) $ ${toText(command)}`);
      const hasFailed = typeof exitCode === "number" && exitCode !== 0;
      return hasFailed
        ? makeFailure(
            formatNamed(`$ ${toText(command)} (exit code ${exitCode})`, toText(output)),
            formatFailure(message),
          )
        : makeSuccess(`$ ${toText(command)}`);
    }
    case "branchSummary":
    case "compactionSummary":
      return makeProse(withoutHeadingMarks(message["summary"]));
    case "system":
      return makeProse(getSystemTexts(message).join(" "));
    default:
      return makeProse(formatContent(message));
  }
}

function makeSuccess(text: string, brief = text): Said {
  return { text, brief, isError: false };
}

/** Returns a description of Markdown text. */
function makeProse(text: string): Said {
  return makeSuccess(text, withoutMarkdown(text));
}

function makeFailure(text: string, brief = text): Said {
  return { text, brief, isError: true };
}

function describeAnswer(message: JsonRecord): Said {
  const { stopReason, errorMessage } = message;
  if (stopReason === "error")
    return makeFailure(toText(errorMessage) || "the model failed", formatFailure(message));
  const parts = getMessageParts(message);
  const said = parts.flatMap((part) => (part.kind === "text" ? part.text : [])).join(" ");
  const calls = parts.flatMap((part) =>
    part.kind === "toolCall" ? formatToolCall(part.name, part.arguments) : [],
  );
  const thought = parts.some((part) => part.kind === "thinking") ? "(thinking)" : "";
  const rest = said.trim() === "" && calls.length === 0 ? [thought] : calls;
  const [text, brief] = [said, withoutMarkdown(said)].map((one) => joinNonempty("  ", one.trim(), ...rest));
  const mark = stopReason === "aborted" ? "(aborted) " : "";
  return { text: `${mark}${text}`, brief: `${mark}${brief}`, isError: mark !== "" };
}

/** Formats a tool call briefly, for example `→ bash npm test`. */
export function formatToolCall(name: string, input: unknown): string {
  return `→ ${formatCallTitle(name, input)}`;
}

/** Returns the title of a tool call: the tool name and its most informative argument. */
export function formatCallTitle(name: string, input: unknown): string {
  return `${name || "(unnamed tool)"} ${getTellingArgument(input)}`.trimEnd();
}

/** Returns the text of a message or custom message, preceded by the number of images. */
function formatContent(fields: JsonRecord): string {
  const images = getMessageParts(fields).filter(({ kind }) => kind === "image").length;
  const text = getTexts(fields["content"]).join(" ");
  return images === 0 ? text : `[${formatCounted(images, "image")}] ${text}`;
}

/** Returns text preceded by the name of its source, if any. */
function formatNamed(name: unknown, text: string): string {
  return joinNonempty(": ", toText(name), text);
}

/**
 * Returns the most readable text in a program's data: text for people or for the model or, failing that, the purpose of a call.
 */
function formatState(data: JsonRecord): string {
  return (
    getTexts(data["content"]).join(" ") || getTellingArgument(data) || getTellingArgument(data["action"])
  );
}

/** Describes an entry that is not a message, according to its type. */
function formatEntry(type: string, fields: JsonRecord): string {
  const text = (name: string) => toText(fields[name]);
  switch (type) {
    case "custom":
      return formatNamed(fields["customType"], formatState(toRecord(fields["data"])));
    case "model_change":
      return joinNonempty("/", text("provider"), text("modelId")) || text("model");
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
      return joinNonempty(
        " ",
        text("kind") || text("purpose"),
        joinNonempty("/", text("provider"), text("model")),
      );
    default:
      return "";
  }
}

function formatStoredTokens(tokens: unknown): string {
  return typeof tokens === "number" && tokens > 0 ? `${formatCount(tokens)}-token context → ` : "";
}

/** Returns a summary without heading marks. */
function withoutHeadingMarks(summary: unknown): string {
  return toText(summary).replace(/^#+ /gm, "");
}
