import { fieldsOf } from "../../context/entry-fields.ts";
import { headOf, type MessagePart, partsOf, textOf } from "../../context/message-parts.ts";
import type { AnySessionEntry } from "../../schema/entry.ts";
import type { JsonRecord } from "../../schema/json.ts";
import { excerptOf } from "../../view/excerpt.ts";
import { isShownImage } from "../../view/images.ts";
import { prettyJson } from "../../view/pretty-json.ts";
import { count, counted } from "../../view/words.ts";
import { dateAndTime, span } from "../text/times.ts";
import { imageText } from "../view/details.ts";
import { adopted, code, escaped, fenced, folded } from "./markdown-text.ts";
import { type ExportSource, numberedEntries } from "./source.ts";

/** Entry types of which a transcript says something in one line. */
const MENTIONED: ReadonlyMap<string, string> = new Map([
  ["model_change", "Model"],
  ["thinking_level_change", "Thinking level"],
  ["context_edit", "Context edit"],
]);

/**
 * Writes a branch as a transcript in Markdown: what session it is, then a heading for each turn with what was said,
 * called and given back. State of extensions, labels as entries and usage records are left out.
 *
 * @remarks Cost: O(bytes of the branch).
 */
export function* markdown(source: ExportSource): Generator<string, void> {
  const { session, leaf, withImages } = source;
  const path = session.tree.path(leaf);
  yield `${heading(source, path)}\n`;
  let turn = 0;
  for (const { ordinal, entry } of numberedEntries(session, path)) {
    const label = session.labels.get(session.tree.idAt(ordinal))?.label;
    const mark = label === undefined ? "" : ` \\[${escaped(label)}\\]`;
    const time = dateAndTime(session.tree.timeAt(ordinal));
    if (fieldsOf(messageOf(entry))["role"] === "user") turn++;
    const blocks = entryBlocks(entry, { turn, mark, time, withImages });
    for (const block of blocks) yield `\n${block}\n`;
  }
}

function heading({ session, leaf }: ExportSource, path: Int32Array): string {
  const { header, name, tree } = session;
  const times = [...path].map((ordinal) => tree.timeAt(ordinal)).filter((time) => !Number.isNaN(time));
  const facts: [string, string][] = [
    ["Session", code(header?.id ?? "")],
    ["Project", code(header?.cwd ?? "")],
    ["Time", span(times[0] ?? Number.NaN, times.at(-1) ?? Number.NaN)],
    ["Branch", `${count(path.length)} of ${counted(tree.size, "entry", "entries")}`],
    ["Up to", path.length === 0 ? "" : code(tree.idAt(leaf))],
    ["Forked from", code(header?.parentSession ?? "")],
  ];
  const lines = facts.filter(([, value]) => value !== "").map(([fact, value]) => `- ${fact}: ${value}`);
  return [`# ${escaped(name ?? session.fileName)}`, "", ...lines].join("\n");
}

/** What is around an entry. */
interface Around {
  /** Number of the turn, from 1; 0 before the first. */
  readonly turn: number;
  /** The label in force, ready for a heading. */
  readonly mark: string;
  readonly time: string;
  readonly withImages: boolean;
}

function messageOf(entry: AnySessionEntry | undefined): unknown {
  return entry?.type === "message" ? fieldsOf(entry)["message"] : undefined;
}

/** Returns the paragraphs that an entry becomes; none if it has no place in a transcript. */
function entryBlocks(entry: AnySessionEntry | undefined, around: Around): string[] {
  if (entry === undefined) return ["*An entry here cannot be read.*"];
  const fields = fieldsOf(entry);
  const summary = adopted(textOf(fields["summary"]));
  switch (entry.type) {
    case "message":
      return messageBlocks(fieldsOf(fields["message"]), around);
    case "custom_message":
      return [title(3, `Message of ${code(textOf(fields["customType"]))}`, around), ...said(fields, around)];
    case "compaction":
      return [title(2, `Compaction${tokensText(fields["tokensBefore"])}`, around), summary];
    case "branch_summary":
      return [title(2, "Summary of another branch", around), summary];
    default: {
      const what = MENTIONED.get(entry.type);
      return what === undefined ? [] : [`*${what}: ${escaped(excerptOf(entry).text)}*${around.mark}`];
    }
  }
}

