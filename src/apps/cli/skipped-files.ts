import { toPlainLine } from "../../core/facts/plain-text.ts";
import { isSessionError } from "../../core/format/errors.ts";
import type { SkippedFile, SkipReport } from "../../session/files/skipped-files.ts";
import { notASessionAt } from "../../session/log/foreign-file.ts";
import { isHeaderlessSession } from "../../session/log/headerless-session.ts";
import { quoteForShell } from "../text/shell-quoting.ts";
import type { CommandCall } from "./command.ts";

/** Reasons for skipping a file, in words. */
const REASONS: { readonly [reason in SkippedFile["reason"]]?: string } = {
  unreadable: "it cannot be read",
  "too-slow": "the expression takes too long on it; a simpler one may not",
};

/**
 * Creates a report that warns about skipped sessions.
 *
 * Includes sessions that have lost their headers. If a folder contains pi version 4 sessions, only the first is reported. Other
 * files that are not sessions are not reported.
 */
export function warnOfSkipped({ warn }: Pick<CommandCall, "warn">): SkipReport {
  let isNamed = false;
  return ({ path, reason }) => {
    const why = REASONS[reason];
    if (why !== undefined) warn(`${path} was left out: ${why}.`);
    if (reason !== "not-a-session") return;
    const error = notASessionAt(path);
    if (!isSessionError(error, "NOT_A_SESSION")) return;
    const { source } = error.details;
    if (source === undefined && isHeaderlessSession(path)) {
      const file = quoteForShell(toPlainLine(path));
      warn(`${path} was left out: it has no session header. To rebuild it: sessiontree repair ${file}`);
    }
    if (source !== "pi-v4" || isNamed) return;
    isNamed = true;
    warn(`${error.message} Others like it in this folder are not listed.`);
  };
}
