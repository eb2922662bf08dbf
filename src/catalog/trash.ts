import { lstatSync } from "node:fs";
import { SessionError } from "../errors.ts";
import { ifPresent } from "../store/file-system.ts";
import { absolutePath } from "../store/session-paths.ts";

/**
 * Puts a session file into the system's trash, from where it can be taken back.
 *
 * @throws {SessionError} `SESSION_NOT_FOUND` if no plain file stands at the path, `WRITE_FAILED` if the system has no
 *   trash or refuses; the file is then where it was.
 */
export async function deleteSession(path: string): Promise<void> {
  const absolute = absolutePath(path);
  // Checked first, because the trash says nothing of a file that is not there.
  if (!ifPresent(() => lstatSync(absolute))?.isFile()) {
    throw new SessionError("SESSION_NOT_FOUND", `There is no session file at ${absolute}. Check the path.`, {
      details: { path: absolute },
    });
  }
  // Loaded only now: the package brings many others along, and most programs delete nothing.
  const { default: trash } = await import("trash");
  try {
    // Without glob: a name such as `a[1].jsonl` would be taken for a pattern that matches other files.
    await trash(absolute, { glob: false });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SessionError(
      "WRITE_FAILED",
      `Cannot put ${absolute} into the trash: ${reason}. Remove it by hand if it must go.`,
      {
        details: { path: absolute },
        cause,
      },
    );
  }
}
