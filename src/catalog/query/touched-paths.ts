import { fieldsOf } from "../../core/context/entry-fields.ts";
import { filesOfCall } from "../../core/facts/touched-files.ts";
import { type SearchedCall, textsInside } from "./search-text.ts";

/** Arguments of calls that are commands, which name files among other things. */
const COMMAND_KEYS = ["command", "cmd", "script"];

const BETWEEN = /[\s"'`;|&<>()=,]+/;

const DRIVE = /^[a-z]:\//i;

/** Tells whether a path is the wanted file, or below the wanted folder. */
export type PathTest = (path: string, cwd: string) => boolean;

/** Makes a test for paths, with either separator, absolute or not; a relative one may begin anywhere below the working directory. */
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

/** Tells whether a call names a file that fits: as an argument, in a patch, or as a word of a command. */
export function touches(
  { name, input }: Pick<SearchedCall, "name" | "input">,
  cwd: string,
  test: PathTest,
): boolean {
  if (filesOfCall({ name, input }).some(({ path }) => test(path, cwd))) return true;
  const fields = fieldsOf(input);
  const commands =
    typeof input === "string" ? [input] : COMMAND_KEYS.flatMap((key) => textsInside(fields[key]));
  return commands.some((command) => command.split(BETWEEN).some((word) => word !== "" && test(word, cwd)));
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
