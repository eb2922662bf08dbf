import { readFileSync, statSync } from "node:fs";
import { SessionError } from "../../schema/errors.ts";
import { htmlPage, type KnownSession, type PageSource } from "./html-page.ts";
import { namedSessions } from "./named-sessions.ts";

/** Larger files make pages that browsers refuse; what JavaScript holds as one text ends at twice as much. */
const MOST_BYTES = 256 * 1024 * 1024;

/** What a page of a session is besides the session itself. */
export interface SessionPageOptions {
  /** The entry at whose path the page opens; default: the session's leaf. */
  readonly leafId?: string | undefined;
  /** Returns the address of the page of another session; default: there is none. */
  readonly hrefOf?: (path: string) => string;
  /** Where a server has the bytes, and tells what is appended; default: they are in the page. */
  readonly server?: PageSource["server"];
  readonly indexUrl?: string | undefined;
  /** Size of the largest file of which a page is made. */
  readonly mostBytes?: number;
}

/** A session of which a page is made. */
export interface PagedSession {
  /** Absolute path of its file; undefined if it has none. */
  readonly path: string | undefined;
  /** Name of its file, or of one that is made of it. */
  readonly fileName: string;
  /** Its bytes, if it has no file. */
  readonly bytes?: Uint8Array | undefined;
}

/**
 * Makes the page of a session.
 *
 * @throws {SessionError} `WRITE_FAILED` if the session is too large for a page.
 * @remarks Cost: O(bytes), in memory several times over.
 */
export function sessionPage(session: PagedSession, options: SessionPageOptions = {}): string {
  const { path, fileName } = session;
  const { leafId, hrefOf, server, indexUrl, mostBytes = MOST_BYTES } = options;
  const size = path === undefined ? (session.bytes?.length ?? 0) : statSync(path).size;
  if (size > mostBytes) throw tooLarge(path ?? fileName, size);
  try {
    const bytes = path === undefined ? Buffer.from(session.bytes ?? []) : readFileSync(path);
    const named = namedSessions(path, bytes.toString("utf8"));
    const known = new Map(
      Array.from(named, ([name, file]): [string, KnownSession] => [
        name,
        hrefOf === undefined ? { path: file } : { path: file, href: hrefOf(file) },
      ]),
    );
    const source: PageSource = {
      fileName,
      leafId,
      known,
      server,
      indexUrl,
      bytes: server === undefined ? bytes : bytes.length,
    };
    return htmlPage(source);
  } catch (error) {
    // Quotes and backslashes take twice their room in the page, so that a smaller file can be too much, too.
    if (error instanceof Error && isTooLong(error)) throw tooLarge(path ?? fileName, size, error);
    throw error;
  }
}

function isTooLong(error: Error): boolean {
  return error instanceof RangeError || ("code" in error && error.code === "ERR_STRING_TOO_LONG");
}

function tooLarge(path: string, size: number, cause?: Error): SessionError {
  const message =
    `${path} has ${Math.round(size / 1e6)} MB, too much for one page. Take a branch of it, with ` +
    `"sessiontree export SESSION --jsonl branch.jsonl", with --leaf for an earlier end, and view that; ` +
    `"sessiontree export SESSION --markdown" writes a transcript of any size.`;
  return new SessionError("WRITE_FAILED", message, { details: { path, size }, cause });
}
