import { spawn } from "node:child_process";
import { constants } from "node:os";

/** Stands for the session's path in a command line. */
const PLACE = "{}";

/** What a shell adds to the number of a signal that ended a program. */
const SIGNAL_BASE = 128;

/** Puts a path into a command line: in each position for it, else at the end. */
export function withPath(command: readonly string[], path: string): string[] {
  const isPlaced = command.some((part) => part.includes(PLACE));
  return isPlaced ? command.map((part) => part.split(PLACE).join(path)) : [...command, path];
}

/**
 * Runs a program without a shell, with our terminal, and waits for its exit code: as of a shell, 128 and the number of a
 * signal that ended it. Interrupts are for it alone.
 */
export async function runProgram([program = "", ...args]: readonly string[], cwd: string): Promise<number> {
  const stay = () => undefined;
  process.on("SIGINT", stay);
  try {
    return await new Promise((resolve, reject) => {
      spawn(program, args, { cwd, stdio: "inherit" })
        .once("error", reject)
        .once("exit", (code, signal) => {
          resolve(signal === null ? (code ?? 0) : SIGNAL_BASE + constants.signals[signal]);
        });
    });
  } finally {
    process.off("SIGINT", stay);
  }
}
