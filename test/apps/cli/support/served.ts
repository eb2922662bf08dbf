import { onTestFinished } from "vitest";
import { type CliResult, type CliSettings, cli } from "./cli.ts";

/** A `view` that serves pages. */
export interface Served {
  /** Its output: the address of the page. */
  readonly url: string;
  /** Interrupts the command, and returns its result. */
  stop(): Promise<CliResult>;
}

/** Runs a `view` that serves pages, until the test ends or stops it. */
export async function serve(args: readonly string[], settings: CliSettings = {}): Promise<Served> {
  const interruption = new AbortController();
  let done: Promise<CliResult> | undefined;
  const url = await new Promise<string>((resolve, reject) => {
    done = cli(["view", ...args], {
      ...settings,
      onOutput: (text) => resolve(text.trim()),
      untilInterrupted: () => interruption.signal,
    });
    done.then(({ stderr }) => reject(new Error(`It ended: ${stderr}`)), reject);
  });
  const stop = async () => {
    interruption.abort();
    if (done === undefined) throw new Error("It has not started.");
    return done;
  };
  onTestFinished(async () => {
    await stop();
  });
  return { url, stop };
}
