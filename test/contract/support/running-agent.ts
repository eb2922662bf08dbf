import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";

/** How long an agent may take for anything before it counts as hanging. */
const TIMEOUT_MS = 60_000;

/** A program that is spoken to line by line. */
export class RunningAgent {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<unknown[]>;
  #output = "";
  #errors = "";
  /** Where what was waited for last ends in the output. */
  #seen = 0;

  constructor(
    script: string,
    cwd: string,
    env: { readonly [name: string]: string | undefined },
    args: readonly string[] = [],
  ) {
    this.#child = spawn(process.execPath, [script, ...args], { cwd, env });
    this.#ended = once(this.#child, "close");
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#output += text;
    });
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text;
    });
  }

  /** What it has complained about. */
  get errors(): string {
    return this.#errors;
  }

  /** Says a line to it. */
  say(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** Interrupts it as Ctrl+C does. */
  interrupt(): void {
    this.#child.kill("SIGINT");
  }

  /**
   * Waits until it has said something, behind what was waited for before.
   *
   * @returns What it said until then, that included.
   */
  async hear(text: string): Promise<string> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    for (;;) {
      const at = this.#output.indexOf(text, this.#seen);
      if (at >= 0) {
        const said = this.#output.slice(this.#seen, at + text.length);
        this.#seen = at + text.length;
        return said;
      }
      if (signal.aborted || this.#child.exitCode !== null) throw this.#silent(text);
      await Promise.race([once(this.#child.stdout, "data", { signal }).catch(() => undefined), this.#ended]);
    }
  }

  /** Ends its input and waits until it has ended. */
  async end(): Promise<number | null> {
    this.#child.stdin.end();
    await this.#ended;
    return this.#child.exitCode;
  }

  /** Ends it, whatever it is doing. */
  async stop(): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill("SIGKILL");
    await this.#ended;
  }

  #silent(text: string): Error {
    return new Error(`never said ${JSON.stringify(text)}, but:\n${this.#output}\n${this.#errors}`);
  }
}
