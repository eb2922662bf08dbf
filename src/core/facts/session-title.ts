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

/** File names derived from time and id, as opposed to names given by a user. */
const FILE_OF_ID = /^\d{4}-\d{2}-\d{2}T[\d-]+Z?_/;

const NO_OPENING: Opening = { text: "", state: "none" };

/**
 * Finds the first prompt of a session, from its entries in file order.
 *
 * Skips context added by programs. Uses a prompt that was aborted without an answer only if no other prompt follows, and a slash
 * command without a task only if there is no prompt.
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

  /** Whether no later entry changes the opening. */
  get isSettled(): boolean {
    return this.#opening.state === "settled";
  }

  /** Whether the opening is a prompt that may still be answered or aborted; messages and custom messages decide. */
  get isOpen(): boolean {
    return this.#opening.state === "open";
  }

  /** Reads an entry; ignores all but messages and custom messages. */
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
    // A second prompt is an addition to an unanswered one.
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

/** Number of entries read first to find an opening, and growth factor of each further step. */
const FIRST_STEP = 8;
const STEP_GROWTH = 4;

/**
 * Finds the opening of a session that is already being read.
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

/** Facts from which a session's title is made. */
export interface TitleFacts {
  /** Absent or empty if the session has no name. */
  readonly name?: string | null | undefined;
  /** Opening of the session; default: derived from the first message alone. */
  readonly opening?: Opening | undefined;
  /** Text of the first user message, or its beginning; absent or empty if there is none. */
  readonly firstMessage?: string | null | undefined;
  /** Name of the session's file, without the folder. */
  readonly fileName?: string | undefined;
  /** Time of creation, in Unix milliseconds. */
  readonly createdMs?: number | null | undefined;
}

/**
 * Returns the title of a session as one safe line, for every place where people see it: its name; else its first prompt; else the
 * slash command at its beginning; else the name of its file, or its time of creation.
 */
export function getSessionTitle(facts: TitleFacts): string {
  const { name, opening, firstMessage, fileName = "", createdMs } = facts;
  const begun = opening?.text ?? toTitleLine(getTypedText(firstMessage ?? ""));
  return toPlainLine(name ?? "") || begun || nameByFile(fileName) || nameByTime(createdMs ?? Number.NaN);
}

/** Returns the complete text of the first message if the title is its beginning; undefined if the title has another source. */
export function findTitleText(title: string, firstMessage: string): string | undefined {
  const text = getTypedText(firstMessage);
  return text !== "" && toTitleLine(text) === title ? text : undefined;
}

/** Returns the typed text of a first message, which stores cut. */
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

/** Returns the last folder of a path of any system; empty if there is none. */
export function getFolderName(cwd: string): string {
  return cwd.split(/[/\\]/).findLast(Boolean) ?? "";
}
