import { createInterface, emitKeypressEvents, type Interface, type Key } from "node:readline";
import { PassThrough } from "node:stream";
import type { CliTerminal } from "../io.ts";

/** Listener for events of a terminal. */
export interface ScreenListener {
  /** Called when a key is pressed, with the text that it types and its description. */
  key(text: string | undefined, key: Key): void;
  resized(): void;
  /** Called when the input has ended. */
  ended(): void;
}

/** Size of a terminal that does not report one. */
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/** Sequences to enter and leave the alternate screen without a cursor; leaving restores the previous content. */
const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[2K";
const CLEAR_BELOW = "\r\n\u001b[J";

/** Signals that end a program immediately. */
const SIGNALS = ["SIGTERM", "SIGHUP"] as const;

/** Milliseconds after which an escape is treated as a key rather than the beginning of a sequence. */
const ESCAPE_MS = 50;

/**
 * Full-screen terminal: draws on the alternate screen, and receives individual keys.
 *
 * Based on Node's readline, because @clack/core prompts end at every escape, close their input at ctrl-d, and redraw only when a
 * key is pressed.
 */
export class FullScreen {
  readonly #terminal: CliTerminal;
  readonly #listener: ScreenListener;
  /** Reads no input; it only provides the timeout for escape sequences. */
  readonly #timing: Interface;
  #isOpen = true;

  /** Enters full-screen mode; the caller must call `close`. On exit and on signals, it closes automatically. */
  constructor(terminal: CliTerminal, listener: ScreenListener) {
    this.#terminal = terminal;
    this.#listener = listener;
    this.#timing = createInterface({ input: new PassThrough(), escapeCodeTimeout: ESCAPE_MS });
    const { input, output } = terminal;
    emitKeypressEvents(input, this.#timing);
    input.on("keypress", this.#pressed);
    input.on("end", this.#ended);
    output.on("resize", this.#resized);
    process.on("exit", this.#exited);
    for (const signal of SIGNALS) process.on(signal, this.#signalled);
    input.setRawMode?.(true);
    input.resume();
    output.write(ENTER);
  }

  get columns(): number {
    return this.#terminal.output.columns || DEFAULT_COLUMNS;
  }

  get rows(): number {
    return this.#terminal.output.rows || DEFAULT_ROWS;
  }

  /** Draws the given lines from the top, and clears the rest; the lines must fit. */
  draw(lines: readonly string[]): void {
    if (!this.#isOpen) return;
    const text = lines.map((line) => CLEAR_LINE + line).join("\r\n");
    // After a full line, the cursor is still on its last character, which must not be cleared.
    this.#terminal.output.write(HOME + text + (lines.length < this.rows ? CLEAR_BELOW : ""));
  }

  /** Restores the terminal. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { input, output } = this.#terminal;
    input.off("keypress", this.#pressed);
    input.off("end", this.#ended);
    output.off("resize", this.#resized);
    process.off("exit", this.#exited);
    for (const signal of SIGNALS) process.off(signal, this.#signalled);
    input.setRawMode?.(false);
    input.pause();
    this.#timing.close();
    output.write(LEAVE);
  }

  readonly #pressed = (text: string | undefined, key: Key): void => this.#listener.key(text, key);
  readonly #resized = (): void => this.#listener.resized();
  readonly #ended = (): void => this.#listener.ended();
  readonly #exited = (): void => this.close();

  readonly #signalled = (signal: NodeJS.Signals): void => {
    this.close();
    // With no listener left, the signal ends the program.
    process.kill(process.pid, signal);
  };
}
