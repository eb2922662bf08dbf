import { existsSync } from "node:fs";
import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { joinTabs, toPlainLine } from "../../../core/facts/plain-text.ts";
import { formatDateAndTime } from "../../../core/facts/times.ts";
import { describeForeign } from "../../../core/jsonl/not-a-session.ts";
import { detectSourceOfFile } from "../../../interop/history/file-facts.ts";
import {
  type ImportSessionsOptions,
  previewImport,
  type SessionImport,
} from "../../../interop/history/import-sessions.ts";
import { findLost, keepLost } from "../../../interop/history/lost-sessions.ts";
import { findOpenClaw } from "../../../interop/history/openclaw.ts";
import { watchSessions } from "../../../interop/history/watch-sessions.ts";
import type { DetectedSource } from "../../../interop/import/detect-source.ts";
import { SOURCE_NAMES, type SourceName } from "../../../interop/import/imported-session.ts";
import type { Command, CommandCall } from "../command.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import {
  getImportTarget,
  NOTHING_FOUND,
  NOTHING_READABLE,
  noteSkipped,
  runImport,
  toImportJson,
} from "../import-run.ts";
import { isPiped } from "../named-session.ts";
import { choiceOption, flag, optionalList, rare, textOption } from "../parameters.ts";
import { OPENCLAW, resolvePath } from "../session-argument.ts";
import { getSpan } from "../span-options.ts";
import { fitColumn, measureWidth } from "../text/width.ts";
import { UsageError } from "../usage-error.ts";

const PATHS = optionalList(
  "[paths...]",
  "files or folders to import, instead of the folders where programs keep their sessions",
);
const ALL = flag("--all", "import everything it finds");
const FROM = choiceOption(
  "--from <source>",
  `only sessions of this program: ${SOURCE_NAMES.join(", ")}`,
  SOURCE_NAMES,
);
const PROJECT = textOption("--project <folder>", "only sessions of this working directory");
const SINCE = textOption(
  "--since <time>",
  "only sessions used since a day (2026-11-22) or within a time (12h, 30d)",
);
const AGAIN = rare(flag("--again", "also sessions that were deleted here"));
const FRESH = rare(flag("--fresh", "import again, next to what an older version imported"));
const WATCH = flag("--watch", "keep running, and import changes, until interrupted");
const HOOK = rare(flag("--hook", "the session that an agent specifies on stdin when it calls a hook"));
const LOST = rare(
  flag("--lost", "list prompts of sessions that Claude Code has deleted; with --all, store them"),
);
const DRY_RUN = flag("--dry-run", "only print what would be done");

/** `sessiontree import`: imports sessions from other programs, and keeps them up to date. */
export const command: Command = {
  details: `Without options, it lists the sessions it finds, by program and project, and what would be imported.
Sessions that were imported before are updated; branches that you added to them are kept. Sessions that you deleted stay deleted, and what you redacted stays redacted.
The programs' own files are only read. --dir and --store specify where sessions are stored.`,
  parameters: [PATHS, ALL, FROM, PROJECT, SINCE, AGAIN, FRESH, WATCH, HOOK, LOST, DRY_RUN],
  examples: [
    ["import", "what is there"],
    ["import --all", "import everything; run it daily, since Claude Code deletes after 30 days"],
    ["import --from codex --since 30d", "what Codex wrote in the last month"],
    ["import --watch", "everything, as soon as it is written"],
    ["import --hook", "in the settings of an agent: its session, whenever it has answered"],
    ["import --all --dry-run --json", "one JSON object for each session, and nothing written"],
  ],
  run: async (call) => {
    const { get, json } = call;
    const isChosen = [get(FROM), get(PROJECT), get(SINCE)].some((one) => one !== undefined);
    const isAsked = isChosen || get(ALL) || get(AGAIN) || get(FRESH) || get(PATHS).length > 0;
    const skipped: string[] = [];
    const options = {
      ...makeQuery(call),
      ...(await getImportTarget(call)),
      onSkipped: noteSkipped(call, skipped),
    };
    checkPaths(call);
    if (get(HOOK)) {
      const { importFromHook } = await import("../import-hook.ts");
      await importFromHook(call.io, options);
      return EXIT_CODES.ok;
    }
    if (get(WATCH)) return watchSources(call, options);
    if (get(LOST)) await showLost(call, options);
    else if (!isAsked && !json) await showPreview(call, options, skipped);
    else {
      const how = { again: get(AGAIN), fresh: get(FRESH), dryRun: get(DRY_RUN) || !isAsked };
      if (!(await runImport(call, { ...options, ...how }))) return EXIT_CODES.cancelled;
    }
    return skipped.length > 0 ? EXIT_CODES.failed : EXIT_CODES.ok;
  },
};

function makeQuery(call: CommandCall): ImportSessionsOptions {
  const { get, io } = call;
  const paths = get(PATHS);
  const source = get(FROM);
  const project = get(PROJECT);
  const { since } = getSpan(call, SINCE, undefined, false);
  return {
    env: io.env,
    now: io.now,
    ...(paths.length > 0 && { paths: paths.map((path) => resolvePath(io.cwd, path)) }),
    ...(source !== undefined && { sources: [source] }),
    ...(project !== undefined && { project: resolvePath(io.cwd, project) }),
    ...(since !== undefined && { sinceMs: since.getTime() }),
  };
}