function messageBlocks(message: JsonRecord, around: Around): string[] {
  switch (message["role"]) {
    case "user":
      return [title(2, `${around.turn}. User`, around), ...said(message, around)];
    case "assistant":
      return [
        title(3, "Assistant", around, textOf(message["model"])),
        ...said(message, around),
        ...failure(message),
      ];
    case "toolResult":
      return toolResult(message, around);
    case "bashExecution":
      return command(message, around);
    case "system":
      return [folded("System", said(message, around).join("\n\n"))];
    case "custom":
      return [
        title(3, `Message of ${code(textOf(message["customType"]))}`, around),
        ...said(message, around),
      ];
    default:
      return [title(3, escaped(textOf(message["role"]) || "Message"), around), ...said(message, around)];
  }
}

function title(level: number, text: string, { mark, time }: Around, by = ""): string {
  const facts = [text + mark, by === "" ? "" : escaped(by), time].filter(Boolean);
  return `${"#".repeat(level)} ${facts.join(" · ")}`;
}

/** What the content of a message says, in its order. */
function said(message: JsonRecord, { withImages }: Around): string[] {
  return blocksOf(message)
    .flatMap((block) => partsOf({ content: [block] }).flatMap((part) => partText(part, block, withImages)))
    .filter((text) => text !== "");
}

function blocksOf({ content }: JsonRecord): JsonRecord[] {
  return (Array.isArray(content) ? content : [{ type: "text", text: content }]).map(fieldsOf);
}

function partText(part: MessagePart, block: JsonRecord, withImages: boolean): string | string[] {
  switch (part.kind) {
    case "text":
      return adopted(part.text);
    case "thinking":
      return part.text === "" ? "" : folded("Thinking", adopted(part.text));
    case "image":
      return image(block, withImages);
    case "toolCall":
      return [`**Call of** ${code(part.name)}`, fenced(prettyJson(part.arguments ?? null), "json")];
  }
}

function image(block: JsonRecord, withImages: boolean): string {
  const { mimeType, data } = block;
  if (withImages && isShownImage(mimeType, data))
    return `![image](data:${textOf(mimeType)};base64,${textOf(data)})`;
  return `*Image: ${escaped(imageText(block))}*`;
}

function toolResult(message: JsonRecord, around: Around): string[] {
  const failed = message["isError"] === true ? ", **failed**" : "";
  const parts = partsOf(message);
  const text = parts.flatMap((part) => (part.kind === "text" ? part.text : [])).join("\n");
  const images = blocksOf(message)
    .filter((block) => block["type"] === "image")
    .map((block) => image(block, around.withImages));
  return [
    `**Result of** ${code(textOf(message["toolName"]))}${failed}${around.mark}`,
    ...(text === "" && images.length > 0 ? [] : [fenced(text)]),
    ...images,
  ];
}

function command({ command: typed, output, exitCode }: JsonRecord, around: Around): string[] {
  const end = typeof exitCode === "number" && exitCode !== 0 ? `, **exit code ${exitCode}**` : "";
  return [
    `${title(3, "Command", around)}${end}`,
    fenced(textOf(typed), "sh"),
    ...(textOf(output) === "" ? [] : [fenced(textOf(output))]),
  ];
}

function failure({ stopReason, errorMessage }: JsonRecord): string[] {
  if (stopReason === "aborted") return ["*Aborted.*"];
  return stopReason === "error" ? [`**Failed:** ${escaped(headOf(textOf(errorMessage), 1000))}`] : [];
}

function tokensText(tokens: unknown): string {
  return typeof tokens === "number" && tokens > 0 ? `: the context had ${count(tokens)} tokens before` : "";
}
