#!/usr/bin/env node
import module from "node:module";
import { join } from "node:path";
import { getCacheFolder } from "../../session/files/user-folders.ts";

keepCompiledCode();
// Loaded only after the cache is enabled, because the cache is meant for this code.
process.exitCode = (await answerCompletion()) ?? (await (await import("./main.ts")).runMain());

/** Answers a shell's request for completions; returns undefined for any other command line. */
async function answerCompletion(): Promise<number | undefined> {
  const { stdout, stderr, env } = process;
  const [, , command, ...given] = process.argv;
  if (command !== "completion") return undefined;
  const { answerShell } = await import("./completion/answer-shell.ts");
  return answerShell(given, { stdout, stderr, env, cwd: process.cwd() });
}

/**
 * Enables Node's compile cache for later runs, if this version of Node supports it (22.8 or later). Leaves it disabled for a
 * redaction, because the cache could contain strings from the run, including the text to be removed.
 */
function keepCompiledCode(): void {
  if (process.argv[2] === "redact") return;
  if (!("enableCompileCache" in module) || typeof module.enableCompileCache !== "function") return;
  // A cache folder that is set in the environment takes precedence.
  if (process.env["NODE_COMPILE_CACHE"]) return;
  module.enableCompileCache(join(getCacheFolder(), "compiled"));
}
