import { COMMANDS } from "./commands.ts";
import type { CliIo } from "./io.ts";

/** Matches the program in a command line for a shell, such as `sessiontree list`, unless it begins with npx. */
const PROGRAM = new RegExp(
  `(?<![\\w/.@-]|npx (?:-\\S+ )*)sessiontree (?=(?:help|--help|${COMMANDS.map(({ name }) => name).join("|")})(?![\\w-]))`,
  "g",
);

/** Matches the script that npx runs for this program. */
const SCRIPT = /^['"]?sessiontree\b/;

/**
 * Adds `npx` to the command lines in a text for people if npx started the program, because its name alone may not be in the
 * `PATH`.
 */
export function toRunnable(text: string, { env }: Pick<CliIo, "env">): string {
  const isByNpx = env["npm_lifecycle_event"] === "npx" && SCRIPT.test(env["npm_lifecycle_script"] ?? "");
  return isByNpx ? text.replace(PROGRAM, "npx $&") : text;
}
