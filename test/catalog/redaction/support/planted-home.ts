import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { onTestFinished, vi } from "vitest";
import { canReadDatabases } from "../../../../src/interop/history/sqlite.ts";
import { isTemporaryName, makeTemporaryPath } from "../../../../src/session/fs/temporary-files.ts";
import { SessionManager } from "../../../../src/session/manager/session-manager.ts";
import { Scribe, userLine, writeLines } from "../../../apps/cli/support/sessions.ts";
import { OPENCODE_SCHEMA, writableDatabase } from "../../../interop/history/support/writable-database.ts";
import { joinLines, part, SESSION_ID, text, user } from "../../../interop/import/support/claude-records.ts";
import { meta, numbered, said, THREAD_ID, turn } from "../../../interop/import/support/codex-records.ts";
import { PROCESS_DATA, PROCESS_HOME } from "../../../support/process-home.ts";
import { removeFolder } from "../../../support/remove-folder.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** The secret in every session; in JSON, its last letter may be an escape. */
export const SECRET = "hunter2-Ω";

/** First byte of a record. */
const OPENING = "{".charCodeAt(0);

const PAGE_BLOCK = /<script type="application\/gzip">([^<]*)<\/script>/g;

/**
 * A home folder with a session of each kind, and files of other programs outside of it: all of them contain a secret, in a first
 * message, a name, an answer, a damaged line, and the title of a session.
 */
export class PlantedHome {
  /** Root of everything that this library writes. */
  readonly home = PROCESS_HOME;
  /** The home of other programs. */
  readonly sources = folderElsewhere();
  readonly sessionDir = join(PROCESS_HOME, "agent", "sessions", "--project--");
  readonly temporary = join(PROCESS_HOME, "tmp");
  readonly cache = join(PROCESS_HOME, "cache", "sessiontree");
  readonly imported = join(PROCESS_DATA, "sessiontree", "imported");
  readonly own: string;
  readonly fork: string;
  readonly old: string;
  readonly damaged: string;
  readonly claude: string;
  readonly database: string;

