#!/usr/bin/env node
import module from "node:module";
import { join } from "node:path";
import { getCacheFolder } from "../../session/files/user-folders.ts";

keepCompiledCode();
// Loaded only now, since it is for this code that the cache is kept.
process.exitCode = (await answerCompletion()) ?? (await (await import("./main.ts")).runMain());

/** Answers a shell that completes a command line; gives undefined if somebody else runs the program. */
async function answerCompletion(): Promise<number | undefined> {
  const { stdout, stderr, env } = process;
  const [, , command, ...given] = process.argv;
  if (command !== "completion") return undefined;
  const { answerShell } = await import("./completion/answer-shell.ts");
  return answerShell(given, { stdout, stderr, env, cwd: process.cwd() });
}

/**
 * Has Node keep what it compiles for the next start, where it can do so: from version 22.8 on. Not for a redaction: what Node keeps
 * may hold strings of the run, and then the text that was to be removed.
 */
function keepCompiledCode(): void {
  if (process.argv[2] === "redact") return;
  if (!("enableCompileCache" in module) || typeof module.enableCompileCache !== "function") return;
  // A folder that somebody names for all programs goes before ours.
  if (process.env["NODE_COMPILE_CACHE"]) return;
  module.enableCompileCache(join(getCacheFolder(), "compiled"));
}
