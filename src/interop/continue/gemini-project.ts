import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { toRecord } from "../../core/context/entry-fields.ts";
import { SessionError } from "../../core/format/errors.ts";
import { parseRecord } from "../../core/jsonl/decode.ts";
import { callIfPresent } from "../../session/fs/file-system.ts";

/**
 * Finds the name of a working directory's folder under `tmp` in Gemini CLI's folder.
 *
 * If Gemini CLI has never run in the directory, it has no folder yet. The result is then the name that Gemini CLI would choose,
 * if that name is available.
 *
 * @param home - Path of Gemini CLI's folder, such as `~/.gemini`.
 * @throws {SessionError} `NOT_A_SESSION` if Gemini CLI would choose a different name.
 */
export function findGeminiProject(home: string, cwd: string): string {
  const text = callIfPresent(() => readFileSync(join(home, "projects.json"), "utf8")) ?? "{}";
  const projects = toRecord(toRecord(parseRecord(text))["projects"]);
  const real = callIfPresent(() => realpathSync(cwd)) ?? cwd;
  for (const folder of [cwd, real]) {
    const known = projects[folder];
    if (typeof known === "string" && isProjectName(known)) return known;
  }
  const name = makeProjectName(real);
  const root = callIfPresent(() => readFileSync(join(home, "tmp", name, ".project_root"), "utf8"));
  const isFree = root === undefined ? !Object.values(projects).includes(name) : root.trim() === real;
  if (isFree) return name;
  const message = `Gemini CLI has not run in ${cwd} yet, and uses its name for another folder. Run "gemini" in ${cwd} once, and try again.`;
  throw new SessionError("NOT_A_SESSION", message, { details: { cwd, project: name } });
}

/** Returns the name that Gemini CLI gives to a working directory's folder if the name is available. */
export function makeProjectName(cwd: string): string {
  const last = cwd.split(/[/\\]/).findLast((name) => name !== "") ?? "";
  const name = last
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return name === "" ? "project" : name;
}

/** Returns whether a name from Gemini CLI's list is a valid folder name under `tmp`. */
function isProjectName(name: string): boolean {
  return /^[A-Za-z0-9][\w.-]*$/.test(name);
}
