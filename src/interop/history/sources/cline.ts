import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { getOrAdd } from "../../../core/format/group-by.ts";
import { hashText } from "../../../core/format/ids.ts";
import { pickDefined } from "../../../core/format/json.ts";
import { toAbsolutePath } from "../../../session/log/session-paths.ts";
import {
  findClineOwner,
  getClineMessages,
  importCline,
  readClineText,
} from "../../import/cline/import-cline.ts";
import type { ImportedSession } from "../../import/imported-session.ts";
import { findFirstFolder, toIsoTime, toNonemptyText } from "../../import/source-text.ts";
import { readSourceAsText, SideFiles } from "../source-file.ts";
import {
  type Environment,
  type FileFacts,
  findMainFile,
  type KnownFile,
  type ReadOptions,
  type SourceProgram,
  type SourceSession,
} from "../source-program.ts";

/** Sessions from Cline's command line, and tasks from Cline, Roo Code, and Kilo in editors. */
export const CLINE: SourceProgram = {
  name: "cline",
  folders: (env, home) => [getSessionsFolder(env, home), ...listTaskFolders(env, home)],
  isOwn: (path) => (isBeside(path) ? false : undefined),
  filesBeside: (path) => Object.values(readBeside(path)),
  readFacts: (text, path) => (isBeside(path) ? [] : readFacts(text, path)),
  wanted: ["startedAt"],
  makeKey: ({ path }) => dirname(path),
  beside: ({ beside }) => {
    const findFolder = makeFolderFinder(beside);
    return ({ path }) => {
      const { manifest = "" } = readBeside(path);
      const { started_at: startedAt, cwd, workspace } = beside.getJson(manifest);
      const folder = findFirstFolder([cwd, workspace, isTask(path) && findFolder(path)]).cwd;
      return pickDefined({ cwd: folder, startedAt: toIsoTime(startedAt) });
    };
  },
  withOrigins,
  read: readCline,
};

/** Suffix of the files where the command line stores messages. */
const MESSAGES = ".messages.json";

/** Name of the file where an editor stores a task's messages, in a folder named after the task id. */
const TASK = "api_conversation_history.json";

/** Name of the file that contains the rows an editor displays for a task. For some tasks, it is the only remaining file. */
const ROWS = "ui_messages.json";

function isTask(path: string): boolean {
  return basename(path) === TASK || basename(path) === ROWS;
}

/** Returns whether a file contains the rows of a task whose messages also exist. */
function isShownBeside(path: string): boolean {
  return basename(path) === ROWS && existsSync(join(dirname(path), TASK));
}

function getSessionsFolder(env: Environment, home: string): string {
  const { CLINE_SESSION_DATA_DIR: sessions, CLINE_DATA_DIR: data, CLINE_DIR: own } = env;
  if (sessions) return toAbsolutePath(sessions);
  if (data) return join(toAbsolutePath(data), "sessions");
  return join(own ? toAbsolutePath(own) : join(home, ".cline"), "data", "sessions");
}

const EDITORS = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
const SERVERS = [".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server"];
const EXTENSIONS = ["saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code"];

/** Returns the task folders, in all locations where editors store extension data on any system. */
function listTaskFolders({ APPDATA, XDG_CONFIG_HOME: config }: Environment, home: string): string[] {
  const homes = [
    config ? toAbsolutePath(config) : join(home, ".config"),
    join(home, "Library", "Application Support"),
    ...(APPDATA ? [toAbsolutePath(APPDATA)] : []),
  ];
  const editors = homes.flatMap((folder) => EDITORS.map((name) => join(folder, name)));
  const servers = SERVERS.map((name) => join(home, name, "data"));
  return [...editors, ...servers].flatMap((folder) =>
    EXTENSIONS.map((name) => join(folder, "User", "globalStorage", name, "tasks")),
  );
}

/** Paths of files that accompany messages. */
interface Beside {
  /** Path of Cline's metadata about the session or task. */
  readonly manifest?: string;
  readonly compaction?: string;
  /** Path of the rows that an editor displays. */
  readonly viewRows?: string;
}