  constructor() {
    for (const name of existsSync(this.home) ? readdirSync(this.home) : [])
      removeFolder(join(this.home, name));
    for (const folder of [PROCESS_DATA, this.sessionDir, this.temporary])
      mkdirSync(folder, { recursive: true });
    vi.stubEnv("HOME", this.home);
    vi.stubEnv("TMPDIR", this.temporary);
    vi.stubEnv("XDG_CACHE_HOME", join(this.home, "cache"));
    vi.stubEnv("XDG_DATA_HOME", PROCESS_DATA);
    vi.stubEnv("PI_CODING_AGENT_DIR", join(this.home, "agent"));
    vi.stubEnv("PI_SESSIONS_DIR", "");
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const scribe = new Scribe(this.sessionDir, undefined, "/project");
    scribe.user(`The password is ${SECRET}.`);
    scribe.assistant(`I will remember ${SECRET}.`);
    scribe.session.appendSessionInfo(`About ${SECRET}`);
    this.own = scribe.path;
    this.fork = SessionManager.forkFrom(this.own, "/project", this.sessionDir).getSessionFile() ?? "";
    this.old = writeLines(this.sessionDir, "old.jsonl", [userLine("0000000a", null, `old ${SECRET}`)]);
    writeFileSync(this.old, readFileSync(this.old, "utf8").replace('"version":3', '"version":2'));
    this.damaged = writeLines(this.sessionDir, "damaged.jsonl", [
      userLine("0000000b", null, `one ${SECRET}`),
      `]]${SECRET}[[`,
    ]);
    this.claude = this.#putSource(
      `.claude/projects/-code-project/${SESSION_ID}.jsonl`,
      joinLines([user("q", null, `the key is ${SECRET}`), part("a", "q", "msg_1", text(`${SECRET} it is`))]),
    );
    this.#putSource(
      `.codex/sessions/2026/11/22/rollout-2026-11-22T05-00-00-${THREAD_ID}.jsonl`,
      joinLines(numbered([meta(), ...turn(`use ${SECRET}`, said("assistant", `used ${SECRET}`))])),
    );
    this.#putSource(
      ".codex/session_index.jsonl",
      joinLines([{ id: THREAD_ID, thread_name: `Using ${SECRET}`, updated_at: "2026-11-22T06:00:00Z" }]),
    );
    this.database = canReadDatabases() ? this.#putDatabase() : "";
  }

  #putSource(path: string, content: string): string {
    const file = join(this.sources, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  /** Creates a database whose texts are longer than its pages, and whose log is not checkpointed. */
  #putDatabase(): string {
    const path = this.#putSource(".local/share/opencode/opencode.db", "");
    const database = writableDatabase(path, OPENCODE_SCHEMA);
    const put = (table: string, ...values: readonly unknown[]) =>
      database.prepare(`INSERT INTO ${table} VALUES (${values.map(() => "?").join(", ")})`).run(...values);
    const time = Date.UTC(2026, 10, 22, 5);
    const asked = { role: "user", time: { created: time }, agent: "build" };
    put("session", "ses_one", "p", null, "/code", `About ${SECRET}`, "1", "build", null, time, time);
    put("message", "msg_1", "ses_one", time, time, JSON.stringify(asked));
    const said = `${"long ".repeat(2_000)}${`${SECRET} `.repeat(600)}`;
    put("part", "prt_1", "msg_1", "ses_one", time, JSON.stringify({ type: "text", text: said }));
    return path;
  }

  /**
   * Returns the files that contain the secret, plain or compressed in a page, and leftovers of killed processes that may contain
   * a part of it.
   */
  holders(): string[] {
    const names = readdirSync(this.home, { recursive: true, encoding: "utf8" });
    return names
      .map((name) => join(this.home, name))
      .filter((path) => {
        const stats = statSync(path, { throwIfNoEntry: false });
        return stats?.isFile() === true && stats.size > 0;
      })
      .filter(
        (path) => holdsSecret(path) || (isTemporaryName(basename(path)) && readFileSync(path)[0] !== OPENING),
      )
      .sort();
  }

  /** Returns the paths of the existing session files in order. */
  sessions(): string[] {
    const folders = [this.sessionDir, this.imported].filter((folder) => existsSync(folder));
    return folders
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
      )
      .filter((path) => path.endsWith(".jsonl") && !path.includes("/."))
      .sort();
  }

  /** Creates the leftovers of a killed import: a copy of a database with its log, a session, and its cache. */
  leaveKilledImport(): void {
    mkdirSync(this.cache, { recursive: true });
    const copy = join(this.cache, deadName());
    if (this.database === "") writeFileSync(copy, `SQLite format 3\0${SECRET}`);
    else copyFileSync(this.database, copy);
    for (const suffix of ["-wal", "-journal", "-shm"]) writeFileSync(copy + suffix, `\0${SECRET}`);
    writeFileSync(join(this.cache, `imports-${"0".repeat(32)}.json.123`), `{"digest":"","data":"${SECRET}`);
    writeFileSync(join(this.cache, `${"0".repeat(32)}.json.123`), `{"digest":"","data":{}}\n${SECRET}`);
    mkdirSync(join(this.imported, "--code--"), { recursive: true });
    writeFileSync(join(this.imported, "--code--", deadName()), `{"type":"session"}\n{"text":"${SECRET}`);
  }

  /** Creates the leftovers of a page whose creation was killed. */
  leaveKilledView(): void {
    const folder = join(this.temporary, "sessiontree-A1b2C3");
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    writeFileSync(join(folder, deadName()), `<!doctype html><title>${SECRET}`);
  }

  /** Creates the leftovers of a killed redaction of a session: here, and in the trash. */
  leaveKilledRedaction(): void {
    const trash = join(PROCESS_DATA, "Trash", "files");
    const trashed = existsSync(trash) ? readdirSync(trash).map((name) => join(trash, name)) : [];
    for (const path of [...this.sessions(), ...trashed].filter((one) => !one.includes("/."))) {
      const folder = join(path, "..");
      writeFileSync(join(folder, deadName()), readFileSync(path));
      writeFileSync(join(folder, `.${path.slice(folder.length + 1)}.old`), readFileSync(path));
    }
  }
}

/** Creates a folder that is not in the home of an earlier one. */
function folderElsewhere(): string {
  vi.unstubAllEnvs();
  return temporaryFolder();
}

let dead = 0;

/** Returns a name for a temporary file of an ended process of this machine. */
function deadName(): string {
  dead++;
  const [, host = ""] = /^\.([0-9a-f]{8})-/.exec(basename(makeTemporaryPath("/"))) ?? [];
  return `.${host}-4194305-1-${dead.toString(16).padStart(16, "0")}.tmp`;
}

function holdsSecret(path: string): boolean {
  const bytes = readFileSync(path);
  const page = path.endsWith(".html") ? bytes.toString() : "";
  const blocks = Array.from(page.matchAll(PAGE_BLOCK), ([, block = ""]) =>
    gunzipSync(Buffer.from(block, "base64")),
  );
  return [bytes, ...blocks].some((one) => one.includes("hunter2"));
}
