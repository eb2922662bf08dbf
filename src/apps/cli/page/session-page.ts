import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { toText } from "../../../core/context/message-parts.ts";
import { SessionError } from "../../../core/format/errors.ts";
import { BytePattern } from "../../../core/jsonl/byte-pattern.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { closeFile, openToScan, readFilePieces } from "../../../session/files/file-mark.ts";
import { callUnlessRefused } from "../../../session/files/skipped-files.ts";
import { findNamedSessionPath } from "../../../session/log/session-paths.ts";
import { isLikePath } from "../session-argument.ts";
import { type KnownSession, makeHtmlPage, type PageSource } from "./html-page.ts";

/** Larger files are refused: a page holds its session in memory. */
const MAX_BYTES = 256 * 1024 * 1024;

/** What a page of a session is besides the session itself. */
export interface SessionPageOptions {
  /** The entry at whose path the page opens; default: the session's leaf. */
  readonly leafId?: string | undefined;
  /** Where a server has the bytes, and tells what is appended; default: they are in the page. */
  readonly server?: PageSource["server"];
  readonly indexUrl?: string | undefined;
  readonly maxBytes?: number;
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
 * Finds the sessions that a session names, and that exist.
 *
 * @param path - Absolute path of its file.
 * @param makeHref - Returns the address of the page of a session.
 * @returns By the name that the session uses.
 * @remarks Cost: O(bytes).
 */
export function findLinkedSessions(
  path: string,
  makeHref: (path: string) => string,
): Map<string, KnownSession> {
  const file = openToScan(path);
  try {
    return findKnown(findNamedInPieces(path, readFilePieces(file, 0, NAME_BYTES)), makeHref);
  } finally {
    closeFile(file);
  }
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
    `${path} has ${Math.round(size / 1e6)} MB, too much for one page. Take a branch of it, with ` +
    `"sessiontree export SESSION --jsonl branch.jsonl", with --leaf for an earlier end, and view that; ` +
    `"sessiontree export SESSION --markdown" writes a transcript of any size.`;
  return new SessionError("WRITE_FAILED", message, { details: { path, size } });
}

/** The word in the names of fields that speak of a session. */
const WORD = new BytePattern([..."session"].map((letter) => Buffer.from(letter + letter.toUpperCase())));

/** The rest of such a name, and what JSON writes between it and a text. */
const REST_OF_NAME = /^\w{0,40}"\s{0,20}:\s{0,20}"/;

/** Bytes in which that stands, and bytes of the longest text that is taken for a name. */
const REST_BYTES = 90;
const MAX_NAME_BYTES = 4000;

/** Bytes that a field with a name takes at most. */
const NAME_BYTES = 64 + REST_BYTES + MAX_NAME_BYTES;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Of more names than this the rest is not looked up. */
const MAX_NAMES = 1000;

/**
 * Finds the sessions that a session names, such as those of its subagents, and that exist: by path, or by an id in the
 * same folder or in the one that goes by the session's name.
 *
 * @param path - Absolute path of the session; undefined if it has no file, so that only absolute paths lead anywhere.
 * @param pieces - The session, piece by piece; each repeats the last `NAME_BYTES` of the one before.
 * @returns Absolute paths, by the name that the session uses.
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

/** The text that JSON writes from a quotation mark on; empty if it does not end soon. */
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
  // What a session names may be missing, forbidden, or no path at all: then it is no link.
  return callUnlessRefused(() => statSync(path))?.isFile() ? path : undefined;
}

/** Names of session files end in their id, behind the time of their making. */
function findFileWithId(files: readonly string[], id: string): string | undefined {
  return files.find((file) => {
    const name = basename(file, ".jsonl");
    return name === id || name.endsWith(`_${id}`);
  });
}
