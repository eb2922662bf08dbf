import { readFileSync, statSync } from "node:fs";
import { SessionError } from "../../../core/format/errors.ts";
import { closeFile, openToScan, piecesOf } from "../../../session/files/file-mark.ts";
import { htmlPage, type KnownSession, type PageSource } from "./html-page.ts";
import { NAME_BYTES, namedSessions } from "./named-sessions.ts";

/** Larger files are refused: a page holds its session in memory. */
const MOST_BYTES = 256 * 1024 * 1024;

/** What a page of a session is besides the session itself. */
export interface SessionPageOptions {
  /** The entry at whose path the page opens; default: the session's leaf. */
  readonly leafId?: string | undefined;
  /** Where a server has the bytes, and tells what is appended; default: they are in the page. */
  readonly server?: PageSource["server"];
  readonly indexUrl?: string | undefined;
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
  const { leafId, server, indexUrl, mostBytes = MOST_BYTES } = options;
  const size = path === undefined ? (session.bytes?.length ?? 0) : statSync(path).size;
  if (size > mostBytes) throw tooLarge(path ?? fileName, size);
  if (server !== undefined) return htmlPage({ path, fileName, size, leafId, server, indexUrl });
  const bytes = bytesOf(session);
  const known = knownOf(namedSessions(path, [bytes]));
  return htmlPage({ path, fileName, leafId, known, indexUrl, bytes });
}

function bytesOf({ path, bytes = new Uint8Array() }: PagedSession): Buffer {
  return path === undefined ? Buffer.from(bytes) : readFileSync(path);
}

/**
 * Finds the sessions that a session names, and that exist.
 *
 * @param path - Absolute path of its file.
 * @param hrefOf - Returns the address of the page of a session.
 * @returns By the name that the session uses.
 * @remarks Cost: O(bytes).
 */
export function linkedSessions(path: string, hrefOf: (path: string) => string): Map<string, KnownSession> {
  const file = openToScan(path);
  try {
    return knownOf(namedSessions(path, piecesOf(file, 0, NAME_BYTES)), hrefOf);
  } finally {
    closeFile(file);
  }
}

function knownOf(
  named: ReadonlyMap<string, string>,
  hrefOf?: (path: string) => string,
): Map<string, KnownSession> {
  return new Map(
    Array.from(named, ([name, path]) => [
      name,
      hrefOf === undefined ? { path } : { path, href: hrefOf(path) },
    ]),
  );
}

function tooLarge(path: string, size: number): SessionError {
  const message =
    `${path} has ${Math.round(size / 1e6)} MB, too much for one page. Take a branch of it, with ` +
    `"sessiontree export SESSION --jsonl branch.jsonl", with --leaf for an earlier end, and view that; ` +
    `"sessiontree export SESSION --markdown" writes a transcript of any size.`;
  return new SessionError("WRITE_FAILED", message, { details: { path, size } });
}
