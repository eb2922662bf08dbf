import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fieldsOf } from "../context/entry-fields.ts";
import { parseJson } from "../jsonl/decode.ts";
import { sha256 } from "../log/digest.ts";
import { ifPresent } from "../log/file-system.ts";
import type { JsonRecord } from "../schema/json.ts";

/** Finds the working directory of a folder of Claude Code: from the program's own file, else from the folder's name. */
export function cwdOfClaudeFolder(folder: string, stateFiles: readonly string[]): string {
  const name = basename(folder);
  for (const path of stateFiles) {
    const projects = fieldsOf(readJson(path)["projects"]);
    const cwd = Object.keys(projects).find((one) => claudeFolderName(one) === name);
    if (cwd !== undefined) return cwd;
  }
  return name.replaceAll("-", "/");
}

const LONGEST_NAME = 200;

/** Returns the name of Claude Code's folder for a working directory. */
export function claudeFolderName(cwd: string): string {
  const name = cwd.replace(/[^a-zA-Z0-9]/g, "-");
  if (name.length <= LONGEST_NAME) return name;
  let hash = 0;
  for (let i = 0; i < cwd.length; i++) hash = ((hash << 5) - hash + cwd.charCodeAt(i)) | 0;
  return `${name.slice(0, LONGEST_NAME)}-${Math.abs(hash).toString(36)}`;
}

/**
 * Finds the working directory of a session of Gemini CLI, whose folder has its name or digest.
 *
 * @param known - Working directories of other sessions, as candidates.
 * @returns Empty if none matches.
 */
export function cwdOfGeminiFile(path: string, known: Iterable<string>): string {
  const [, home, folder] = /^(.*)[/\\]tmp[/\\]([^/\\]+)[/\\]/.exec(path) ?? [];
  if (home === undefined || folder === undefined) return "";
  const list = readJson(join(home, "projects.json"));
  const names = { ...list, ...fieldsOf(list["projects"]) };
  const named = Object.keys(names).find((cwd) => names[cwd] === folder);
  if (named !== undefined) return named;
  return [...Object.keys(names), ...known].find((cwd) => sha256(cwd) === folder) ?? "";
}

function readJson(path: string): JsonRecord {
  return fieldsOf(parseJson(ifPresent(() => readFileSync(path, "utf8")) ?? "")?.value);
}
