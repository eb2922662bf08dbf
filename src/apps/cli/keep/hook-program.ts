import { statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { callUnlessRefused } from "../../../session/files/skipped-files.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import type { HookProgram } from "./agent-hooks.ts";

const NAME = "sessiontree";

/** Where npx keeps what it runs: what is in there may be gone tomorrow. */
const NPX_CACHE = /[/\\]_npx[/\\]/;

/** What is known of this program when it is run. */
export interface RunningProgram {
  readonly env: { readonly [name: string]: string | undefined };
  /** Path of Node. */
  readonly execPath: string;
  /** Path of the script that Node runs. */
  readonly script: string;
  /** Folder of sessions that hooks are to import into; undefined for the usual one. */
  readonly dir: string | undefined;
}

/** Returns how hooks call this program: by its name if agents find it in the `PATH`, else by its path, or through npx. */
export function findHookProgram({ env, execPath, script, dir }: RunningProgram): HookProgram {
  const end = dir === undefined ? "" : `--dir ${quoteForShell(dir)}`;
  const folders = (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "" && !NPX_CACHE.test(folder));
  // Where Windows has the name alone, it has a script for each shell next to it.
  if (folders.some((folder) => isProgram(join(folder, NAME)))) return { start: NAME, end };
  if (NPX_CACHE.test(script)) return { start: `npx --prefer-offline -y ${NAME}`, end };
  return { start: `${quoteForShell(execPath)} ${quoteForShell(script)}`, end };
}

function isProgram(path: string): boolean {
  return callUnlessRefused(() => statSync(path, { throwIfNoEntry: false }))?.isFile() === true;
}
