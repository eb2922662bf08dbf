import { getMessageFields, toRecord } from "../../core/context/entry-fields.ts";
import { takeStart, toText } from "../../core/context/message-parts.ts";
import { type ContentPart, getEntryContent, type OutputPart } from "../../core/facts/entry-content.ts";
import { getExcerpt } from "../../core/facts/excerpt.ts";
import { toImageAddress } from "../../core/facts/images.ts";
import { formatCount, formatCounted } from "../../core/facts/number-text.ts";
import { type LineBounds, shortenLines } from "../../core/facts/shorten-lines.ts";
import { formatDateAndTime, formatSpan, getMessageTimeRange } from "../../core/facts/times.ts";
import type { ViewSource } from "../../core/facts/tool-calls.ts";
import { findCallFiles } from "../../core/facts/touched-files.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import type { JsonRecord } from "../../core/format/json.ts";
import { getEntryKind } from "./entry-kind.ts";
import { findLanguage, layOutCall } from "./markdown-call.ts";
import {
  adoptMarkdown,
  escapeMarkdown,
  fenceText,
  foldText,
  formatCode,
  formatHtmlCode,
} from "./markdown-text.ts";
import { readNumberedEntries } from "./numbered-entries.ts";
import { formatImage } from "./stored-values.ts";

/** Levels of detail: no results, results folded and shortened, or results and calls in full. */
export const RESULT_DETAILS = ["none", "folded", "full"] as const;

/** Level of detail of results. */
export type ResultDetail = (typeof RESULT_DETAILS)[number];

/** Branch to transcribe, with options. */
interface MarkdownSource {
  readonly session: Pick<ViewSource, "readEntries" | "tree"> & {
    readonly header?: SessionHeader | undefined;
    readonly title: string;
  };
  /** Ordinal of the entry at which the branch ends, or NONE. */
  readonly leaf: number;
  /** Returns the label of an entry; undefined if it has no label. */
  readonly getLabel: (ordinal: number) => string | undefined;
  readonly withImages: boolean;
  /** Level of detail of output from tools and commands. */
  readonly results: ResultDetail;
}

const LONGEST_FAILURE = 1000;

/** Maximum sizes of calls, results, thinking, and instructions, unless everything is requested. */
const CALL_BOUNDS: LineBounds = { maxLines: 8, maxLineLength: 200 };
const RESULT_BOUNDS: LineBounds = { maxLines: 4, maxLineLength: 120 };
const THINKING_BOUNDS: LineBounds = { maxLines: 4, maxLineLength: 160 };
const INSTRUCTION_BOUNDS: LineBounds = { maxLines: 20, maxLineLength: 400 };

/** Maximum number of lines of a result that is not folded. */
const SHORT_RESULT = 3;

/** Entry types that a transcript mentions on one line. */
const MENTIONED: ReadonlyMap<string, string> = new Map([
  ["model_change", "Model"],
  ["thinking_level_change", "Thinking level"],
  ["context_edit", "Context edit"],
]);

/**
 * Formats a branch as a Markdown transcript: a heading for the session, then a heading per turn with its messages, calls, and
 * results. Omits extension state, label entries, and usage records. If a setting, such as the model, changes several times before
 * a message, includes only the last change.
 */
export function* writeMarkdown(source: MarkdownSource): Generator<string, void> {
  const { session, leaf, getLabel, withImages, results } = source;
  const path = session.tree.path(leaf);
  yield `${makeTranscriptHeading(source, path)}\n`;
  const calls = new Map<string, ContentPart & { kind: "call" }>();
  const mentions = new Mentions();
  let turn = 0;
  let isAnswering = false;
  for (const { ordinal, entry } of readNumberedEntries(session, path)) {
    const label = getLabel(ordinal);
    const mark = label === undefined ? "" : ` \\[${escapeMarkdown(label)}\\]`;
    if (entry !== undefined && MENTIONED.has(entry.type)) {
      mentions.add(entry, mark);
      continue;
    }
    const time = formatDateAndTime(session.tree.timeAt(ordinal));
    if (getEntryKind(entry).tone === "user") turn++;
    const { parts } = getEntryContent(entry);
    const { role } = getMessageFields(entry);
    for (const part of parts) if (part.kind === "call") calls.set(part.id, part);
    const call = calls.get(toText(getMessageFields(entry).toolCallId));
    const blocks = makeEntryBlocks(entry, parts, {
      turn,
      mark,
      time,
      isAnswering,
      withImages,
      results,
      call,
    });
    if (role === "user" || role === "assistant") isAnswering = role === "assistant";
    if (blocks.length > 0) for (const block of [...mentions.take(), ...blocks]) yield `\n${block}\n`;
  }
  for (const block of mentions.take()) yield `\n${block}\n`;
}

/** Setting changes to mention: the last change of each kind, if its value differs from the last value mentioned. */
class Mentions {
  readonly #told = new Map<string, string>();
  readonly #open = new Map<string, string>();

  add(entry: AnySessionEntry, mark: string): void {
    const what = MENTIONED.get(entry.type) ?? "";
    this.#open.set(what, `*${what}: ${escapeMarkdown(getExcerpt(entry).text)}*${mark}`);
  }

