import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { getErrorMessage } from "../../../core/format/errors.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { pickDefined } from "../../../core/format/json.ts";
import { toAbsolutePath } from "../../../session/log/session-paths.ts";
import { importCopilot } from "../../import/copilot/import-copilot.ts";
import type { CopilotRows } from "../../import/copilot/stored-turns.ts";
import {
  findFirstFolder,
  findFirstText,
  getMember,
  makeLeftOutIssue,
  readSourceText,
  toNonemptyText,
} from "../../import/source-text.ts";
import { copyDatabase, makeCopyPath, removeCopy } from "../database-copies.ts";
import { parseSourceFile, readSourcePieces, SideFiles } from "../source-file.ts";
import type { FileFacts, SourceProgram, SourceSession } from "../source-program.ts";
import { canReadDatabases, type Database, withDatabase } from "../sqlite.ts";

/** Events of GitHub Copilot CLI, in a session's folder or, in older versions, in a single file. */
export const COPILOT: SourceProgram = {
  name: "copilot",
  folders: ({ COPILOT_HOME: named }, home) => {
    const own = named ? toAbsolutePath(named) : join(home, ".copilot");
    return [join(own, "session-state"), join(own, "history-session-state")];
  },
  // Files that the model wrote, and copies of files, are in separate folders.
  isOwn: (path) => (/[/\\]session-state(?:[/\\][^/\\]+){2}[/\\]/.test(path) ? false : undefined),
  filesBeside: (path) => (isEvents(path) ? [getWorkspace(path)] : []),
  readFacts,
  needsKnown: isRewound,
  readsDatabase: isRewound,
  read: ({ files, sourceId }, { importedAt, ownId, known, cacheDir }) =>
    files.flatMap((file) => {
      const beside = new SideFiles();
      const { path } = file;
      const workspace = isEvents(path) ? beside.getText(getWorkspace(path)) : "";
      const rows = hasRewind(path) ? readStoredRows(path, sourceId, cacheDir, beside.issues) : undefined;
      const text = parseSourceFile(file);
      return importCopilot({
        ...text,
        issues: [...text.issues, ...beside.issues],
        sourceId,
        workspace,
        known,
        ...pickDefined({ rows, ownId }),
        importedAt,
      });
    }),
};

/** Names of the columns to read. All turn columns are required, but only some of the call columns. */
const TURN_TEXTS = ["session_id", "user_message", "assistant_response", "timestamp"];
const NEEDED_OF_CALLS = ["session_id", "model", "input_tokens", "output_tokens", "created_at"];
const CALL_TEXTS = ["session_id", "model", "created_at", "api_endpoint"];
const CALL_NUMBERS = [
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
];

/** Columns for finding a session's rows. */
const LOOKUPS = { turns: "session_id", assistant_usage_events: "session_id" };

/** Reads a session's rows from Copilot's own database; undefined if there is no database or Node cannot read it. */
function readStoredRows(
  path: string,
  sessionId: string,
  cacheDir: string,
  issues: SessionIssue[],
): CopilotRows | undefined {
  const folder = isEvents(path) ? dirname(path) : path;
  const database = join(dirname(dirname(folder)), "session-store.db");
  if (!canReadDatabases()) return undefined;
  let copy: string | undefined;
  try {
    if (statSync(database, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    copy = makeCopyPath(cacheDir);
    copyDatabase(database, copy, LOOKUPS);
    return withDatabase(copy, (opened) => readSessionRows(opened, sessionId));
  } catch (error) {
    issues.push(
      makeLeftOutIssue(`Left out turns that were rewound, if ${database} has any: ${getErrorMessage(error)}`),
    );
    return undefined;
  } finally {
    if (copy !== undefined) removeCopy(copy);
  }
}

function readSessionRows(database: Database, sessionId: string): CopilotRows {
  const readRows = (table: string, texts: string[], numbers: string[], needed: string[]) => {
    const columns = database.columns(table);
    if (!needed.every((name) => columns.has(name))) return [];
    const [own, counts] = [texts, numbers].map((names) => names.filter((name) => columns.has(name)));
    const query = { table, texts: own ?? [], numbers: counts ?? [], where: "session_id = ?" };
    return [...database.rows(query, sessionId)];
  };
  return {
    turns: readRows("turns", TURN_TEXTS, [], TURN_TEXTS),
    calls: readRows("assistant_usage_events", CALL_TEXTS, CALL_NUMBERS, NEEDED_OF_CALLS),
  };
}

/** Text that occurs in rewind events. */
const REWIND = '"infoType":"rewind"';

function isRewound({ files }: SourceSession): boolean {
  return files.some(({ path }) => hasRewind(path));
}

/** Returns whether the user rewound the session, which deletes events. */
function hasRewind(path: string): boolean {
  for (const piece of readSourcePieces(path, REWIND.length))
    if (Buffer.from(piece.buffer, piece.byteOffset, piece.length).includes(REWIND)) return true;
  return false;
}

function isEvents(path: string): boolean {
  return basename(path) === "events.jsonl";
}

function getWorkspace(path: string): string {
  return join(dirname(path), "workspace.yaml");
}

function readFacts(text: string, path: string): FileFacts[] {
  const { records } = readSourceText(text);
  const start = records.find(({ value }) => value["type"] === "session.start");
  const told = start === undefined ? undefined : toNonemptyText(getMember(start.value, "data")["sessionId"]);
  const sessionId = told ?? basename(isEvents(path) ? dirname(path) : path, ".jsonl");
  const contexts = records.map(({ value }) => getMember(getMember(value, "data"), "context")["cwd"]);
  return [
    {
      source: "copilot",
      sessionId,
      cwd: findFirstFolder(contexts).cwd,
      startedAt: findFirstText(records, "timestamp"),
    },
  ];
}
