import { once } from "node:events";
import { EXIT_CODES, type ExitCode } from "./exit-codes.ts";
import { isClosedPipe } from "./output.ts";
import { run } from "./run.ts";

const { stdin, stdout, stderr, env } = process;

/** Program that opens a file as a double-click would, by platform; `xdg-open` on all other platforms. */
const OPENERS: { readonly [platform: string]: string } = { darwin: "open", win32: "explorer" };

/** Runs this process's command line, and returns its exit code. */
export async function runMain(): Promise<ExitCode> {
  stdout.on("error", (error) => {
    // The reader has stopped reading, which is not a failure.
    if (isClosedPipe(error)) process.exit();
    stderr.write(`sessiontree: Cannot write the output: ${error.message}.\n`);
    process.exit(EXIT_CODES.failed);
  });
  stderr.on("error", () => process.exit(EXIT_CODES.failed));
  if (process.argv.includes("--hook")) await optimizeLate();
  const deadline = process.argv[2] === "recall" ? limitTime() : undefined;
  return run(process.argv.slice(2), {
    stdin,
    stdout,
    stderr,
    env,
    cwd: process.cwd(),
    ...(stdin.isTTY &&
      stderr.isTTY && { ask: askOnStderr, terminal: { input: stdin, output: stderr }, open: openFile }),
    untilInterrupted: makeInterruptSignal,
    again: runAgain,
    ...(deadline && { deadline }),
  });
}

/** Milliseconds after Node starts before a hook exits without an answer, unless the environment sets another value. */
const HOOK_MS = 420;

/** Milliseconds before that deadline when a hook answers with what it has found. */
const ANSWERING_MS = 200;

/**
 * Limits how long an agent waits for its hook.
 *
 * Work is done in slices of a few milliseconds, so that these timers fire on time during any search.
 *
 * @returns Signal that aborts when it is time to answer.
 */
function limitTime(): AbortSignal {
  const passedMs = Math.round(performance.now() - performance.nodeTiming.bootstrapComplete);
  const leftMs = (Number(env["SESSIONTREE_HOOK_MS"]) || HOOK_MS) - passedMs;
  setTimeout(() => process.exit(EXIT_CODES.ok), Math.max(0, leftMs)).unref();
  return AbortSignal.timeout(Math.max(0, Math.round(leftMs - ANSWERING_MS)));
}

/** Makes Node 20's engine optimize less, because a hook ends before optimization pays off. Later versions lack the flag. */
async function optimizeLate(): Promise<void> {
  if (!process.versions.node.startsWith("20.")) return;
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--interrupt-budget=1000000");
}

/** Opens a file in the desktop's default program for it, without waiting for that program. */
async function openFile(path: string): Promise<boolean> {
  const { spawn } = await import("node:child_process");
  const opener = spawn(OPENERS[process.platform] ?? "xdg-open", [path], { detached: true, stdio: "ignore" });
  return new Promise((resolve) => {
    opener.once("error", () => resolve(false));
    opener.once("spawn", () => {
      opener.unref();
      resolve(true);
    });
  });
}

/**
 * Writes a question to stderr, so that stdout can be redirected, and reads the answer; returns an empty string if there is no
 * answer.
 */
async function askOnStderr(question: string): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    // An interrupt or the end of the input closes the interface without an answer.
    return await Promise.race([lines.question(question), once(lines, "close").then(() => "")]);
  } catch (error) {
    // In some versions of Node, an interrupt also aborts the question. The next output begins on a new line.
    if (!(error instanceof Error && error.name === "AbortError")) throw error;
    stderr.write("\n");
    return "";
  } finally {
    lines.close();
  }
}

/** Runs this command line again in a detached process. */
async function runAgain(input: string): Promise<void> {
  const { spawn } = await import("node:child_process");
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    windowsHide: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.stdin.once("error", reject);
    child.stdin.end(input, resolve);
  });
  child.unref();
}

function makeInterruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => controller.abort());
  return controller.signal;
}
