import { toRecord } from "../../../core/context/entry-fields.ts";
import { takeStart, toText } from "../../../core/context/message-parts.ts";
import { type ContentPart, getEntryContent, type OutputPart } from "../../../core/facts/entry-content.ts";
import { getExcerpt } from "../../../core/facts/excerpt.ts";
import { toImageAddress } from "../../../core/facts/images.ts";
import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { formatDateAndTime, formatSpan, getMessageTimeRange } from "../../../core/facts/times.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { getEntryKind } from "../../text/entry-kind.ts";
import { formatImage, formatJson } from "../../text/stored-values.ts";
import { adoptMarkdown, escapeMarkdown, fenceText, foldText, formatCode } from "./markdown-text.ts";
import { type ExportSource, readNumberedEntries } from "./source.ts";

const LONGEST_FAILURE = 1000;

/** Entry types of which a transcript says something in one line. */
const MENTIONED: ReadonlyMap<string, string> = new Map([
  ["model_change", "Model"],
  ["thinking_level_change", "Thinking level"],
  ["context_edit", "Context edit"],
]);

/**
 * Writes a branch as a transcript in Markdown: what session it is, then a heading for each turn with what was said,
 * called and returned. State of extensions, labels as entries and usage records are left out.
 */
export function* writeMarkdown(source: ExportSource): Generator<string, void> {
  const { session, leaf, withImages } = source;
  const path = session.tree.path(leaf);
  yield `${makeTranscriptHeading(source, path)}\n`;
  let turn = 0;
  for (const { ordinal, entry } of readNumberedEntries(session, path)) {
    const label = session.labels.get(session.tree.idAt(ordinal))?.label;
    const mark = label === undefined ? "" : ` \\[${escapeMarkdown(label)}\\]`;
    const time = formatDateAndTime(session.tree.timeAt(ordinal));
    if (getEntryKind(entry).tone === "user") turn++;
    const blocks = makeEntryBlocks(entry, { turn, mark, time, withImages });
    for (const block of blocks) yield `\n${block}\n`;
  }
}

function makeTranscriptHeading({ session, leaf }: ExportSource, path: Int32Array): string {
  const { header, tree } = session;
  const facts: [string, string][] = [
    ["Session", formatCode(header?.id ?? "")],
    ["Project", formatCode(header?.cwd ?? "")],
    ["Time", formatSpan(...getMessageTimeRange(tree, path))],
    ["Branch", `${formatCount(path.length)} of ${formatCounted(tree.size, "entry", "entries")}`],
    ["Up to", path.length === 0 ? "" : formatCode(tree.idAt(leaf))],
    ["Forked from", formatCode(header?.parentSession ?? "")],
  ];
  const lines = facts.filter(([, value]) => value !== "").map(([fact, value]) => `- ${fact}: ${value}`);
  return [`# ${escapeMarkdown(session.title)}`, "", ...lines].join("\n");
}

interface Around {
  /** Number of the turn, from 1; 0 before the first. */
  readonly turn: number;
  /** The label in force, ready for a heading. */
  readonly mark: string;
  readonly time: string;
  readonly withImages: boolean;
}

/** Returns the paragraphs that an entry becomes; none if it has no position in a transcript. */
function makeEntryBlocks(entry: AnySessionEntry | undefined, around: Around): string[] {
  const { parts } = getEntryContent(entry);
  const mention = MENTIONED.get(entry?.type ?? "");
  if (mention !== undefined) return [`*${mention}: ${escapeMarkdown(getExcerpt(entry).text)}*${around.mark}`];
  const heading = makeHeading(entry, parts, around);
  const said = parts.flatMap((part) => layOutPart(part, around.withImages)).filter((text) => text !== "");
  if (heading === undefined) return entry === undefined ? said : [];
  return heading === SYSTEM ? [foldText(heading, said.join("\n\n"))] : [heading, ...said];
}

const SYSTEM = "System";

/** Writes the line above what an entry says; undefined if that is left out of a transcript. */
function makeHeading(
  entry: AnySessionEntry | undefined,
  parts: readonly ContentPart[],
  around: Around,
): string | undefined {
  const fields = toRecord(entry);
  switch (entry?.type) {
    case "message":
      return makeMessageHeading(toRecord(fields["message"]), parts, around);
    case "custom_message":
      return formatTitle(3, `Message of ${formatCode(toText(fields["customType"]))}`, around);
    case "compaction":
      return formatTitle(2, `Compaction${formatStoredTokens(fields["tokensBefore"])}`, around);
    case "branch_summary":
      return formatTitle(2, "Summary of another branch", around);
    default:
      return undefined;
  }
}

function makeMessageHeading(message: JsonRecord, parts: readonly ContentPart[], around: Around): string {
  const text = (name: string) => toText(message[name]);
  switch (message["role"]) {
    case "user":
      return formatTitle(2, `${around.turn}. User`, around);
    case "assistant":
      return formatTitle(3, "Assistant", around, text("model"));
    case "toolResult":
      return `**Result of** ${formatCode(text("toolName"))}${message["isError"] === true ? ", **failed**" : ""}${around.mark}`;
    case "bashExecution": {
      const notes = parts.flatMap((part) => (part.kind === "output" ? part.notes : []));
      return [formatTitle(3, "Command", around), ...notes.map((note) => `**${note}**`)].join(", ");
    }
    case "system":
      return SYSTEM;
    case "custom":
      return formatTitle(3, `Message of ${formatCode(text("customType"))}`, around);
    default:
      return formatTitle(3, escapeMarkdown(text("role") || "Message"), around);
  }
}

function formatTitle(level: number, text: string, { mark, time }: Around, by = ""): string {
  const facts = [text + mark, by === "" ? "" : escapeMarkdown(by), time].filter(Boolean);
  return `${"#".repeat(level)} ${facts.join(" · ")}`;
}

/** Lays out a part of what an entry says. What programs stored is left out. */
function layOutPart(part: ContentPart, withImages: boolean): string | string[] {
  switch (part.kind) {
    case "text":
      return adoptMarkdown(part.text);
    case "thinking":
      return part.isRedacted ? [] : foldText("Thinking", adoptMarkdown(part.text));
    case "image": {
      const address = withImages ? toImageAddress(part) : undefined;
      return address === undefined ? `*Image: ${escapeMarkdown(formatImage(part))}*` : `![image](${address})`;
    }
    case "call":
      return [`**Call of** ${formatCode(part.name)}`, fenceText(formatJson(part.input ?? null), "json")];
    case "output":
      return layOutOutput(part);
    case "data":
      return [];
    case "note":
      return `*${escapeMarkdown(part.text)}*`;
    case "failure": {
      const text = escapeMarkdown(takeStart(part.text, LONGEST_FAILURE));
      return part.of === "failed" ? `**Failed:** ${text}` : `*${text}*`;
    }
  }
}

function layOutOutput({ of, title: name, text }: OutputPart): string[] {
  if (of === "tool") return [fenceText(text)];
  const front = of === "command" ? fenceText(name, "sh") : `**${escapeMarkdown(name)}**`;
  return text === "" ? [front] : [front, fenceText(text)];
}

function formatStoredTokens(tokens: unknown): string {
  return typeof tokens === "number" && tokens > 0
    ? `: the context had ${formatCount(tokens)} tokens before`
    : "";
}
