import { toRecord } from "../context/entry-fields.ts";
import { getMessageParts } from "../context/message-parts.ts";
import type { JsonRecord } from "../format/json.ts";
import { toPlainLine, toShortLine, withoutMarkdown } from "./plain-text.ts";
import { getMessageText } from "./session-facts.ts";
import { formatDateAndTime } from "./times.ts";
import type { ViewSource } from "./tool-calls.ts";
import { readUserText } from "./user-text.ts";

/** Stands for a title where a session has neither name, prompt, file, nor time. */
const UNTITLED = "(untitled)";

/** How files are called that nobody has named: by time and id. */
const FILE_OF_ID = /^\d{4}-\d{2}-\d{2}T[\d-]+Z?_/;

/** The text that a session is called by if it has no name, as far as its entries were read. */
export interface Opening {
  /** One harmless line; empty if there is none so far. */
  readonly text: string;
  /**
   * What the text is: `none` so far, a `command` of the program, a prompt that nothing `open` follows yet, one that was `aborted`
   * without an answer, or the one that stays: `settled`.
   */
  readonly state: OpeningState;
}

/** The states of an opening. */
export const OPENING_STATES = ["none", "command", "open", "aborted", "settled"] as const;
type OpeningState = (typeof OPENING_STATES)[number];

const NO_OPENING: Opening = { text: "", state: "none" };

/**
 * Finds the first prompt of a session, entry by entry in file order: no context that a program added, no prompt that was aborted
 * without an answer if another one follows, and a command with a slash only if there is no prompt.
 */
export class OpeningFinder {
  #opening: Opening;

  /** @param before - What was found in all earlier entries. */
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

  /** Whether the opening is a prompt of which it is open whether it was answered: answers and notes tell. */
  get isOpen(): boolean {
    return this.#opening.state === "open";
  }

  /** Reads an entry; only messages and custom messages tell. */
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
    // A second prompt adds to one that is not answered yet.
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

/** Entries that are read first to find an opening, and by how much each further step grows. */
const FIRST_STEP = 8;
const STEP_GROWTH = 4;

/**
 * Finds how a session opens that is read anyway.
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

/** Where the entries of a session are read. */
type OpeningSource = Pick<ViewSource, "readEntries"> & {
  readonly tree: Pick<ViewSource["tree"], "size" | "typeAt">;
};

/** Types of entries that tell how a session opens. */
export const OPENING_TYPES: ReadonlySet<string> = new Set(["message", "custom_message"]);

/** Tells whether an answer was aborted before it said anything. */
function isAbortedAnswer(message: JsonRecord): boolean {
  if (message["stopReason"] !== "aborted") return false;
  return getMessageParts(message).every(
    (part) => part.kind !== "toolCall" && (part.kind !== "text" || part.text.trim() === ""),
  );
}

function toTitleLine(text: string): string {
  return toShortLine(withoutMarkdown(text));
}

/** What a session can be called by. */
export interface TitleFacts {
  /** Absent or empty if it has none. */
  readonly name?: string | null | undefined;
  /** How it opens; default: what the first message tells alone. */
  readonly opening?: Opening | undefined;
  /** Text of the first user message, or how it begins; absent or empty if there is none. */
  readonly firstMessage?: string | null | undefined;
  /** Name of its file, without the folder. */
  readonly fileName?: string | undefined;
  /** When it was begun, in Unix milliseconds. */
  readonly createdMs?: number | null | undefined;
}

/**
 * Returns what a session is called wherever people see it, as a harmless line: its name, else its first prompt, else the command
 * with a slash that it begins with, else the name of its file or when it was begun.
 */
export function getSessionTitle(facts: TitleFacts): string {
  const { name, opening, firstMessage, fileName = "", createdMs } = facts;
  const begun = opening?.text ?? toTitleLine(readUserText(firstMessage ?? "").text);
  return toPlainLine(name ?? "") || begun || nameByFile(fileName) || nameByTime(createdMs ?? Number.NaN);
}

/** Returns the whole text of the first message if a title is how that begins; undefined if it was made of anything else. */
export function findTitleText(title: string, firstMessage: string): string | undefined {
  const { text } = readUserText(firstMessage);
  return text !== "" && toTitleLine(text) === title ? text : undefined;
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
