import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { namedSessionPath } from "../../log/session-paths.ts";
import { looksLikePath } from "../session-argument.ts";

/** A field whose name speaks of a session, and its text, as JSON writes both. */
const NAMED = /"\w{0,40}session\w{0,40}"\s*:\s*("(?:[^"\\]|\\.){1,1000}")/gi;

/** Of more names than this the rest is not looked up. */
const MOST_NAMES = 1000;

/**
 * Finds the sessions that a session names, such as those of its subagents, and that exist: by path, or by an id in the
 * same folder or in the one that goes by the session's name.
 *
 * @param path - Absolute path of the session; undefined if it has no file, so that only absolute paths lead anywhere.
 * @param text - The session.
 * @returns Absolute paths, by the name that the session uses.
 */
export function namedSessions(path: string | undefined, text: string): Map<string, string> {
  const names = new Set<string>();
  for (const [, json = '""'] of text.matchAll(NAMED)) {
    if (names.size >= MOST_NAMES) break;
    const name = textIn(json);
    if (name !== "") names.add(name);
  }
  const found = new Map<string, string>();
  if (names.size === 0) return found;
  const folder = path === undefined ? undefined : dirname(path);
  const files =
    path === undefined || folder === undefined
      ? []
      : [folder, join(folder, basename(path, ".jsonl"))].flatMap(sessionFilesIn);
  for (const name of names) {
    const file = looksLikePath(name) ? fileAt(namedSessionPath(name, path)) : fileWithId(files, name);
    if (file !== undefined && file !== path) found.set(name, file);
  }
  return found;
}

/** The text that a piece of JSON stands for; empty if it is none after all. */
function textIn(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" ? value : "";
  } catch (error) {
    if (error instanceof SyntaxError) return "";
    throw error;
  }
}

function sessionFilesIn(folder: string): string[] {
  const names = ifReachable(() => readdirSync(folder)) ?? [];
  return names.filter((name) => name.endsWith(".jsonl")).map((name) => join(folder, name));
}

function fileAt(path: string | undefined): string | undefined {
  if (!path?.endsWith(".jsonl")) return undefined;
  return ifReachable(() => statSync(path))?.isFile() ? path : undefined;
}

/** Looks at a path that a session names, which may be missing, forbidden, or no path at all: then it is no link. */
function ifReachable<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

/** Names of session files end in their id, behind the time of their making. */
function fileWithId(files: readonly string[], id: string): string | undefined {
  return files.find((file) => {
    const name = basename(file, ".jsonl");
    return name === id || name.endsWith(`_${id}`);
  });
}
