import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { toText } from "../../../core/context/message-parts.ts";
import { SessionError } from "../../../core/format/errors.ts";
import { BytePattern } from "../../../core/jsonl/byte-pattern.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { readFilePieces, withScannedFile } from "../../../session/files/file-mark.ts";
import { callUnlessRefused } from "../../../session/files/skipped-files.ts";
import { findNamedSessionPath } from "../../../session/log/session-paths.ts";
import { isLikePath } from "../session-argument.ts";
import { type KnownSession, makeHtmlPage, type PageSource } from "./html-page.ts";

/** Maximum size of a session's file, because a page keeps its session in memory. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Options for the page of a session. */
export interface SessionPageOptions {
  /** Entry whose path the page shows first; default: the session's leaf. */
  readonly leafId?: string | undefined;
  /** Server addresses of the bytes and of appended data; by default, the bytes are in the page. */
  readonly server?: PageSource["server"];
  readonly indexUrl?: string | undefined;
  readonly maxBytes?: number;
}

/** Session for which a page is created. */
export interface PagedSession {
  /** Absolute path of its file; undefined if it has no file. */
  readonly path: string | undefined;
  /** Name of its file, or of a file created from the session. */
  readonly fileName: string;
  /** Bytes of a session without a file. */
  readonly bytes?: Uint8Array | undefined;
}

/**
 * Creates the page of a session.
 *
 * @throws {SessionError} `WRITE_FAILED` if the session is too large for a page.
 * @remarks Cost: O(bytes), with several copies in memory.
 */
export function makeSessionPage(session: PagedSession, options: SessionPageOptions = {}): string {
  const { path, fileName } = session;
  const { leafId, server, indexUrl, maxBytes = MAX_BYTES } = options;
  const size = path === undefined ? (session.bytes?.length ?? 0) : statSync(path).size;
  if (size > maxBytes) throw makeTooLargePageError(path ?? fileName, size);
  if (server !== undefined) return makeHtmlPage({ path, fileName, size, leafId, server, indexUrl });
  const bytes = readBytes(session);
  const known = findKnown(findNamedInPieces(path, [bytes]));
  return makeHtmlPage({ path, fileName, leafId, known, indexUrl, bytes });
}

function readBytes({ path, bytes = new Uint8Array() }: PagedSession): Buffer {
  return path === undefined ? Buffer.from(bytes) : readFileSync(path);
}

/**
 * Finds the existing sessions that a session refers to.
 *
 * @param path - Absolute path of the session's file.
 * @param makeHref - Returns the address of a session's page.
 * @returns Sessions, keyed by the name that the session uses for them.
 * @remarks Cost: O(bytes).
 */
export function findLinkedSessions(
  path: string,
  makeHref: (path: string) => string,
): Map<string, KnownSession> {
  return withScannedFile(path, (file) =>
    findKnown(findNamedInPieces(path, readFilePieces(file, 0, NAME_BYTES)), makeHref),
  );
}

function findKnown(
  named: ReadonlyMap<string, string>,
  makeHref?: (path: string) => string,
): Map<string, KnownSession> {
  return new Map(
    Array.from(named, ([name, path]) => [
      name,
      makeHref === undefined ? { path } : { path, href: makeHref(path) },
    ]),
  );
}

function makeTooLargePageError(path: string, size: number): SessionError {
  const message =
    `${path} has ${Math.round(size / 1e6)} MB, which is too large for one page. Export a branch with ` +
    `"sessiontree export SESSION --jsonl branch.jsonl", adding --leaf for an earlier end, and view that; ` +
    `"sessiontree export SESSION --markdown" writes a transcript of any size.`;
  return new SessionError("WRITE_FAILED", message, { details: { path, size } });
}

/** Word in the names of fields that refer to a session. */
const WORD = new BytePattern([..."session"].map((letter) => Buffer.from(letter + letter.toUpperCase())));

/** Rest of such a field name, and the JSON between it and a string. */
const REST_OF_NAME = /^\w{0,40}"\s{0,20}:\s{0,20}"/;

/** Maximum number of bytes of that rest, and of a string that is treated as a name. */
const REST_BYTES = 90;
const MAX_NAME_BYTES = 4000;

/** Maximum size of a field that contains a name, in bytes. */
const NAME_BYTES = 64 + REST_BYTES + MAX_NAME_BYTES;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Maximum number of names that are looked up. */
const MAX_NAMES = 1000;

/**
 * Finds the existing sessions that a session refers to, such as its subagents' sessions: by path, or by an id in the same folder
 * or in the folder named after the session.
 *
 * @param path - Absolute path of the session; undefined if it has no file, so that only absolute paths resolve.
 * @param pieces - Pieces of the session; each repeats the last `NAME_BYTES` bytes of the previous piece.
 * @returns Absolute paths, keyed by the name that the session uses.
 */
function findNamedInPieces(path: string | undefined, pieces: Iterable<Buffer>): Map<string, string> {
  const names = new Set<string>();
  for (const piece of pieces) addNames(piece, names);
  const found = new Map<string, string>();
  if (names.size === 0) return found;
  const folder = path === undefined ? undefined : dirname(path);
  const files =
    path === undefined || folder === undefined
      ? []
      : [folder, join(folder, basename(path, ".jsonl"))].flatMap(listSessionFiles);
  for (const name of names) {
    const file = isLikePath(name) ? findFile(findNamedSessionPath(name, path)) : findFileWithId(files, name);
    if (file !== undefined && file !== path) found.set(name, file);
  }
  return found;
}

function addNames(bytes: Buffer, names: Set<string>): void {
  let at = WORD.find(bytes, 0, bytes.length);
  while (at !== -1 && names.size < MAX_NAMES) {
    const behind = at + WORD.length;
    const [rest = ""] = REST_OF_NAME.exec(bytes.toString("latin1", behind, behind + REST_BYTES)) ?? [];
    const name = rest === "" ? "" : readTextAt(bytes, behind + rest.length - 1);
    if (name !== "") names.add(name);
    at = WORD.find(bytes, behind, bytes.length);
  }
}

/** Parses the JSON string that begins at a quotation mark; empty if it does not end within the maximum length. */
function readTextAt(bytes: Buffer, start: number): string {
  const max = Math.min(bytes.length, start + MAX_NAME_BYTES);
  for (let end = start + 1; end < max; end++) {
    if (bytes[end] === BACKSLASH) end++;
    else if (bytes[end] === QUOTE) return toText(parseJson(bytes.toString("utf8", start, end + 1))?.value);
  }
  return "";
}

function listSessionFiles(folder: string): string[] {
  const names = callUnlessRefused(() => readdirSync(folder)) ?? [];
  return names.filter((name) => name.endsWith(".jsonl")).map((name) => join(folder, name));
}

function findFile(path: string | undefined): string | undefined {
  if (!path?.endsWith(".jsonl")) return undefined;
  // The name may refer to a missing or inaccessible file, or may not be a path at all; in these cases, there is no link.
  return callUnlessRefused(() => statSync(path))?.isFile() ? path : undefined;
}

/** Finds the file with an id: session file names end with the id, after the creation time. */
function findFileWithId(files: readonly string[], id: string): string | undefined {
  return files.find((file) => {
    const name = basename(file, ".jsonl");
    return name === id || name.endsWith(`_${id}`);
  });
}
