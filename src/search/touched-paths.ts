import { fieldsOf, listOf } from "../context/entry-fields.ts";
import { textsInside } from "./search-text.ts";

/** Arguments of calls that name files. */
const PATH_KEYS = [
  ...["path", "file_path", "filePath", "filepath", "absolute_path", "notebook_path"],
  ...["file", "filename", "target_file", "relative_workspace_path", "paths", "files"],
];

/** Arguments of calls that are commands, which name files among other things. */
const COMMAND_KEYS = ["command", "cmd", "script"];

/** What stands between the words of a command. */
const BETWEEN = /[\s"'`;|&<>()=,]+/;

/** The lines of a patch that name files, as in arguments of Codex. */
const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm;

const PATCH = "*** Begin Patch";

const DRIVE = /^[a-z]:\//i;

/** Tells whether a path is the wanted file, or below the wanted folder. */
export type PathTest = (path: string, cwd: string) => boolean;

/**
 * Makes a test for paths, however they are written: with either separator, absolute, or from the session's working directory.
 *
 * @param wanted - A path; a relative one may begin anywhere below the working directory.
 */
export function pathTest(wanted: string): PathTest {
  const whole = tidy(wanted);
  if (isAbsolute(whole)) return (path, cwd) => `${absolute(path, cwd)}/`.startsWith(`${whole}/`);
  return (path, cwd) => {
    const full = absolute(path, cwd);
    const root = `${tidy(cwd)}/`;
    const below = full.startsWith(root) ? full.slice(root.length) : full;
    return `/${below}/`.includes(`/${whole}/`);
  };
}

/** Tells whether the arguments of a call name a file that fits. */
export function touches(input: unknown, cwd: string, test: PathTest): boolean {
  const isWanted = (path: string) => path !== "" && test(path, cwd);
  const fields = fieldsOf(input);
  const named = PATH_KEYS.flatMap((key) => textsInside(fields[key]));
  const edited = listOf(fields["edits"]).flatMap((edit) =>
    PATH_KEYS.flatMap((key) => textsInside(fieldsOf(edit)[key])),
  );
  const commands =
    typeof input === "string" ? [input] : COMMAND_KEYS.flatMap((key) => textsInside(fields[key]));
  if ([...named, ...edited].some(isWanted) || commands.some((one) => one.split(BETWEEN).some(isWanted)))
    return true;
  return textsInside(input)
    .filter((text) => text.includes(PATCH))
    .some((text) =>
      Array.from(text.matchAll(PATCHED), ([, file, moved]) => file ?? moved ?? "").some(isWanted),
    );
}

function absolute(path: string, cwd: string): string {
  const own = path.replaceAll("\\", "/");
  return tidy(isAbsolute(own) ? own : `${cwd}/${own}`);
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || DRIVE.test(path);
}

/** Writes a path with slashes, without steps that lead nowhere; in small letters if it has a drive. */
function tidy(path: string): string {
  const written = path.replaceAll("\\", "/");
  const steps: string[] = [];
  for (const step of written.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  const whole = `${written.startsWith("/") ? "/" : ""}${steps.join("/")}`;
  return DRIVE.test(`${whole}/`) ? whole.toLowerCase() : whole;
}
