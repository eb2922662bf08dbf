import { statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { callUnlessRefused } from "../../../session/files/skipped-files.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import type { HookProgram } from "./agent-hooks.ts";

const NAME = "sessiontree";

/** Cache folder of npx, whose contents may be deleted at any time. */
const NPX_CACHE = /[/\\]_npx[/\\]/;

/** Facts about the running program. */
export interface RunningProgram {
  readonly env: { readonly [name: string]: string | undefined };
  /** Path of Node. */
  readonly execPath: string;
  /** Path of the script that Node runs. */
  readonly script: string;
  /** Destination folder for sessions imported by hooks; undefined for the default folder. */
  readonly dir: string | undefined;
}

/** Returns how hooks call this program: by its name if it is in the `PATH`, otherwise by its path or through npx. */
export function findHookProgram({ env, execPath, script, dir }: RunningProgram): HookProgram {
  const end = dir === undefined ? "" : `--dir ${quoteForShell(dir)}`;
  const folders = (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "" && !NPX_CACHE.test(folder));
  // On Windows, a file with only the name is installed together with a script for each shell.
  if (folders.some((folder) => isProgram(join(folder, NAME)))) return { start: NAME, end };
  if (NPX_CACHE.test(script)) return { start: `npx --prefer-offline -y ${NAME}`, end };
  return { start: `${quoteForShell(execPath)} ${quoteForShell(script)}`, end };
}

function isProgram(path: string): boolean {
  return callUnlessRefused(() => statSync(path, { throwIfNoEntry: false }))?.isFile() === true;
}
