#!/usr/bin/env node
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { EXIT_CODES } from "./exit-codes.ts";
import { isClosedPipe } from "./output.ts";
import { openFile } from "./page/open-file.ts";
import { run } from "./run.ts";

const { stdin, stdout, stderr, env } = process;

stdout.on("error", (error) => {
  // Whoever read our output has seen enough; that is no failure.
  if (isClosedPipe(error)) process.exit();
  stderr.write(`sessiontree: Cannot write the output: ${error.message}.\n`);
  process.exit(EXIT_CODES.failed);
});
stderr.on("error", () => process.exit(EXIT_CODES.failed));

process.exitCode = await run(process.argv.slice(2), {
  stdout,
  stderr,
  env,
  cwd: process.cwd(),
  ...(stdin.isTTY && stderr.isTTY && { ask, terminal: { input: stdin, output: stderr }, open: openFile }),
  untilInterrupted,
});

/** Asks on stderr, so that the output can go elsewhere. */
async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    // An interrupt, or the end of the input, closes it without an answer.
    return await Promise.race([lines.question(question), once(lines, "close").then(() => "")]);
  } finally {
    lines.close();
  }
}

function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  process.once("SIGINT", () => controller.abort());
  return controller.signal;
}
