import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fieldsOf } from "../context/entry-fields.ts";
import { parseJson } from "../jsonl/decode.ts";
import { sha256 } from "../log/digest.ts";
import { ifPresent } from "../log/file-system.ts";
import type { JsonRecord } from "../schema/json.ts";

/** Finds the working directory that a folder of Claude Code stands for: as the program's own file says, else by its name. */
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

/** Names the folder in which Claude Code keeps the sessions of a working directory. */
export function claudeFolderName(cwd: string): string {
  const name = cwd.replace(/[^a-zA-Z0-9]/g, "-");
  if (name.length <= LONGEST_NAME) return name;
  let hash = 0;
  for (let i = 0; i < cwd.length; i++) hash = ((hash << 5) - hash + cwd.charCodeAt(i)) | 0;
  return `${name.slice(0, LONGEST_NAME)}-${Math.abs(hash).toString(36)}`;
}

/**
 * Finds the working directory of a session of Gemini CLI, whose folder has a name or a digest of it.
 *
 * @param known - Working directories of other sessions, which may be the one.
 * @returns Empty if none fits.
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
