import { toRecord } from "../context/entry-fields.ts";
import { getMessageParts } from "../context/message-parts.ts";
import type { JsonRecord } from "../format/json.ts";
import type { Opening } from "./opening.ts";
import { toPlainLine, toShortLine, withoutMarkdown } from "./plain-text.ts";
import { getMessageText, MAX_FIRST_MESSAGE } from "./session-facts.ts";
import { formatDateAndTime } from "./times.ts";
import type { ViewSource } from "./tool-calls.ts";
import { readUserText } from "./user-text.ts";

/** Title of a session without a name, prompt, file, or time. */
const UNTITLED = "(untitled)";

/** Matches file names derived from a time and id, as opposed to names chosen by a user. */
const FILE_OF_ID = /^\d{4}-\d{2}-\d{2}T[\d-]+Z?_/;

const NO_OPENING: Opening = { text: "", state: "none" };

/**
 * Finds the first prompt of a session, from its entries in file order.
 *
 * Skips context added by programs. A prompt that was aborted without an answer is used only if no other prompt follows, and a
 * slash command without a task only if there is no prompt.
 */
export class OpeningFinder {
  #opening: Opening;

  /** @param before - Opening found in all earlier entries. */
  constructor(before: Opening = NO_OPENING) {
    this.#opening = before;
  }

  get opening(): Opening {
    return this.#opening;
  }

  /** Whether the opening is final, so that later entries cannot change it. */
  get isSettled(): boolean {
    return this.#opening.state === "settled";
  }

  /** Whether the opening is a prompt that may still be answered or aborted, depending on later messages and custom messages. */
  get isOpen(): boolean {
    return this.#opening.state === "open";
  }

  /** Reads an entry. Ignores entries other than messages and custom messages. */
  add(type: string, entry: JsonRecord): void {
    const { message, content } = entry;
    if (type === "message") this.#addMessage(toRecord(message));
    else if (type === "custom_message") this.#addNote(getMessageText({ content }) ?? "");
  }

  #addMessage(message: JsonRecord): void {
    if (this.isSettled) return;
    if (message["role"] === "user") this.#addUserText(getMessageText(message) ?? "");
    else if (message["role"] === "assistant") {
      if (isAbortedAnswer(message)) this.#abort();
      else this.#settle();
    }
  }

  #addNote(text: string): void {
    if (this.isOpen && readUserText(text).kind === "interruption") this.#abort();
  }

  #addUserText(said: string): void {
    const { kind, text } = readUserText(said);
    if (kind === "interruption") this.#abort();
    const line = toTitleLine(text);
    if (line === "") return;
    if (kind === "command" && this.#opening.state === "none")
      this.#opening = { text: line, state: "command" };
    if (kind !== "prompt") return;
    // A second prompt adds to an unanswered one.
    if (this.isOpen) this.#settle();
    else this.#opening = { text: line, state: "open" };
  }

  #settle(): void {
    if (this.isOpen) this.#opening = { ...this.#opening, state: "settled" };
  }

  #abort(): void {
    if (this.isOpen) this.#opening = { ...this.#opening, state: "aborted" };
  }
}

/** Number of entries to read first when searching for an opening, and the growth factor for each subsequent step. */
const FIRST_STEP = 8;
const STEP_GROWTH = 4;

/**
 * Finds the opening of a session that is already open.
 *
 * @remarks Cost: the messages up to the first answer.
 */
export function findOpening(source: OpeningSource): Opening {
  const { tree } = source;
  const finder = new OpeningFinder();
  let [from, step] = [0, FIRST_STEP];
  while (from < tree.size && !finder.isSettled) {
    const end = Math.min(tree.size, from + step);
    const ordinals: number[] = [];
    for (let ordinal = from; ordinal < end; ordinal++)
      if (OPENING_TYPES.has(tree.typeAt(ordinal))) ordinals.push(ordinal);
    source.readEntries(ordinals, (_, entry) => {
      if (entry !== undefined) finder.add(entry.type, toRecord(entry));
    });
    [from, step] = [end, step * STEP_GROWTH];
  }
  return finder.opening;
}

/** Source of a session's entries. */
type OpeningSource = Pick<ViewSource, "readEntries"> & {
  readonly tree: Pick<ViewSource["tree"], "size" | "typeAt">;
};

/** Types of entries that can determine the opening. */
export const OPENING_TYPES: ReadonlySet<string> = new Set(["message", "custom_message"]);

/** Returns whether an answer was aborted before it contained any text or tool call. */
function isAbortedAnswer(message: JsonRecord): boolean {
  if (message["stopReason"] !== "aborted") return false;
  return getMessageParts(message).every(
    (part) => part.kind !== "toolCall" && (part.kind !== "text" || part.text.trim() === ""),
  );
}

function toTitleLine(text: string): string {
  return toShortLine(withoutMarkdown(text));
}

/** Facts from which a session's title is derived. */
export interface TitleFacts {
  /** Name of the session. Absent or empty if it has none. */
  readonly name?: string | null | undefined;
  /** Opening of the session. By default, it is derived only from the first message. */
  readonly opening?: Opening | undefined;
  /** Text of the first user message, or its beginning. Absent or empty if there is none. */
  readonly firstMessage?: string | null | undefined;
  /** Session file name, without the folder. */
  readonly fileName?: string | undefined;
  /** Time of creation, in Unix milliseconds. */
  readonly createdMs?: number | null | undefined;
}

/**
 * Returns the title of a session for display, as one safe line. The title is the first of these that exists: its name, its first
 * prompt, the slash command at its beginning, its file name, or its creation time.
 */
export function getSessionTitle(facts: TitleFacts): string {
  const { name, opening, firstMessage, fileName = "", createdMs } = facts;
  const begun = opening?.text ?? toTitleLine(getTypedText(firstMessage ?? ""));
  return toPlainLine(name ?? "") || begun || nameByFile(fileName) || nameByTime(createdMs ?? Number.NaN);
}

/**
 * Returns the complete text of the first message if the title is its beginning; undefined if the title comes from another source.
 */
export function findTitleText(title: string, firstMessage: string): string | undefined {
  const text = getTypedText(firstMessage);
  return text !== "" && toTitleLine(text) === title ? text : undefined;
}

/** Returns the text that the user typed in a first message, which stores may have truncated. */
function getTypedText(text: string): string {
  return readUserText(text, text.length === MAX_FIRST_MESSAGE).text;
}

function nameByFile(fileName: string): string {
  return FILE_OF_ID.test(fileName) ? "" : toPlainLine(fileName.replace(/\.jsonl$/, ""));
}

function nameByTime(createdMs: number): string {
  const time = formatDateAndTime(createdMs);
  return time === "" ? UNTITLED : `Session of ${time}`;
}

/** Returns the last folder of a path from any operating system; empty if there is none. */
export function getFolderName(cwd: string): string {
  return cwd.split(/[/\\]/).findLast(Boolean) ?? "";
}
