import { existsSync } from "node:fs";
import { delimiter, extname, join } from "node:path";
import { UsageError } from "./usage-error.ts";

/** Program as started by Windows. */
export interface WindowsProgram {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether the arguments are already quoted. */
  readonly isQuoted: boolean;
}

/** Characters that cmd.exe expands, or interprets as the end of an argument, even between quotation marks. */
const UNSAFE = /["%!\r\n]/;

const BATCH_FILE = /\.(?:bat|cmd)$/i;

/**
 * Returns the command that starts a program on Windows, where npm installs programs as batch files, which require cmd.exe.
 *
 * @param env - Environment; its PATH and PATHEXT determine the program's file.
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

/** Returns the path of the file for a program's name; undefined if there is no such file. */
function findProgram(program: string, env: NodeJS.ProcessEnv): string | undefined {
  const suffixes = extname(program) === "" ? (env["PATHEXT"] ?? ".COM;.EXE;.BAT;.CMD").split(";") : [""];
  const isPath = /[/\\]/.test(program);
  const folders = isPath ? [""] : (env["PATH"] ?? env["Path"] ?? "").split(delimiter);
  return folders
    .flatMap((folder) => suffixes.map((suffix) => (isPath ? program : join(folder, program)) + suffix))
    .find((path) => existsSync(path));
}

/** Quotes an argument for Windows programs. Doubles backslashes at the end, because they would escape the quotation mark. */
function quote(word: string): string {
  return `"${word.replace(/\\+$/, "$&$&")}"`;
}
