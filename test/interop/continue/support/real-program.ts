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

/** Maximum output size of a program, in bytes. */
const MAX_OUTPUT_BYTES = 16 * 1024 ** 2;

/** A real program that continues a session. */
export interface RealProgram {
  readonly agent: ContinuingAgent;
  /** Package name with the tested version. */
  readonly npmPackage: string;
  /** Path of its executable, relative to the packages folder. */
  readonly program: string;
  /** Path of the Node that it requires, relative to the packages folder, and its package. Default: the Node of the tests. */
  readonly node?: { readonly program: string; readonly npmPackage: string };
  /** Its folder for sessions, relative to its home. */
  readonly folder: string;
  /** Writes the files that the program needs to its home, and returns environment variables. */
  readonly prepare: (home: string, origin: string) => Readonly<Record<string, string>>;
  /** Returns the arguments that import a session's file; absent if the program finds the file by itself. */
  readonly importWith?: (file: string) => readonly string[];
  /** Returns the arguments that continue a session with one more prompt and then exit. */
  readonly continueWith: (session: ExportedSession, prompt: string) => readonly string[];
  /** Reads the content of a request to its model. */
  readonly readRequest: (body: unknown) => Said[];
}

/** Returns the reason why real programs cannot run here; undefined if they can. */
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

/** Inputs of a run: its folders, the session, and the user's next prompt. */
interface Run {
  readonly home: string;
  readonly cwd: string;
  readonly session: ExportedSession;
  readonly prompt: string;
}

/** Continues a session in a real program, in a separate project; returns the content it sends to its model. */
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

/** Writes a session's files to a program's folder. */
export function installSession(program: RealProgram, { home, session }: Pick<Run, "home" | "session">): void {
  for (const { path, bytes } of session.files) {
    const file = join(home, program.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
}

/** Runs a program that continues a session against a model that answers once; returns the last request's content. */
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
