import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import { digestOf } from "../../../core/format/ids.ts";
import { absolutePath } from "../../../session/log/session-paths.ts";
import {
  clineMessagesOf,
  clineOwnerOf,
  importCline,
  readClineText,
} from "../../import/cline/import-cline.ts";
import type { ImportedSession } from "../../import/imported-session.ts";
import { firstFolder, isoTimeOf, textOf } from "../../import/source-text.ts";
import { readSourceAsText, SideFiles } from "../source-file.ts";
import {
  type Environment,
  type FileFacts,
  type KnownFile,
  mainFileOf,
  type ReadOptions,
  type SourceProgram,
  type SourceSession,
} from "../source-program.ts";

/** Sessions of Cline's command line, and tasks of Cline, Roo Code and Kilo in editors. */
export const CLINE: SourceProgram = {
  name: "cline",
  folders: (env, home) => [sessionsFolder(env, home), ...taskFolders(env, home)],
  isOwn: (path) => (isBeside(path) ? false : undefined),
  filesBeside: (path) => Object.values(besideOf(path)),
  factsIn: (text, path) => (isBeside(path) ? [] : factsOf(text, path)),
  wanted: ["startedAt"],
  keyOf: ({ path }) => dirname(path),
  beside: ({ beside }) => {
    const folders = new TaskFolders(beside);
    return ({ path }) => {
      const { manifest = "" } = besideOf(path);
      const { started_at: startedAt, cwd, workspace } = beside.jsonOf(manifest);
      const folder = firstFolder([cwd, workspace, isTask(path) && folders.of(path)]).cwd;
      const start = isoTimeOf(startedAt);
      return {
        ...(folder !== undefined && { cwd: folder }),
        ...(start !== undefined && { startedAt: start }),
      };
    };
  },
  withOrigins,
  read,
};

/** Ending of the files in which the command line keeps messages. */
const MESSAGES = ".messages.json";

/** Name of the file in which an editor keeps the messages of a task, in a folder that has the task's id. */
const TASK = "api_conversation_history.json";

/** Name of the file with what the editor shows of a task; some tasks have lost all else. */
const ROWS = "ui_messages.json";

function isTask(path: string): boolean {
  return basename(path) === TASK || basename(path) === ROWS;
}

/** Tells whether a file has what the editor shows of messages that are there. */
function isShownBeside(path: string): boolean {
  return basename(path) === ROWS && existsSync(join(dirname(path), TASK));
}

function sessionsFolder(env: Environment, home: string): string {
  const { CLINE_SESSION_DATA_DIR: sessions, CLINE_DATA_DIR: data, CLINE_DIR: own } = env;
  if (sessions) return absolutePath(sessions);
  if (data) return join(absolutePath(data), "sessions");
  return join(own ? absolutePath(own) : join(home, ".cline"), "data", "sessions");
}

const EDITORS = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
const SERVERS = [".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server"];
const EXTENSIONS = ["saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code"];

/** Returns the folders of tasks, wherever editors keep the data of extensions on any system. */
function taskFolders({ APPDATA, XDG_CONFIG_HOME: config }: Environment, home: string): string[] {
  const homes = [
    config ? absolutePath(config) : join(home, ".config"),
    join(home, "Library", "Application Support"),
    ...(APPDATA ? [absolutePath(APPDATA)] : []),
  ];
  const editors = homes.flatMap((folder) => EDITORS.map((name) => join(folder, name)));
  const servers = SERVERS.map((name) => join(home, name, "data"));
  return [...editors, ...servers].flatMap((folder) =>
    EXTENSIONS.map((name) => join(folder, "User", "globalStorage", name, "tasks")),
  );
}

/** Files beside messages. */
interface Beside {
  /** What the program tells of the session or task. */
  readonly manifest?: string;
  readonly compaction?: string;
  /** What an editor shows. */
  readonly viewRows?: string;
}

