import { readFileSync, statSync } from "node:fs";
import { closeFile, openToScan, piecesOf } from "../../catalog/scanned-file.ts";
import { SessionError } from "../../schema/errors.ts";
import { htmlPage, type KnownSession, type PageSource } from "./html-page.ts";
import { NAME_BYTES, namedSessions } from "./named-sessions.ts";

/** Larger files are refused: a page holds its session in memory. */
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
  readonly mostBytes?: number;
}

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
  // What a server hands out is not read here but for the names in it.
  const bytes = server === undefined ? bytesOf(session) : size;
  const named = typeof bytes === "number" ? namesInFile(path) : namedSessions(path, [bytes]);
  const known = new Map(
    Array.from(named, ([name, file]): [string, KnownSession] => [
      name,
      hrefOf === undefined ? { path: file } : { path: file, href: hrefOf(file) },
    ]),
  );
  return htmlPage({ path, fileName, leafId, known, server, indexUrl, bytes });
}

function bytesOf({ path, bytes = new Uint8Array() }: PagedSession): Buffer {
  return path === undefined ? Buffer.from(bytes) : readFileSync(path);
}

function namesInFile(path = ""): Map<string, string> {
  const file = openToScan(path);
  try {
    return namedSessions(path, piecesOf(file, 0, NAME_BYTES));
  } finally {
    closeFile(file);
  }
}

function tooLarge(path: string, size: number): SessionError {
  const message =
    `${path} has ${Math.round(size / 1e6)} MB, too much for one page. Take a branch of it, with ` +
    `"sessiontree export SESSION --jsonl branch.jsonl", with --leaf for an earlier end, and view that; ` +
    `"sessiontree export SESSION --markdown" writes a transcript of any size.`;
  return new SessionError("WRITE_FAILED", message, { details: { path, size } });
}
