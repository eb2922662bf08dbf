import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { gunzipSync } from "node:zlib";
import { toRecord } from "../../core/context/entry-fields.ts";
import { IMPORT_CUSTOM_TYPE } from "../../core/format/import-origin.ts";
import { parseJson, parseRecord } from "../../core/jsonl/decode.ts";
import { DATABASE_FRONT } from "../../core/jsonl/foreign-source.ts";
import type { TextRedactor } from "../../core/jsonl/text-redactor.ts";
import { parseCacheName, readCached } from "../../session/files/folder-cache.ts";
import { SUMMARIES } from "../../session/files/summary-columns.ts";
import { NotAPlainFileError, readRange, realFileSystem, withOpenFile } from "../../session/fs/file-system.ts";
import { eachRawLine, scanRawLines } from "../../session/log/raw-lines.ts";
import { readCallNames } from "../list/session-calls.ts";
import type { TextPlace } from "./text-places.ts";

/** Result of searching a file for text. */
export interface Sight {
  /** Whether a redaction would change the file. */
  isFound: boolean;
  /** Ids of entries that contain the text. */
  readonly entryIds: string[];
  /** Fields that contain the text but cannot be changed. */
  readonly standing: Set<string>;
  /** Whether a line is too long to search. */
  isOverlong: boolean;
  /** Whether the file is a database, where text may be split. */
  isDatabase?: boolean;
  /** Another program's file that the session was imported from. */
  sourcePath?: string;
}

const PAGE_DATA = /<script type="application\/json"[^>]*>([\s\S]*?)<\/script>/;

/** Part of a session in a page, compressed and encoded in base64. */
const PAGE_BLOCK = /<script type="application\/gzip">([^<]*)<\/script>/g;

/** Matches names of compressed files (zstd and gzip), which contain no searchable text. */
const COMPRESSED = /\.(?:zst|gz)$/;

/**
 * Searches a file for text.
 *
 * @throws The system error.
 * @remarks Cost: O(bytes).
 */
export function lookAtFile({ kind, path }: TextPlace, redactor: TextRedactor): Sight {
  const sight: Sight = { isFound: false, entryIds: [], standing: new Set(), isOverlong: false };
  const take = (line: string | undefined) => {
    if (line === undefined) sight.isOverlong = true;
    else lookAtLine(line, redactor, sight);
  };
  if (kind === "page") {
    const page = readFileSync(path, "utf8");
    take(JSON.stringify(parseJson(PAGE_DATA.exec(page)?.[1] ?? "")?.value) ?? "");
    try {
      scanRawLines(decodeBlocks(page), take);
    } catch (error) {
      // A block that cannot be decompressed cannot be searched.
      if (!(error instanceof Error)) throw error;
      sight.isOverlong = true;
    }
    return sight;
  }
  if (COMPRESSED.test(path)) return { ...sight, isOverlong: true };
  const front = readFileFront(path);
  // Unfinished files, copies of databases, and parts of pages cannot be searched reliably and are not needed.
  const isOpaque = kind === "temporary" && !/^(?:\{|$)/.test(front);
  if (isOpaque || parseCacheName(basename(path)) === "unfinished") return { ...sight, isFound: true };
  eachRawLine(realFileSystem, path, take);
  if (kind === "cache") sight.isFound ||= readCachedTexts(path).some((text) => redactor.hasMatch(text));
  return { ...sight, isDatabase: front === DATABASE_FRONT };
}

function readFileFront(path: string): string {
  return withOpenFile(realFileSystem, path, (fd) => {
    if (!realFileSystem.fstatSync(fd).isFile()) throw new NotAPlainFileError(`${path} is not a plain file`);
    return readRange(realFileSystem, fd, 0, DATABASE_FRONT.length).toString("latin1");
  });
}

function lookAtLine(line: string, redactor: TextRedactor, sight: Sight): void {
  if (sight.sourcePath === undefined && line.includes(IMPORT_CUSTOM_TYPE)) {
    const { customType, data } = parseRecord(line) ?? {};
    const { sourcePath } = toRecord(data);
    if (customType === IMPORT_CUSTOM_TYPE && typeof sourcePath === "string") sight.sourcePath = sourcePath;
  }
  const { text, standing } = redactor.ofLine(line);
  for (const name of standing) sight.standing.add(name);
  if (text === line) return;
  sight.isFound = true;
  const id = parseRecord(line)?.["id"];
  const isHeader = parseRecord(line)?.["type"] === "session";
  if (typeof id === "string" && !isHeader) sight.entryIds.push(id);
}

/** Yields the bytes of the session in a page. */
function* decodeBlocks(page: string): Generator<Uint8Array, void> {
  for (const [, base64 = ""] of page.matchAll(PAGE_BLOCK)) yield gunzipSync(Buffer.from(base64, "base64"));
}

/** Returns the session text in a cache file; empty if this version does not support its format. */
function readCachedTexts(path: string): string[] {
  const isOfFolder = parseCacheName(basename(path)) === "folder";
  const rows = isOfFolder ? readCached(path, SUMMARIES)?.files : undefined;
  return [...(rows?.values() ?? [])].flatMap(({ summary, calls }) => {
    const names = readCallNames(calls?.() ?? new Uint8Array());
    return [summary?.name, summary?.firstMessage, summary?.opening.text, ...names].filter(
      (text) => typeof text === "string",
    );
  });
}