function besideOf(path: string): Beside {
  const folder = dirname(path);
  if (isTask(path)) {
    const manifest = join(folder, "history_item.json");
    return basename(path) === ROWS ? { manifest } : { manifest, viewRows: join(folder, ROWS) };
  }
  if (!path.endsWith(MESSAGES)) return {};
  const own = path.slice(0, -MESSAGES.length);
  return { manifest: `${own}.json`, compaction: `${own}.compaction.json` };
}

/** Tells whether a file stands beside messages and holds none, or those that a compaction has left. */
function isBeside(path: string): boolean {
  if (/\.compaction\.json$|[/\\]sessions[/\\]([^/\\]+)[/\\]\1\.json$/.test(path)) return true;
  if (isShownBeside(path)) return true;
  return !isTask(path) && EXTENSIONS.includes(basename(dirname(dirname(dirname(path)))));
}

function factsOf(text: string, path: string): FileFacts[] {
  const { document } = readClineText(text);
  const owner = clineOwnerOf(document);
  const name = basename(path).replace(/(?:\.messages)?\.json$/, "");
  const ofPath = isTask(path) ? basename(dirname(path)) : `${name}-${digestOf(path).slice(0, 8)}`;
  const [first] = clineMessagesOf(document);
  return [
    {
      source: "cline",
      sessionId: owner.sessionId ?? ofPath,
      agentId: owner.agentId,
      startedAt: isoTimeOf(first?.["ts"]),
      firstUuid: textOf(first?.["id"]),
    },
  ];
}

/** Working directories of tasks, from the list that Cline keeps of all tasks. */
class TaskFolders {
  readonly #lists = new Map<string, ReadonlyMap<unknown, unknown>>();
  readonly #beside: SideFiles;

  constructor(beside: SideFiles) {
    this.#beside = beside;
  }

  of(path: string): unknown {
    const task = dirname(path);
    const file = join(dirname(dirname(task)), "state", "taskHistory.json");
    let list = this.#lists.get(file);
    if (list === undefined) {
      const items = listOf(this.#beside.valueOf(file)).map(fieldsOf);
      list = new Map(items.map((item) => [item["id"], item["cwdOnTaskInitialization"]]));
      this.#lists.set(file, list);
    }
    return list.get(basename(task));
  }
}

/** Finds the session that another one begins like: an undo copies what it keeps into a session of its own. */
function withOrigins(sessions: readonly SourceSession[]): SourceSession[] {
  const last = new Map<string, KnownFile>();
  const byStart = [...sessions].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  return byStart.map((session) => {
    const main = mainFileOf(session.files);
    const { firstUuid } = main?.facts ?? {};
    if (main === undefined || firstUuid === undefined) return session;
    const origin = last.get(firstUuid);
    last.set(firstUuid, main);
    return origin === undefined ? session : { ...session, origins: [origin] };
  });
}

function keyOf({ startedAt, sourceId }: SourceSession): string {
  return `${startedAt} ${sourceId}`;
}

function read(session: SourceSession, { importedAt }: ReadOptions): ImportedSession[] {
  const { files, sourceId, cwd, origins } = session;
  const beside = new SideFiles();
  const main = mainFileOf(session.files);
  const { manifest = "", compaction = "", viewRows = "" } = besideOf(main?.path ?? "");
  const documentOf = ({ path }: KnownFile) => ({ path, ...readClineText(readSourceAsText(path)) });
  const forkedFrom = origins[0]?.facts.sessionId;
  const sessions = importCline({
    ...(main === undefined ? { document: undefined } : documentOf(main)),
    sessionId: sourceId,
    manifest: beside.valueOf(manifest),
    compaction: beside.valueOf(compaction),
    viewRows: beside.valueOf(viewRows),
    subagents: files.filter((file) => file !== main).map(documentOf),
    cwd,
    ...(forkedFrom !== undefined && { forkedFrom }),
    importedAt,
  });
  return sessions.map((one, i) => (i === 0 ? { ...one, issues: [...one.issues, ...beside.issues] } : one));
}
