import { existsSync } from "node:fs";
import { delimiter, extname, join } from "node:path";
import { UsageError } from "./usage-error.ts";

/** A program as Windows starts it. */
export interface WindowsProgram {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether the arguments are quoted already. */
  readonly isQuoted: boolean;
}

/** What cmd.exe expands, or takes for the end of an argument, even between quotation marks. */
const UNSAFE = /["%!\r\n]/;

const BATCH_FILE = /\.(?:bat|cmd)$/i;

/**
 * Returns how to start a program on Windows, where npm installs programs as batch files, which only cmd.exe runs.
 *
 * @param env - Its PATH and PATHEXT say where the program is.
 * @throws {UsageError} If cmd.exe would change an argument for a batch file.
 */
export function makeWindowsProgram(
  [program = "", ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): WindowsProgram {
  const found = findProgram(program, env);
  if (found === undefined || !BATCH_FILE.test(found)) return { file: program, args, isQuoted: false };
  const words = [found, ...args];
  const unsafe = words.find((word) => UNSAFE.test(word));
  if (unsafe !== undefined)
    throw new UsageError(
      `Windows cannot pass ${JSON.stringify(unsafe)} to ${program}, which is a batch file; avoid ", %, !, and line breaks.`,
    );
  return {
    file: env["ComSpec"] ?? "cmd.exe",
    args: ["/d", "/s", "/v:off", "/c", `"${words.map(quote).join(" ")}"`],
    isQuoted: true,
  };
}

/** Returns the path of the file that a program's name means; undefined if there is none. */
function findProgram(program: string, env: NodeJS.ProcessEnv): string | undefined {
  const suffixes = extname(program) === "" ? (env["PATHEXT"] ?? ".COM;.EXE;.BAT;.CMD").split(";") : [""];
  const isPath = /[/\\]/.test(program);
  const folders = isPath ? [""] : (env["PATH"] ?? env["Path"] ?? "").split(delimiter);
  return folders
    .flatMap((folder) => suffixes.map((suffix) => (isPath ? program : join(folder, program)) + suffix))
    .find((path) => existsSync(path));
}

/** Quotes an argument as programs of Windows read it: a backslash before a quotation mark would escape it. */
function quote(word: string): string {
  return `"${word.replace(/\\+$/, "$&$&")}"`;
}
