import { readFileSync } from "node:fs";
import { getErrorMessage } from "../../core/format/errors.ts";
import type { HideSecrets } from "../recall/cleaner.ts";
import type { SessionSource } from "../recall/session-source.ts";
import type { CommandCall } from "./command.ts";
import { rare, textOption } from "./parameters.ts";
import { getScope, resolvePath } from "./session-argument.ts";
import { UsageError } from "./usage-error.ts";

/** Option for the project whose past sessions are used. */
export const PROJECT = textOption(
  "--project <folder>",
  "the project whose sessions to use; default: the current folder",
);

/** Option for a file of patterns that match text to hide in answers. */
export const SECRETS = rare(
  textOption("--secrets <file>", "regular expressions, one per line; answers hide what they match"),
);

/** Returns the sessions to use in answers: those in the database or folder that the call specifies, otherwise all. */
export async function getSource(call: CommandCall): Promise<SessionSource> {
  const { dir, io, stored } = call;
  const { makeFileSource, makeStoreSource } = await import("../recall/session-source.ts");
  if (stored !== undefined) return makeStoreSource(await stored.store());
  // The agent may be about to create the folder.
  return makeFileSource(dir === undefined ? getScope(call, true) : { sessionDir: resolvePath(io.cwd, dir) });
}

/**
 * Returns a function that hides secrets; undefined if the call specifies no patterns.
 *
 * @throws {UsageError} If the file cannot be read, or a line is not a regular expression.
 */
export async function getSecrets({ get, io }: CommandCall): Promise<HideSecrets | undefined> {
  const file = get(SECRETS);
  if (file === undefined) return undefined;
  const { secretPatterns } = await import("../recall/cleaner.ts");
  try {
    return secretPatterns(readFileSync(resolvePath(io.cwd, file), "utf8"));
  } catch (error) {
    throw new UsageError(`${file} has no patterns of secrets: ${getErrorMessage(error)}`);
  }
}
