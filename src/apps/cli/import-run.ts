import { formatCount, formatCounted } from "../../core/facts/number-text.ts";
import { toPlainLine } from "../../core/facts/plain-text.ts";
import { callUnless, getErrorMessage } from "../../core/format/errors.ts";
import {
  type ImportSessionsOptions,
  importSessions,
  type SessionImport,
} from "../../interop/history/import-sessions.ts";
import type { SourceName } from "../../interop/import/imported-session.ts";
import { fileStore } from "../../stores/file/file-store.ts";
import { quoteForShell } from "../text/shell-quoting.ts";
import type { CommandCall } from "./command.ts";
import { withProgress } from "./progress.ts";
import { getScope, resolvePath } from "./session-argument.ts";
import { toIssueJson } from "./session-json.ts";
import { writeIndented } from "./view/facts.ts";

/** Returns the destination of an import. */
export async function getImportTarget({ dir, io, stored }: CommandCall): Promise<ImportSessionsOptions> {
  if (stored !== undefined) return { store: await stored.store(), storeName: stored.address };
  if (dir !== undefined) return { store: fileStore({ sessionDir: resolvePath(io.cwd, dir) }) };
  // Sessions that were imported into the sessions folder stay there.
  const { sessionDir } = getScope({ io, dir }, true);
  return sessionDir === undefined ? {} : { earlierDirs: [sessionDir] };
}

/** Creates a callback for files that cannot be read: it warns, and collects their paths. */
export function noteSkipped(
  { warn }: CommandCall,
  skipped: string[],
): (path: string, error: unknown) => void {
  return (path, error) => {
    skipped.push(path);
    warn(formatSkipped(path, error));
  };
}

/** Formats why a file was left out of an import. */
export function formatSkipped(path: string, error: unknown): string {
  // The message names the file again.
  const reason = getErrorMessage(error).replaceAll(path, () => "it");
  return `${path} was left out: ${reason}`;
}

/** Numbers of a program's sessions by import status, and the number of their issues. */
const NO_SESSIONS = { new: 0, grown: 0, unchanged: 0, deleted: 0, gone: 0, empty: 0, issues: 0 };

type Tally = typeof NO_SESSIONS;

/** Maximum number of issues printed without `--json`; the JSON contains all issues. */
const MAX_PRINTED = 5;

/** Result of an import that finds no sessions. */
export const NOTHING_FOUND = "No sessions from other programs were found.";
/** Result of an import that finds only files that cannot be read. */
export const NOTHING_READABLE = "No sessions that can be read were found.";

/** Imports sessions, and reports the result for each; returns false if interrupted. */
export async function runImport(call: CommandCall, options: ImportSessionsOptions): Promise<boolean> {
  const { json, out, io, warn } = call;
  const signal = io.untilInterrupted?.();
  const tallies = new Map<SourceName, Tally>();
  const told: [path: string, issue: string][] = [];
  let hasSkipped = false;
  const onSkipped = (path: string, error: unknown) => {
    hasSkipped = true;
    options.onSkipped?.(path, error);
  };
  const request = { ...options, onSkipped, ...(signal && { signal }) };
  const importAll = () =>
    withProgress(call, "Importing sessions", async (onProgress) => {
      for await (const one of importSessions({ ...request, onProgress })) {
        if (json) out.json(toImportJson(one));
        const tally = tallies.get(one.source) ?? { ...NO_SESSIONS };
        tally[one.status]++;
        tally.issues += one.issues.length;
        for (const { line, code, message } of one.issues.slice(0, MAX_PRINTED - told.length))
          told.push([one.sourcePath ?? one.sourceId, `line ${line}: ${code}: ${message}`]);
        tallies.set(one.source, tally);
      }
      return true;
    });
  const isWhole = (await callUnless("ABORTED", importAll)) === true;
  if (!json && (isWhole || tallies.size > 0)) {
    if (tallies.size === 0) call.out.prose(hasSkipped ? NOTHING_READABLE : NOTHING_FOUND);
    writeTallies(call, tallies, told, options.dryRun === true);
  }
  if (!isWhole) warn("The import was interrupted; run it again to continue.");
  return isWhole;
}

/** Returns the `--json` output for an imported session. */
export function toImportJson(one: SessionImport): object {
  const { source, sourceId, sourcePath, path, id, status, counts, dropped, issues } = one;
  return { source, sourceId, sourcePath, path, id, status, counts, dropped, issues: issues.map(toIssueJson) };
}

function writeTallies(
  { dir, note, out, stored }: CommandCall,
  tallies: ReadonlyMap<SourceName, Tally>,
  told: readonly (readonly [path: string, issue: string])[],
  isDry: boolean,
): void {
  for (const [source, tally] of tallies) {
    const parts = [
      `${formatCount(tally.new)} new`,
      `${formatCount(tally.grown)} grown`,
      `${formatCount(tally.unchanged)} unchanged`,
      ...(tally.deleted > 0 ? [`${formatCount(tally.deleted)} deleted here (--again imports them)`] : []),
      ...(tally.gone > 0 ? [`${formatCount(tally.gone)} gone there (kept here)`] : []),
      ...(tally.empty > 0 ? [`${formatCount(tally.empty)} without a message (left out)`] : []),
      ...(tally.issues > 0 ? [formatCounted(tally.issues, "issue")] : []),
    ];
    out.prose(`${source}: ${parts.join(", ")}`);
  }
  for (const [path, issue] of told) {
    out.line(`  ${toPlainLine(path)}`);
    writeIndented(issue, out);
  }
  const more = [...tallies.values()].reduce((sum, { issues }) => sum + issues, 0) - told.length;
  if (more > 0) out.prose(`and ${formatCounted(more, "other issue")}; --json lists all.`);
  if (isDry && tallies.size > 0) out.line("Nothing was written.");
  else if ([...tallies.values()].some((tally) => tally.new + tally.grown > 0)) {
    const [option, place] = stored === undefined ? ["--dir", dir] : ["--store", stored.address];
    const where = place === undefined ? "" : ` ${option} ${quoteForShell(toPlainLine(place))}`;
    note(`To list them: sessiontree list --all${where}`);
  }
}
