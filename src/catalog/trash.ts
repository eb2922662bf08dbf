import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { notASession } from "../log/file-errors.ts";
import { ifPresent, isThere, realFileSystem, syncFolder } from "../log/file-system.ts";
import { LeaseSlot } from "../log/lease-slot.ts";
import { removeOldFile } from "../log/replace-file.ts";
import { absolutePath } from "../log/session-paths.ts";
import { hasErrorCode } from "../log/system-error.ts";
import { messageOf, SessionError } from "../schema/errors.ts";
import { assertOptions, FLAG, SIGNAL } from "../schema/options.ts";
import { forgetSession } from "./forget-session.ts";
import { Pace } from "./pace.ts";
import { readHeaderOf } from "./read-header.ts";

/** How a session is deleted. */
export interface DeleteOptions {
  /** Whether it is removed for good instead of going into the trash. Default false. */
  readonly permanent?: boolean;
  /** Whether a file goes that is no session, or whose lease somebody has. Default false. */
  readonly force?: boolean;
  /** Ends the work with `ABORTED`, unless the file is on its way already. */
  readonly signal?: AbortSignal;
}

/** What became of a session that was deleted. */
export interface DeletedSession {
  /** Absolute path where it stood. */
  readonly path: string;
  /** Whether it is in the system's trash or gone for good. */
  readonly method: "trash" | "permanent";
}

/**
 * Deletes a session file: into the system's trash, from where it can be taken back, or for good.
 *
 * The lease beside the file goes with it; backups beside it stay. A symbolic link is not followed.
 *
 * @param path - May be relative, start with `~`, or be a `file://` URL.
 * @throws {SessionError} `SESSION_NOT_FOUND` if no plain file stands at the path, `NOT_A_SESSION` if it would be
 *   removed for good and is no session, `LEASE_HELD` if a process has its lease, `WRITE_FAILED` if the system has no
 *   trash or refuses, `ABORTED`; the file is then where it was.
 */
export async function deleteSession(path: string, options: DeleteOptions = {}): Promise<DeletedSession> {
  assertOptions(options, { permanent: FLAG, force: FLAG, signal: SIGNAL });
  const { permanent = false, force = false, signal } = options;
  const pace = new Pace(signal);
  pace.check();
  const absolute = absolutePath(path);
  // Checked first, because the trash says nothing of a file that is not there.
  assertPlainFile(absolute);
  if (permanent && !force && readHeaderOf(absolute) === undefined) throw notASession(absolute);
  const lease = new LeaseSlot(realFileSystem, absolute, { lease: force ? "none" : "fail" });
  takeLease(lease, absolute);
  try {
    if (permanent) removeForGood(absolute);
    else await putIntoTrash(absolute, pace);
  } finally {
    lease.release();
  }
  forgetSession(absolute);
  return { path: absolute, method: permanent ? "permanent" : "trash" };
}

/** Takes the lease; where the disk has no room for one, it is enough that nobody has it, or nothing could be deleted there. */
function takeLease(lease: LeaseSlot, path: string): void {
  try {
    lease.take();
  } catch (error) {
    const isFull = error instanceof Error && hasErrorCode(error.cause, "ENOSPC", "EDQUOT");
    if (!isFull || isThere(`${path}.lease`)) throw error;
  }
}

/**
 * Checks that a plain file stands at a path, and neither a link to one nor anything else.
 *
 * @throws {SessionError} `SESSION_NOT_FOUND`
 */
export function assertPlainFile(path: string): void {
  const stats = ifPresent(() => lstatSync(path));
  if (stats?.isFile()) return;
  const message = stats?.isSymbolicLink()
    ? `${path} is a symbolic link, and no session file. Delete the session that it leads to, or remove the link by hand.`
    : `There is no session file at ${path}. Check the path.`;
  throw new SessionError("SESSION_NOT_FOUND", message, { details: { path } });
}

function removeForGood(path: string): void {
  try {
    realFileSystem.unlinkSync(path);
    removeOldFile(realFileSystem, path);
    syncFolder(realFileSystem, dirname(path));
  } catch (cause) {
    throw refused(path, "remove it", "Remove it by hand if it must go.", cause);
  }
}

async function putIntoTrash(path: string, pace: Pace): Promise<void> {
  // Loaded only now: the package brings many others along, and most programs delete nothing.
  const { default: trash } = await import("trash");
  pace.check();
  try {
    // Without glob: a name such as `a[1].jsonl` would be taken for a pattern that matches other files.
    await trash(path, { glob: false });
  } catch (cause) {
    throw refused(path, "put it into the trash", "Remove it for good if it must go.", cause);
  }
}

function refused(path: string, what: string, advice: string, cause: unknown): SessionError {
  const reason = messageOf(cause).replace(/\.$/, "");
  return new SessionError(
    "WRITE_FAILED",
    `${path} stays, because the system does not ${what}: ${reason}. ${advice}`,
    {
      details: { path },
      cause,
    },
  );
}