function checkPaths({ get, io }: CommandCall): void {
  if (get(PATHS).some(isPiped))
    throw new UsageError("import reads files; save standard input to one, and name that.");
  for (const path of get(PATHS).map((one) => resolvePath(io.cwd, one))) {
    if (!existsSync(path)) throw new UsageError(`${path} does not exist.`);
    if (!path.endsWith(".jsonl")) continue;
    const source = detectSourceOfFile(path);
    if (source === undefined || isImported(source)) continue;
    const isOurs = source === "pi" || source === "oh-my-pi";
    throw new UsageError(
      isOurs
        ? `${path} is a session from ${source} and can be opened without an import.`
        : describeForeign(path, source),
    );
  }
}

function isImported(source: DetectedSource): source is SourceName {
  return SOURCE_NAMES.some((name) => name === source);
}

/** @param skipped - Paths of files that cannot be read; complete after the preview. */
async function showPreview(
  call: CommandCall,
  options: ImportSessionsOptions,
  skipped: readonly string[],
): Promise<void> {
  const { out } = call;
  const groups = await previewImport(options);
  noteOpenClaw(call);
  if (groups.length === 0) {
    out.prose(skipped.length > 0 ? NOTHING_READABLE : NOTHING_FOUND);
    return;
  }
  const rows = groups.map(({ source, cwd, sessions, changed }) => [
    source,
    formatCounted(sessions, "session"),
    changed === 0 ? "up to date" : `${formatCount(changed)} to import`,
    toPlainLine(cwd === "" ? "(unknown project)" : cwd),
  ]);
  const widths = [0, 1, 2].map((place) => Math.max(...rows.map((row) => measureWidth(row[place] ?? ""))));
  for (const row of rows) {
    const cells = row.map((cell, place) => fitColumn(cell, widths[place] ?? measureWidth(cell)));
    out.line(cells.join("  ").trimEnd());
  }
  if (groups.some(({ changed }) => changed > 0))
    out.line(call.toRunnable("\nsessiontree import --all imports them."));
}

/** Lists deleted sessions whose prompts remain; with `--all`, stores the prompts. */
async function showLost(
  { get, json, out, note }: CommandCall,
  options: ImportSessionsOptions,
): Promise<void> {
  const isKept = get(ALL) && !get(DRY_RUN);
  const all = await findLost(options);
  for (const lost of all) {
    const path = isKept ? await keepLost(lost, options) : null;
    const { sessionId, startedAt, cwd, prompts, firstPrompt } = lost;
    if (json)
      out.json({ sourceId: sessionId, cwd, created: startedAt, prompts: prompts.length, firstPrompt, path });
    else
      out.line(
        joinTabs([sessionId, startedAt, formatCounted(prompts.length, "prompt"), cwd, path ?? firstPrompt]),
      );
  }
  if (all.length === 0) note("No prompts of deleted sessions were found.");
  else if (!isKept) note("sessiontree import --lost --all keeps them as sessions of prompts.");
}

/** Reports OpenClaw files, whose sessions do not need to be imported. */
function noteOpenClaw({ io, note, warn }: CommandCall): void {
  const { sessions, archives, databases } = findOpenClaw(io.env);
  if (sessions.length > 0)
    note(
      `${OPENCLAW}: ${formatCounted(sessions.length, "session")}, which need no import; "sessiontree list --all --source ${OPENCLAW}" lists them.`,
    );
  for (const path of archives)
    note(`${OPENCLAW}: ${toPlainLine(path)} is an archive; to open it, copy it to a file named *.jsonl.`);
  for (const path of databases)
    warn(
      `${path} is a database from OpenClaw 2026.9 or later, which this version of sessiontree cannot read; it can read sessions from earlier versions.`,
    );
}

/** Imports changes until interrupted, and prints a line for each. */
async function watchSources(call: CommandCall, options: ImportSessionsOptions): Promise<ExitCode> {
  const { get, io, json, out, warn } = call;
  if (get(DRY_RUN) || get(AGAIN) || get(FRESH))
    throw new UsageError("--watch cannot be combined with --again, --fresh, or --dry-run.");
  const signal = io.untilInterrupted?.();
  warn("Watching for changes; press Ctrl-C to stop.");
  for await (const one of watchSessions({ ...options, ...(signal && { signal }) })) {
    if (json) out.json(toImportJson(one));
    else out.line(changeLine(one, io.now()));
    out.flush();
  }
  return EXIT_CODES.ok;
}

function changeLine({ source, id, path, status, issues }: SessionImport, nowMs: number): string {
  const what = status === "gone" ? "gone, kept here" : status;
  const parts = [formatDateAndTime(nowMs), source, what, toPlainLine(path ?? id)];
  return [...parts, ...(issues.length > 0 ? [formatCounted(issues.length, "issue")] : [])].join("  ");
}
