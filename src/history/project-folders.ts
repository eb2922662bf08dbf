import { basename, join } from "node:path";
import { fieldsOf } from "../context/entry-fields.ts";
import { sha256 } from "../fs/digest.ts";
import { firstFolder } from "../import/source-text.ts";
import { parseJson } from "../jsonl/decode.ts";
import type { JsonRecord } from "../schema/json.ts";
import type { SideFiles } from "./side-files.ts";

/** Returns the working directories that Claude Code knows, from the files in which it stores its projects. */
export function claudeProjects(stateFiles: readonly string[], beside: SideFiles): string[] {
  const folders = stateFiles.flatMap((path) => Object.keys(fieldsOf(readJson(path, beside)["projects"])));
  return folders.filter(isFolderName);
}

/** Finds the working directory of a folder of Claude Code: a project of this name, else what the name says. */
export function cwdOfClaudeFolder(folder: string, projects: readonly string[]): string {
  const name = basename(folder);
  return projects.find((cwd) => claudeFolderName(cwd) === name) ?? name.replaceAll("-", "/");
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
export function cwdOfGeminiFile(path: string, known: Iterable<string>, beside: SideFiles): string {
  const [, home, folder] = /^(.*)[/\\]tmp[/\\]([^/\\]+)[/\\]/.exec(path) ?? [];
  if (home === undefined || folder === undefined) return "";
  const list = readJson(join(home, "projects.json"), beside);
  const names = { ...list, ...fieldsOf(list["projects"]) };
  const folders = Object.keys(names).filter(isFolderName);
  const named = folders.find((cwd) => names[cwd] === folder);
  if (named !== undefined) return named;
  return [...folders, ...known].find((cwd) => sha256(cwd) === folder) ?? "";
}

function isFolderName(path: string): boolean {
  return firstFolder([path]).cwd !== undefined;
}

function readJson(path: string, beside: SideFiles): JsonRecord {
  return fieldsOf(parseJson(beside.textOf(path))?.value);
}
