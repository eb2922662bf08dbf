import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { headOf, textOf } from "../../../core/context/message-parts.ts";
import { type ContentPart, contentOf, type OutputPart } from "../../../core/facts/entry-content.ts";
import { excerptOf } from "../../../core/facts/excerpt.ts";
import { imageAddress } from "../../../core/facts/images.ts";
import { count, counted } from "../../../core/facts/number-text.ts";
import { dateAndTime, span } from "../../../core/facts/times.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { kindOf } from "../../text/entry-kind.ts";
import { imageText, prettyJson } from "../../text/stored-values.ts";
import { adopted, code, escaped, fenced, folded } from "./markdown-text.ts";
import { type ExportSource, numberedEntries } from "./source.ts";

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
export function* markdown(source: ExportSource): Generator<string, void> {
  const { session, leaf, withImages } = source;
  const path = session.tree.path(leaf);
  yield `${heading(source, path)}\n`;
  let turn = 0;
  for (const { ordinal, entry } of numberedEntries(session, path)) {
    const label = session.labels.get(session.tree.idAt(ordinal))?.label;
    const mark = label === undefined ? "" : ` \\[${escaped(label)}\\]`;
    const time = dateAndTime(session.tree.timeAt(ordinal));
    if (kindOf(entry).tone === "user") turn++;
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

interface Around {
  /** Number of the turn, from 1; 0 before the first. */
  readonly turn: number;
  /** The label in force, ready for a heading. */
  readonly mark: string;
  readonly time: string;
  readonly withImages: boolean;
}

/** Returns the paragraphs that an entry becomes; none if it has no position in a transcript. */
function entryBlocks(entry: AnySessionEntry | undefined, around: Around): string[] {
  const { parts } = contentOf(entry);
  const mention = MENTIONED.get(entry?.type ?? "");
  if (mention !== undefined) return [`*${mention}: ${escaped(excerptOf(entry).text)}*${around.mark}`];
  const heading = headingOf(entry, parts, around);
  const said = parts.flatMap((part) => partText(part, around.withImages)).filter((text) => text !== "");
  if (heading === undefined) return entry === undefined ? said : [];
  return heading === SYSTEM ? [folded(heading, said.join("\n\n"))] : [heading, ...said];
}

const SYSTEM = "System";

/** Writes the line above what an entry says; undefined if that is left out of a transcript. */
function headingOf(
  entry: AnySessionEntry | undefined,
  parts: readonly ContentPart[],
  around: Around,
): string | undefined {
  const fields = fieldsOf(entry);
  switch (entry?.type) {
    case "message":
      return headingOfMessage(fieldsOf(fields["message"]), parts, around);
    case "custom_message":
      return title(3, `Message of ${code(textOf(fields["customType"]))}`, around);
    case "compaction":
      return title(2, `Compaction${tokensText(fields["tokensBefore"])}`, around);
    case "branch_summary":
      return title(2, "Summary of another branch", around);
    default:
      return undefined;
  }
}

function headingOfMessage(message: JsonRecord, parts: readonly ContentPart[], around: Around): string {
  const text = (name: string) => textOf(message[name]);
  switch (message["role"]) {
    case "user":
      return title(2, `${around.turn}. User`, around);
    case "assistant":
      return title(3, "Assistant", around, text("model"));
    case "toolResult":
      return `**Result of** ${code(text("toolName"))}${message["isError"] === true ? ", **failed**" : ""}${around.mark}`;
    case "bashExecution": {
      const notes = parts.flatMap((part) => (part.kind === "output" ? part.notes : []));
      return [title(3, "Command", around), ...notes.map((note) => `**${note}**`)].join(", ");
    }
    case "system":
      return SYSTEM;
    case "custom":
      return title(3, `Message of ${code(text("customType"))}`, around);
    default:
      return title(3, escaped(text("role") || "Message"), around);
  }
}

function title(level: number, text: string, { mark, time }: Around, by = ""): string {
  const facts = [text + mark, by === "" ? "" : escaped(by), time].filter(Boolean);
  return `${"#".repeat(level)} ${facts.join(" · ")}`;
}

/** Lays out a part of what an entry says. What programs stored is left out. */
function partText(part: ContentPart, withImages: boolean): string | string[] {
  switch (part.kind) {
    case "text":
      return adopted(part.text);
    case "thinking":
      return part.isRedacted ? [] : folded("Thinking", adopted(part.text));
    case "image": {
      const address = withImages ? imageAddress(part) : undefined;
      return address === undefined ? `*Image: ${escaped(imageText(part))}*` : `![image](${address})`;
    }
    case "call":
      return [`**Call of** ${code(part.name)}`, fenced(prettyJson(part.input ?? null), "json")];
    case "output":
      return outputText(part);
    case "data":
      return [];
    case "note":
      return `*${escaped(part.text)}*`;
    case "failure": {
      const text = escaped(headOf(part.text, LONGEST_FAILURE));
      return part.of === "failed" ? `**Failed:** ${text}` : `*${text}*`;
    }
  }
}

function outputText({ of, title: name, text }: OutputPart): string[] {
  if (of === "tool") return [fenced(text)];
  const front = of === "command" ? fenced(name, "sh") : `**${escaped(name)}**`;
  return text === "" ? [front] : [front, fenced(text)];
}

function tokensText(tokens: unknown): string {
  return typeof tokens === "number" && tokens > 0 ? `: the context had ${count(tokens)} tokens before` : "";
}
