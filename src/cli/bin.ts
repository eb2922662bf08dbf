#!/usr/bin/env node
import { EXIT_CODES } from "./exit-codes.ts";
import { isClosedPipe } from "./output.ts";
import { run } from "./run.ts";

const { stdout, stderr, env } = process;

stdout.on("error", (error) => {
  // Whoever read our output has seen enough; that is no failure.
  if (isClosedPipe(error)) process.exit();
  stderr.write(`sessiontree: Cannot write the output: ${error.message}.\n`);
  process.exit(EXIT_CODES.failed);
});
stderr.on("error", () => process.exit(EXIT_CODES.failed));

process.exitCode = await run(process.argv.slice(2), { stdout, stderr, env, cwd: process.cwd() });
