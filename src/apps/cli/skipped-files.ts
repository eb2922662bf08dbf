import { isSessionError } from "../../core/format/errors.ts";
import type { SkippedFile, SkipReport } from "../../session/files/skipped-files.ts";
import { notASessionAt } from "../../session/log/foreign-file.ts";
import type { CommandCall } from "./command.ts";

/** Reasons for skipping a file, in words. */
const REASONS: { readonly [reason in SkippedFile["reason"]]?: string } = {
  unreadable: "it cannot be read",
  "too-slow": "the expression takes too long on it; a simpler one may not",
};

/**
 * Creates a report that warns about skipped sessions.
 *
 * If a folder contains pi version 4 sessions, only the first is reported. Other files that are not sessions are not reported.
 */
export function warnOfSkipped({ warn }: Pick<CommandCall, "warn">): SkipReport {
  let isNamed = false;
  return ({ path, reason }) => {
    const why = REASONS[reason];
    if (why !== undefined) warn(`${path} was left out: ${why}.`);
    if (reason !== "not-a-session" || isNamed) return;
    const error = notASessionAt(path);
    if (!isSessionError(error) || error.details["source"] !== "pi-v4") return;
    isNamed = true;
    warn(`${error.message} Others like it in this folder are not listed.`);
  };
}
