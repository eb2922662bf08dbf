import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";

/** Time limit for each step of an agent, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** Program with a line-by-line dialog. */
export class RunningAgent {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<unknown[]>;
  #output = "";
  #errors = "";
  /** End of the text in the output that was awaited last. */
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

  /** Its error output. */
  get errors(): string {
    return this.#errors;
  }

  /** Sends a line to it. */
  say(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** Interrupts it as Ctrl+C does. */
  interrupt(): void {
    this.#child.kill("SIGINT");
  }

  /**
   * Waits until its output contains a text, after the one awaited before.
   *
   * @returns Output up to and including that text.
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

  /** Ends its input and waits for its exit. */
  async end(): Promise<number | null> {
    this.#child.stdin.end();
    await this.#ended;
    return this.#child.exitCode;
  }

  /** Stops it, in any state. */
  async stop(): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill("SIGKILL");
    await this.#ended;
  }

  #silent(text: string): Error {
    return new Error(`never said ${JSON.stringify(text)}, but:\n${this.#output}\n${this.#errors}`);
  }
}
