import { spawn } from "node:child_process";
import { constants } from "node:os";
import type { CommandCall } from "./command.ts";
import { EXIT_CODES, type ExitCode } from "./exit-codes.ts";
import { makeWindowsProgram } from "./windows-program.ts";

/** Number that a shell adds to the number of the signal that ended a program. */
const SIGNAL_BASE = 128;

/** Runs a program in a folder, and returns its exit code; warns if it cannot be started. */
export async function startProgram(
  { warn }: Pick<CommandCall, "warn">,
  command: readonly string[],
  cwd: string,
): Promise<ExitCode> {
  try {
    return await runProgram(command, cwd);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    warn(`Cannot run ${command[0]}: ${error.message}. Check its name.`);
    return EXIT_CODES.failed;
  }
}

/**
 * Runs a program without a shell, on our terminal, and returns its exit code or, as in a shell, 128 plus the number of the signal
 * that ended it. Interrupts end only that program.
 */
async function runProgram(command: readonly string[], cwd: string): Promise<number> {
  const { file, args, isQuoted } =
    process.platform === "win32"
      ? makeWindowsProgram(command, process.env)
      : { file: command[0] ?? "", args: command.slice(1), isQuoted: false };
  const stay = () => undefined;
  process.on("SIGINT", stay);
  try {
    return await new Promise((resolve, reject) => {
      spawn(file, args, { cwd, stdio: "inherit", windowsVerbatimArguments: isQuoted })
        .once("error", reject)
        .once("exit", (code, signal) => {
          resolve(signal === null ? (code ?? 0) : SIGNAL_BASE + constants.signals[signal]);
        });
    });
  } finally {
    process.off("SIGINT", stay);
  }
}