  take(): string[] {
    const open = [...this.#open].filter(([what, text]) => this.#told.get(what) !== text);
    for (const [what, text] of open) this.#told.set(what, text);
    this.#open.clear();
    return open.map(([, text]) => text);
  }
}

function makeTranscriptHeading({ session, leaf }: MarkdownSource, path: Int32Array): string {
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
  /** Number of the turn, starting at 1; 0 before the first turn. */
  readonly turn: number;
  /** Current label, formatted for a heading. */
  readonly mark: string;
  readonly time: string;
  /** Whether an answer heading has been written since the last user message. */
  readonly isAnswering: boolean;
  readonly withImages: boolean;
  readonly results: ResultDetail;
  /** Call of a result, if known. */
  readonly call: (ContentPart & { kind: "call" }) | undefined;
}

/** Returns the paragraphs of an entry; empty if the transcript omits it. */
function makeEntryBlocks(
  entry: AnySessionEntry | undefined,
  parts: readonly ContentPart[],
  around: Around,
): string[] {
  const { role } = getMessageFields(entry);
  if (role === "toolResult") return makeResultBlocks(parts, around);
  const heading = makeHeading(entry, parts, around);
  const isSystem = heading === SYSTEM;
  const said = parts
    .flatMap((part) => layOutPart(isSystem ? shortenPart(part, around) : part, around))
    .filter((text) => text !== "");
  if (heading === undefined) return entry === undefined ? said : [];
  if (isSystem) return [foldText(heading, said.join("\n\n"))];
  // Calls without text continue the previous answer.
  const isSilent =
    role === "assistant" &&
    around.isAnswering &&
    around.mark === "" &&
    parts.every(({ kind }) => kind === "call");
  return isSilent && parts.length > 0 ? said : [heading, ...said];
}

/** Formats the result of a tool: short results in full, longer results folded and shortened. */
function makeResultBlocks(parts: readonly ContentPart[], around: Around): string[] {
  const { call, mark, results } = around;
  const output = parts.find((part) => part.kind === "output");
  const others = parts.filter((part) => part !== output).flatMap((part) => layOutPart(part, around));
  const [name, text, failed] = [output?.title ?? "result", output?.text ?? "", output?.isError === true];
  const title = `**Result of** ${formatCode(name)}${failed ? ", **failed**" : ""}${mark}`;
  if (results === "none") return failed || mark !== "" ? [title] : [];
  const isRead = call !== undefined && !failed && findCallFiles(call).every(({ isChanged }) => !isChanged);
  const language = isRead ? findLanguage(call) : "";
  if (results === "full") return [title, ...(output ? [fenceText(text, language)] : []), ...others];
  const fence = fenceText(shortenLines(text, RESULT_BOUNDS), language);
  const lines = countLines(text);
  if (output === undefined || (lines <= SHORT_RESULT && text.length <= RESULT_BOUNDS.maxLineLength))
    return [title, ...(output ? [fence] : []), ...others];
  const summary = `Result of ${formatHtmlCode(name)}${failed ? ", <b>failed</b>" : ""}: ${formatCounted(lines, "line")}`;
  return [...(mark === "" ? [] : [title]), foldText(summary, fence), ...others];
}

function countLines(text: string): number {
  return text.trimEnd().split("\n").length;
}

function shortenPart(part: ContentPart, { results }: Around): ContentPart {
  return "text" in part ? { ...part, text: shorten(part.text, INSTRUCTION_BOUNDS, results) } : part;
}

function shorten(text: string, bounds: LineBounds, results: ResultDetail): string {
  return results === "full" ? text : shortenLines(text, bounds);
}

const SYSTEM = "System";

/** Formats the heading of an entry; undefined if a transcript omits it. */
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

/** Formats a part of an entry's content. Omits data stored by programs. */
function layOutPart(part: ContentPart, { results, withImages }: Around): string | string[] {
  switch (part.kind) {
    case "text":
      return adoptMarkdown(part.text);
    case "thinking":
      return part.isRedacted
        ? []
        : foldText("Thinking", adoptMarkdown(shorten(part.text, THINKING_BOUNDS, results)));
    case "image": {
      const address = withImages ? toImageAddress(part) : undefined;
      return address === undefined ? `*Image: ${escapeMarkdown(formatImage(part))}*` : `![image](${address})`;
    }
    case "call":
      return layOutCall(part, results === "full" ? undefined : CALL_BOUNDS);
    case "output":
      return layOutOutput(part, results);
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

function layOutOutput({ of, title: name, text }: OutputPart, results: ResultDetail): string[] {
  const front = of === "command" ? fenceText(name, "bash") : `**${escapeMarkdown(name)}**`;
  if (text === "" || (of === "command" && results === "none")) return [front];
  if (of === "section" || results === "full" || countLines(text) <= SHORT_RESULT)
    return [front, fenceText(text)];
  const output = foldText(
    `Output: ${formatCounted(countLines(text), "line")}`,
    fenceText(shortenLines(text, RESULT_BOUNDS)),
  );
  return [front, output];
}

function formatStoredTokens(tokens: unknown): string {
  return typeof tokens === "number" && tokens > 0
    ? `: the context had ${formatCount(tokens)} tokens before`
    : "";
}
