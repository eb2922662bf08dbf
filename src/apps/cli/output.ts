import pc from "picocolors";
import { toPlainJson, toPlainLine } from "../../core/facts/plain-text.ts";
import { encodeParsed } from "../../core/jsonl/encode.ts";
import type { CliIo, CliStream } from "./io.ts";
import { measureWidth, wrapText } from "./text/width.ts";

/** Functions that color a text, or leave it as it is. */
export type Colors = ReturnType<typeof pc.createColors>;

/** Columns where no terminal says how many there are. */
const DEFAULT_WIDTH = 80;

/** Narrower than this nothing can be laid out. */
const MIN_WIDTH = 40;

/** A command in a sentence, to be copied whole. */
const COMMAND = /"sessiontree [^"]*"|`sessiontree [^`]*`/g;

/** Stands for a space at which no line ends: a character that no text of ours has, one column wide. */
const HELD_SPACE = "\ue000";

const PIECE = 64 * 1024;

/** The reader of the output is gone: the reason to stop, and no failure. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

/** Where a command writes to: text for people and JSON for programs, in as many columns and colors as there are. */
export class Output {
  /** Columns of the terminal, or those that the environment asks for. */
  readonly columns: number;
  readonly colors: Colors;
  readonly #stream: CliStream;
  #isLaidOut: boolean;
  #pending: string[] = [];
  #pendingLength = 0;

  constructor(stream: CliStream, env: CliIo["env"]) {
    this.#stream = stream;
    this.columns = Math.max(MIN_WIDTH, countColumns(stream, env));
    this.#isLaidOut = stream.isTTY === true;
    this.colors = pc.createColors(hasColors(stream, env));
  }

  /** Whether lines are laid out for a person to read, as on a terminal; in a pipe each is whole. */
  get isLaidOut(): boolean {
    return this.#isLaidOut;
  }

  /** Columns that a line may take; infinite in a pipe, where nothing is wrapped or shortened. */
  get width(): number {
    return this.#isLaidOut ? this.columns : Number.POSITIVE_INFINITY;
  }

  /** Lays lines out for a person to read, even in a pipe. */
  layOut(): void {
    this.#isLaidOut = true;
  }

  /** Writes a line; its text must be harmless already. */
  line(text = ""): void {
    this.text(`${text}\n`);
  }

  /** Writes a sentence, on a terminal in lines that fit; paths and commands in it stay whole, so that they can be copied. */
  prose(text: string, paint: (line: string) => string = String): void {
    if (!this.#isLaidOut || measureWidth(text) <= this.width) {
      this.line(paint(text));
      return;
    }
    const [, sentence, command] = /^(.*:) (sessiontree .*)$/.exec(text) ?? [];
    const held = (sentence ?? text).replace(COMMAND, (one) => one.replaceAll(" ", HELD_SPACE));
    for (const line of wrapText(held, this.width, false)) this.line(paint(line.replaceAll(HELD_SPACE, " ")));
    if (command !== undefined) this.line(paint(`  ${command}`));
  }

  /** Writes a value as JSON, however deep it is, on a line of its own. */
  json(value: unknown): void {
    this.line(toPlainJson(encodeParsed(value)));
  }

  /** Writes a path: as it is for a program, and harmless where a terminal shows it. */
  path(path: string): void {
    this.line(this.#stream.isTTY === true ? toPlainLine(path) : path);
  }

  text(text: string): void {
    this.#pending.push(text);
    this.#pendingLength += text.length;
    if (this.#pendingLength >= PIECE) this.flush();
  }

  /** Hands on what was collected; throws `OutputClosed` if the reader is gone. */
  flush(): void {
    if (this.#pending.length === 0) return;
    const text = this.#pending.join("");
    this.#pending = [];
    this.#pendingLength = 0;
    if (this.#stream.writable === false) throw new OutputClosed();
    try {
      this.#stream.write(text);
    } catch (error) {
      if (isClosedPipe(error)) throw new OutputClosed();
      throw error;
    }
  }
}

/** Tells whether an error says that the reader of a pipe is gone. */
export function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

function countColumns(stream: CliStream, env: CliIo["env"]): number {
  if (stream.isTTY && stream.columns !== undefined && stream.columns > 0) return stream.columns;
  const stated = Number(env["COLUMNS"]);
  return Number.isInteger(stated) && stated > 0 ? stated : DEFAULT_WIDTH;
}

/** NO_COLOR forbids, FORCE_COLOR commands, else it depends on who is looking. */
function hasColors(stream: CliStream, env: CliIo["env"]): boolean {
  if (env["NO_COLOR"]) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}
