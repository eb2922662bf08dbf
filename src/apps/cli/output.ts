import pc from "picocolors";
import { toPlainJson, toPlainLine } from "../../core/facts/plain-text.ts";
import { encodeParsed } from "../../core/jsonl/encode.ts";
import type { CliIo, CliStream } from "./io.ts";
import { measureWidth, wrapText } from "./text/width.ts";

/** Functions that color text, or return it unchanged. */
export type Colors = ReturnType<typeof pc.createColors>;

/** Number of columns if no terminal reports its width. */
const DEFAULT_WIDTH = 80;

/** Minimum width for laying out output. */
const MIN_WIDTH = 40;

/** Command in a sentence; never broken across lines, so that it can be copied. */
const COMMAND = /"sessiontree [^"]*"|`sessiontree [^`]*`/g;

/** Placeholder for a space at which a line must not break: a one-column character that does not occur in our messages. */
const HELD_SPACE = "\ue000";

const PIECE = 64 * 1024;

/** Error thrown when the reader has closed the output: a reason to stop, but not a failure. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

/** Output of a command: text for people and JSON for programs, in the available columns and colors. */
export class Output {
  /** Number of columns of the terminal, or as set in the environment. */
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

  /** Whether lines are laid out for people, as on a terminal; in a pipe, each line is complete. */
  get isLaidOut(): boolean {
    return this.#isLaidOut;
  }

  /** Maximum width of a line; infinite in a pipe, where nothing is wrapped or shortened. */
  get width(): number {
    return this.#isLaidOut ? this.columns : Number.POSITIVE_INFINITY;
  }

  /** Lays out lines for people, even in a pipe. */
  layOut(): void {
    this.#isLaidOut = true;
  }

  /** Writes a line; its text must be safe to print. */
  line(text = ""): void {
    this.text(`${text}\n`);
  }

  /** Writes a sentence, wrapped on a terminal; keeps paths and commands whole, so that they can be copied. */
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

  /** Writes a value of any depth as one line of JSON. */
  json(value: unknown): void {
    this.line(toPlainJson(encodeParsed(value)));
  }

  /** Writes a path: unchanged for programs, and as safe text on a terminal. */
  path(path: string): void {
    this.line(this.#stream.isTTY === true ? toPlainLine(path) : path);
  }

  text(text: string): void {
    this.#pending.push(text);
    this.#pendingLength += text.length;
    if (this.#pendingLength >= PIECE) this.flush();
  }

  /** Writes the buffered output; throws `OutputClosed` if the reader has closed it. */
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

/** Returns whether an error means that the reader has closed the pipe. */
export function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

function countColumns(stream: CliStream, env: CliIo["env"]): number {
  if (stream.isTTY && stream.columns !== undefined && stream.columns > 0) return stream.columns;
  const stated = Number(env["COLUMNS"]);
  return Number.isInteger(stated) && stated > 0 ? stated : DEFAULT_WIDTH;
}

/**
 * Returns whether to use colors: NO_COLOR disables and FORCE_COLOR enables them; by default, only a terminal that is not "dumb"
 * has them.
 */
function hasColors(stream: CliStream, env: CliIo["env"]): boolean {
  if (env["NO_COLOR"]) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}
