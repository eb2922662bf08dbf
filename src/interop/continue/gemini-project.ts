import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { toRecord } from "../../core/context/entry-fields.ts";
import { SessionError } from "../../core/format/errors.ts";
import { parseRecord } from "../../core/jsonl/decode.ts";
import { callIfPresent } from "../../session/fs/file-system.ts";

/**
 * Finds the name of a working directory's folder below `tmp` in Gemini CLI's folder.
 *
 * A directory in which the program has never run has no folder yet; the result is then the name that the program will choose, if
 * it is free.
 *
 * @param home - Gemini CLI's folder, such as `~/.gemini`.
 * @throws {SessionError} `NOT_A_SESSION` if the program would choose another name.
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
  const message = `Gemini CLI does not know the folder ${cwd}, and uses its name for another one. Run "gemini" in that folder once, and try again.`;
  throw new SessionError("NOT_A_SESSION", message, { details: { cwd, project: name } });
}

/** Makes the name that Gemini CLI gives to the folder of a working directory if the name is free. */
export function makeProjectName(cwd: string): string {
  const last = cwd.split(/[/\\]/).findLast((name) => name !== "") ?? "";
  const name = last
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return name === "" ? "project" : name;
}

/** Returns whether a name in the program's list is a valid folder name below `tmp`. */
function isProjectName(name: string): boolean {
  return /^[A-Za-z0-9][\w.-]*$/.test(name);
}
