import { createInterface, emitKeypressEvents, type Interface, type Key } from "node:readline";
import { PassThrough } from "node:stream";
import type { CliTerminal } from "../io.ts";

/** What happens at a terminal. */
export interface ScreenListener {
  /** A key was pressed: what it types, and what it is. */
  key(text: string | undefined, key: Key): void;
  resized(): void;
  /** No key will come any more. */
  ended(): void;
}

/** A terminal that does not say how large it is. */
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/** The second screen of a terminal, without a cursor; what stood in the first comes back with it. */
const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[2K";
const CLEAR_BELOW = "\r\n\u001b[J";

/** Signals that end a program without giving it another turn. */
const SIGNALS = ["SIGTERM", "SIGHUP"] as const;

/** Milliseconds after which an escape is a key and not the beginning of another one. */
const ESCAPE_MS = 50;

/**
 * A terminal that is taken over as a whole: its second screen is drawn on, and its keys come one by one.
 *
 * Made on Node's readline: the prompts of @clack/core end at every escape, close their input at ctrl-d, and draw only
 * when a key is pressed.
 */
export class FullScreen {
  readonly #terminal: CliTerminal;
  readonly #listener: ScreenListener;
  /** Never reads anything: it tells how long an escape is waited for. */
  readonly #timing: Interface;
  #isOpen = true;

  /** Takes the terminal over; the caller must `close`. An exit and signals close by themselves. */
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

  /** Shows these lines from the top, and nothing else; they must fit. */
  draw(lines: readonly string[]): void {
    if (!this.#isOpen) return;
    const text = lines.map((line) => CLEAR_LINE + line).join("\r\n");
    // At the end of a full line the cursor still stands on its last character, which must not be cleared.
    this.#terminal.output.write(HOME + text + (lines.length < this.rows ? CLEAR_BELOW : ""));
  }

  /** Returns the terminal as it was. */
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
    // With no listener left, it ends the program.
    process.kill(process.pid, signal);
  };
}
