import { formatCount } from "../../core/facts/number-text.ts";
import type { CommandCall } from "./command.ts";
import { Output } from "./output.ts";
import { measureWidth, truncateLine } from "./text/width.ts";

/** Receives the progress of long-running work. */
export type ProgressReport = (done: number, total: number) => void;

/** Milliseconds before progress is first displayed, and between updates; short tasks display nothing. */
const PATIENCE_MS = 300;
const STEP_MS = 80;

const MAX_BAR_WIDTH = 30;
const WIPE = "\r\u001b[K";

/**
 * Runs work that may take a long time, displays its progress on stderr, and finally clears that line.
 *
 * Displays progress only to a person: not with `--json`, and not if stdout or stderr is redirected. (The bar of @clack/prompts
 * takes control of the keyboard and cannot be cleared completely, which is not acceptable in a command that only prints.)
 *
 * @param what - Two or three words before the bar.
 * @param work - Receives a function to report progress to.
 */
export async function withProgress<T>(
  { io, json }: Pick<CommandCall, "io" | "json">,
  what: string,
  work: (report: ProgressReport) => Promise<T>,
): Promise<T> {
  const { stdout, stderr, env, now } = io;
  const isSeen = !json && stdout.isTTY === true && stderr.isTTY === true && env["TERM"] !== "dumb";
  if (!isSeen) return work(() => undefined);
  const out = new Output(stderr, env);
  let dueAt = now() + PATIENCE_MS;
  let isShown = false;
  try {
    return await work((done, total) => {
      if (now() < dueAt) return;
      dueAt = now() + STEP_MS;
      isShown = true;
      out.text(`\r${formatProgress(what, done, total, out)}\u001b[K`);
      out.flush();
    });
  } finally {
    if (isShown) {
      out.text(WIPE);
      out.flush();
    }
  }
}

function formatProgress(what: string, done: number, total: number, { colors, width }: Output): string {
  const numbers = `${formatCount(done)}/${formatCount(total)}`;
  const room = Math.min(MAX_BAR_WIDTH, width - 1 - measureWidth(`${what}  ${numbers}`));
  if (room < 1) return truncateLine(`${what} ${numbers}`, width - 1);
  const full = total === 0 ? 0 : Math.floor((Math.min(done, total) / total) * room);
  const bar = colors.cyan("━".repeat(full)) + colors.dim("─".repeat(room - full));
  return `${what} ${bar} ${numbers}`;
}
