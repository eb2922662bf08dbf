import { PassThrough, Writable } from "node:stream";
import { vi } from "vitest";
import type { CliTerminal } from "../../../../src/apps/cli/io.ts";
import { PATIENCE_MS } from "../../../support/patience.ts";

/** A terminal that records its screen. */
export class FakeTerminal implements CliTerminal {
  readonly input = new PassThrough();
  readonly output: Writable & { columns: number; rows: number };
  /** Whether keys arrive one at a time, after each change. */
  readonly rawModes: boolean[] = [];
  /** All output. */
  written = "";

  constructor(columns = 80, rows = 24) {
    const write = (piece: unknown, _: unknown, done: () => void) => {
      this.written += String(piece);
      done();
    };
    this.output = Object.assign(new Writable({ write }), { columns, rows });
    Object.assign(this.input, { setRawMode: (isRaw: boolean) => this.rawModes.push(isRaw) });
  }

  /** The visible lines, without colors. */
  get lines(): string[] {
    const drawn = this.written.split("\u001b[H").at(-1) ?? "";
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the class parses control characters
    return drawn.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "").split("\r\n");
  }

  press(keys: string): void {
    this.input.write(keys);
  }

  /** Waits until a text is visible. */
  async shows(text: string | RegExp): Promise<void> {
    await vi.waitUntil(
      () => this.lines.some((line) => (typeof text === "string" ? line.includes(text) : text.test(line))),
      { timeout: PATIENCE_MS, interval: 10 },
    );
  }
}

/** A terminal that was closed. */
export function endedTerminal(): FakeTerminal {
  const terminal = new FakeTerminal();
  terminal.input.end();
  return terminal;
}
