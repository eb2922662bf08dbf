import { type ExecFileOptions, execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { SessionManager } from "sessiontree";
import { exportFor } from "../../../../src/interop/continue/export-for.ts";
import type {
  ContinuingAgent,
  ExportedSession,
  ExportForOptions,
} from "../../../../src/interop/continue/exported-session.ts";
import { ModelServer } from "../../../apps/recall/support/model-server.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import type { Said } from "./said.ts";

/** Folder in which the real programs are installed. */
const AGENTS = process.env["SESSIONTREE_AGENTS"] ?? "";

/** What a program may write to its output. */
const MAX_OUTPUT_BYTES = 16 * 1024 ** 2;

/** A real program that continues a session. */
export interface RealProgram {
  readonly agent: ContinuingAgent;
  /** With the version that was tried. */
  readonly npmPackage: string;
  /** Its program, below the folder of packages. */
  readonly program: string;
  /** The Node that it needs, below the folder of packages, and its package. Default: the one that runs the tests. */
  readonly node?: { readonly program: string; readonly npmPackage: string };
  /** Its folder, below its home, in which it keeps sessions. */
  readonly folder: string;
  /** Writes what the program needs into its home, and returns variables. */
  readonly prepare: (home: string, origin: string) => Readonly<Record<string, string>>;
  /** Returns the arguments with which it takes the file of a session in; absent if it finds the file by itself. */
  readonly importWith?: (file: string) => readonly string[];
  /** Returns the arguments with which it continues a session with one more prompt, and ends. */
  readonly continueWith: (session: ExportedSession, prompt: string) => readonly string[];
  /** Reads what a request to its model says. */
  readonly readRequest: (body: unknown) => Said[];
}

/** Returns why real programs cannot be run here; undefined if they can. */
export function findWhyNot(programs: readonly RealProgram[]): string | undefined {
  const needed = programs.flatMap(({ node, ...program }) =>
    node === undefined ? [program] : [program, node],
  );
  if (AGENTS !== "" && needed.every((one) => existsSync(findProgram(one)))) return undefined;
  const packages = needed.map(({ npmPackage }) => npmPackage).join(" ");
  return `needs the real programs: npm install --prefix FOLDER ${packages}, and SESSIONTREE_AGENTS=FOLDER`;
}

function findProgram({ program }: Pick<RealProgram, "program">): string {
  return join(AGENTS, "node_modules", program);
}

/** What a run needs: a folder of its own, the session, and what the user says next. */
interface Run {
  readonly home: string;
  readonly cwd: string;
  readonly session: ExportedSession;
  readonly prompt: string;
}

/** Continues a session in a real program, in a project of its own; returns what it sends to its model. */
export async function continueReally(
  program: RealProgram,
  session: SessionManager,
  options: ExportForOptions,
  prompt: string,
): Promise<Said[]> {
  const home = temporaryFolder();
  const cwd = join(home, "project");
  mkdirSync(cwd);
  const exported = exportFor(program.agent, session, { cwd, ...options });
  installSession(program, { home, session: exported });
  return runProgramOn(program, { home, cwd, session: exported, prompt });
}

/** Writes the files of a session into a program's folder. */
export function installSession(program: RealProgram, { home, session }: Pick<Run, "home" | "session">): void {
  for (const { path, bytes } of session.files) {
    const file = join(home, program.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
}

/** Runs a program that continues a session, against a model that answers once; returns what its last request says. */
export async function runProgramOn(program: RealProgram, run: Run): Promise<Said[]> {
  await using server = await ModelServer.start([{ text: "Continued." }]);
  mkdirSync(join(run.home, program.folder), { recursive: true });
  const env = program.prepare(run.home, server.origin);
  const options = {
    cwd: run.cwd,
    env: { PATH: process.env["PATH"], HOME: run.home, XDG_CACHE_HOME: join(run.home, "cache"), ...env },
    maxBuffer: MAX_OUTPUT_BYTES,
  };
  const [file] = run.session.files;
  if (program.importWith !== undefined && file !== undefined)
    await execute(program, program.importWith(join(run.home, program.folder, file.path)), options);
  await execute(program, program.continueWith(run.session, run.prompt), options);
  return program.readRequest(server.requests.at(-1));
}

/** Runs a program without input. */
async function execute(
  program: RealProgram,
  args: readonly string[],
  options: ExecFileOptions,
): Promise<void> {
  const file = findProgram(program);
  const node = program.node === undefined ? process.execPath : findProgram(program.node);
  const line = file.endsWith(".js") ? [node, file, ...args] : [file, ...args];
  const running = promisify(execFile)(line[0] ?? "", line.slice(1), options);
  running.child.stdin?.end();
  await running;
}
