import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll } from "vitest";
import { getCurrentTest } from "vitest/suite";
import { IS_WINE } from "../../support/platform.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { bundle } from "./bundle.ts";

/** Child process that performs one task of its program. */
export interface Child {
  readonly process: ChildProcess;
  /** Values that it has reported so far. */
  readonly said: readonly unknown[];
  /** Resolves with the next reported value; undefined if it ends before. */
  hear(): Promise<unknown>;
  /** Sends it the signal to continue. */
  tell(): void;
  /** Closes its input. */
  dismiss(): void;
  /** Resolves when it has ended: with 0, another code, or the signal that killed it. Rejects with its error output. */
  ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts child processes quickly: their program is bundled once for the test file. */
export class Children {
  #program = "";

  /** @param program - Below `test`; its first argument is a task. */
  constructor(program = "fault/support/child.ts") {
    let folder: string;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "sessiontree-child-"));
      this.#program = join(folder, "child.mjs");
      await bundle(program, this.#program);
    });
    afterAll(() => removeFolder(folder));
  }

  /** Starts a child. */
  start(task: string, args: readonly string[], nodeOptions: readonly string[] = []): Child {
    if (IS_WINE) getCurrentTest()?.context.skip("the pipes of child processes do not work here");
    const child = spawn(process.execPath, [...nodeOptions, this.#program, task, ...args], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    const said: unknown[] = [];
    let waiting: ((value: unknown) => void)[] = [];
    let heard = 0;
    let errors = "";
    child.stderr.on("data", (data) => {
      errors += data;
    });
    // A killed child no longer reads its input.
    child.stdin.on("error", () => undefined);
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => {
      said.push(JSON.parse(line));
      waiting.shift()?.(said[heard++]);
    });
    lines.on("close", () => {
      for (const resolve of waiting) resolve(undefined);
      waiting = [];
    });
    const ended = Promise.all([once(child, "exit"), once(lines, "close")]).then(([[code, signal]]) => {
      if (code !== null && code !== 0) throw new Error(`a child ended with ${code}: ${errors}`);
      return signal ?? code;
    });
    return {
      process: child,
      said,
      hear: () =>
        new Promise((resolve) => {
          if (heard < said.length) resolve(said[heard++]);
          else if (child.stdout.readableEnded) resolve(undefined);
          else waiting.push(resolve);
        }),
      tell: () => child.stdin.write("go\n"),
      dismiss: () => child.stdin.end(),
      ended,
    };
  }

  /** Runs a child to its end and returns the reported values. */
  async run(
    task: string,
    args: readonly string[],
    nodeOptions?: readonly string[],
  ): Promise<readonly unknown[]> {
    const child = this.start(task, args, nodeOptions);
    await child.ended;
    return child.said;
  }
}
