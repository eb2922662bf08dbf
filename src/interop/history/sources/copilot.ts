import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../../../core/format/errors.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { absolutePath } from "../../../session/log/session-paths.ts";
import { importCopilot } from "../../import/copilot/import-copilot.ts";
import type { CopilotRows } from "../../import/copilot/stored-turns.ts";
import { firstFolder, firstText, leftOut, readSourceText } from "../../import/source-text.ts";
import { member, textOf } from "../../import/source-values.ts";
import { DatabaseCopies } from "../database-copies.ts";
import { readSourcePieces, SideFiles, textOfFile } from "../source-file.ts";
import type { FileFacts, SourceProgram } from "../source-program.ts";
import { canReadDatabases, withDatabase } from "../sqlite.ts";

/** Events of GitHub Copilot CLI: in the folder of a session, or in a file of its own in older versions. */
export const COPILOT: SourceProgram = {
  name: "copilot",
  folders: ({ COPILOT_HOME: named }, home) => {
    const own = named ? absolutePath(named) : join(home, ".copilot");
    return [join(own, "session-state"), join(own, "history-session-state")];
  },
  // Files that the model wrote, and copies of files, lie in folders of their own.
  isOwn: (path) => (/[/\\]session-state(?:[/\\][^/\\]+){2}[/\\]/.test(path) ? false : undefined),
  filesBeside: (path) => (isEvents(path) ? [workspaceOf(path)] : []),
  factsIn,
  needsKnown: ({ files }) => files.some(({ path }) => hasRewind(path)),
  read: ({ files, sourceId }, { importedAt, ownId, known, cacheDir }) =>
    files.flatMap((file) => {
      const beside = new SideFiles();
      const { path } = file;
      const workspace = isEvents(path) ? beside.textOf(workspaceOf(path)) : "";
      const rows = hasRewind(path) ? storedRows(path, sourceId, cacheDir, beside.issues) : undefined;
      const text = textOfFile(file);
      return importCopilot({
        ...text,
        issues: [...text.issues, ...beside.issues],
        sourceId,
        workspace,
        known,
        ...(rows !== undefined && { rows }),
        ...(ownId !== undefined && { ownId }),
        importedAt,
      });
    }),
};

/** Columns without which a table of the database is not one that is known. */
const NEEDED = {
  turns: ["session_id", "user_message", "assistant_response", "timestamp"],
  assistant_usage_events: ["session_id", "model", "input_tokens", "output_tokens", "created_at"],
} as const;

/** Reads what the program's own database has of a session; undefined where there is none, or Node cannot read it. */
function storedRows(
  path: string,
  sessionId: string,
  cacheDir: string,
  issues: SessionIssue[],
): CopilotRows | undefined {
  const folder = isEvents(path) ? dirname(path) : path;
  const database = join(dirname(dirname(folder)), "session-store.db");
  if (!canReadDatabases()) return undefined;
  const copies = new DatabaseCopies(cacheDir, []);
  try {
    if (statSync(database, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    return withDatabase(copies.of(database), ({ rows, columns }) => {
      const rowsOf = (table: keyof typeof NEEDED) => {
        const isKnown = NEEDED[table].every((name) => columns(table).has(name));
        return isKnown ? [...rows(`SELECT * FROM ${table} WHERE session_id = ?`, sessionId)] : [];
      };
      return { turns: rowsOf("turns"), calls: rowsOf("assistant_usage_events") };
    });
  } catch (error) {
    issues.push(leftOut(`Left out turns that were rewound, if ${database} has any: ${messageOf(error)}`));
    return undefined;
  } finally {
    copies.remove();
  }
}

/** What the event about a rewind holds. */
const REWIND = '"infoType":"rewind"';

/** Tells whether the user went back, which deletes events. */
function hasRewind(path: string): boolean {
  for (const piece of readSourcePieces(path, REWIND.length))
    if (Buffer.from(piece.buffer, piece.byteOffset, piece.length).includes(REWIND)) return true;
  return false;
}

function isEvents(path: string): boolean {
  return basename(path) === "events.jsonl";
}

function workspaceOf(path: string): string {
  return join(dirname(path), "workspace.yaml");
}

function factsIn(text: string, path: string): FileFacts[] {
  const { records } = readSourceText(text);
  const start = records.find(({ value }) => value["type"] === "session.start");
  const told = start === undefined ? undefined : textOf(member(start.value, "data")["sessionId"]);
  const sessionId = told ?? basename(isEvents(path) ? dirname(path) : path, ".jsonl");
  const contexts = records.map(({ value }) => member(member(value, "data"), "context")["cwd"]);
  return [
    {
      source: "copilot",
      sessionId,
      cwd: firstFolder(contexts).cwd,
      startedAt: firstText(records, "timestamp"),
    },
  ];
}