function readBeside(path: string): Beside {
  const folder = dirname(path);
  if (isTask(path)) {
    const manifest = join(folder, "history_item.json");
    return basename(path) === ROWS ? { manifest } : { manifest, viewRows: join(folder, ROWS) };
  }
  if (!path.endsWith(MESSAGES)) return {};
  const own = path.slice(0, -MESSAGES.length);
  return { manifest: `${own}.json`, compaction: `${own}.compaction.json` };
}

/** Returns whether a file only accompanies messages, or contains only the messages that remain after a compaction. */
function isBeside(path: string): boolean {
  if (/\.compaction\.json$|[/\\]sessions[/\\]([^/\\]+)[/\\]\1\.json$/.test(path)) return true;
  if (isShownBeside(path)) return true;
  return !isTask(path) && EXTENSIONS.includes(basename(dirname(dirname(dirname(path)))));
}

function readFacts(text: string, path: string): FileFacts[] {
  const { document } = readClineText(text);
  const owner = findClineOwner(document);
  const name = basename(path).replace(/(?:\.messages)?\.json$/, "");
  const ofPath = isTask(path) ? basename(dirname(path)) : `${name}-${hashText(path).slice(0, 8)}`;
  const [first] = getClineMessages(document);
  return [
    {
      source: "cline",
      sessionId: owner.sessionId ?? ofPath,
      agentId: owner.agentId,
      startedAt: toIsoTime(first?.["ts"]),
      firstUuid: toNonemptyText(first?.["id"]),
    },
  ];
}

/** Returns a function that finds the working directory of a task in Cline's list of all tasks. */
function makeFolderFinder(beside: SideFiles): (path: string) => unknown {
  const lists = new Map<string, ReadonlyMap<unknown, unknown>>();
  return (path) => {
    const task = dirname(path);
    const file = join(dirname(dirname(task)), "state", "taskHistory.json");
    const list = getOrAdd(lists, file, () => {
      const items = toArray(beside.getValue(file)).map(toRecord);
      return new Map(items.map((item) => [item["id"], item["cwdOnTaskInitialization"]]));
    });
    return list.get(basename(task));
  };
}

/** Finds the session that another session was copied from. An undo copies the remaining messages to a new session. */
function withOrigins(sessions: readonly SourceSession[]): SourceSession[] {
  const last = new Map<string, KnownFile>();
  const byStart = [...sessions].sort((one, other) => (makeSessionKey(one) < makeSessionKey(other) ? -1 : 1));
  return byStart.map((session) => {
    const main = findMainFile(session.files);
    const { firstUuid } = main?.facts ?? {};
    if (main === undefined || firstUuid === undefined) return session;
    const origin = last.get(firstUuid);
    last.set(firstUuid, main);
    return origin === undefined ? session : { ...session, origins: [origin] };
  });
}

function makeSessionKey({ startedAt, sourceId }: SourceSession): string {
  return `${startedAt} ${sourceId}`;
}

function readCline(session: SourceSession, { importedAt }: ReadOptions): ImportedSession[] {
  const { files, sourceId, cwd, origins } = session;
  const beside = new SideFiles();
  const main = findMainFile(session.files);
  const { manifest = "", compaction = "", viewRows = "" } = readBeside(main?.path ?? "");
  const readDocument = ({ path }: KnownFile) => ({ path, ...readClineText(readSourceAsText(path)) });
  const forkedFrom = origins[0]?.facts.sessionId;
  const sessions = importCline({
    ...(main === undefined ? { document: undefined } : readDocument(main)),
    sessionId: sourceId,
    manifest: beside.getValue(manifest),
    compaction: beside.getValue(compaction),
    viewRows: beside.getValue(viewRows),
    subagents: files.filter((file) => file !== main).map(readDocument),
    cwd,
    ...(forkedFrom !== undefined && { forkedFrom }),
    importedAt,
  });
  return sessions.map((one, i) => (i === 0 ? { ...one, issues: [...one.issues, ...beside.issues] } : one));
}
