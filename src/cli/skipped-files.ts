import type { SkippedFile, SkipReport } from "../catalog/skipping.ts";
import type { CommandCall } from "./command.ts";

/** Why a file was left out, in words; what is no session is nothing to tell of. */
const REASONS: { readonly [reason in SkippedFile["reason"]]?: string } = {
  unreadable: "it cannot be read",
  "too-slow": "the expression takes too long on it; a simpler one may not",
};

/** Makes a report that warns of sessions that were left out. */
export function warnOfSkipped({ warn }: Pick<CommandCall, "warn">): SkipReport {
  return ({ path, reason }) => {
    const why = REASONS[reason];
    if (why !== undefined) warn(`${path} was left out: ${why}.`);
  };
}
