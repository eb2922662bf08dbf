import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { fieldsOf } from "../../core/context/entry-fields.ts";
import { IMPORT_CUSTOM_TYPE } from "../../core/format/import-origin.ts";
import { parseJson, parseRecord } from "../../core/jsonl/decode.ts";
import type { TextRedactor } from "../../core/jsonl/text-redactor.ts";
import { cachedTexts } from "../../session/files/cache-files.ts";
import { realFileSystem } from "../../session/fs/file-system.ts";
import { eachRawLine, rawLinesIn } from "../../session/log/raw-lines.ts";
import type { TextPlace } from "./text-places.ts";

/** What a search for a text found in a file. */
export interface Sight {
  /** Whether a redaction changes anything. */
  isFound: boolean;
  /** Ids of entries that hold the text. */
  readonly entryIds: string[];
  /** Fields that hold it and must stay. */
  readonly standing: Set<string>;
  /** Whether a line is too long to be searched. */
  isOverlong: boolean;
  /** The file of another program that the session was imported from. */
  sourcePath?: string;
}

const PAGE_DATA = /<script type="application\/json"[^>]*>([\s\S]*?)<\/script>/;

/** A part of the session in a page: compressed, in base64. */
const PAGE_BLOCK = /<script type="application\/gzip">([^<]*)<\/script>/g;

/** Beginnings of compressed files, which hold their text in no spelling: zstd and gzip. */
const COMPRESSED = /\.(?:zst|gz)$/;

/**
 * Searches a file for a text.
 *
 * @throws The system's error.
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
      rawLinesIn(blocksIn(page), take);
    } catch (error) {
      // What cannot be decompressed cannot be searched.
      if (!(error instanceof Error)) throw error;
      sight.isOverlong = true;
    }
    return sight;
  }
  if (COMPRESSED.test(path)) return { ...sight, isOverlong: true };
  eachRawLine(realFileSystem, path, take);
  if (kind === "cache") sight.isFound ||= cachedTexts(path).some((text) => redactor.isIn(text));
  return sight;
}

function lookAtLine(line: string, redactor: TextRedactor, sight: Sight): void {
  if (sight.sourcePath === undefined && line.includes(IMPORT_CUSTOM_TYPE)) {
    const { customType, data } = parseRecord(line) ?? {};
    const { sourcePath } = fieldsOf(data);
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
function* blocksIn(page: string): Generator<Uint8Array, void> {
  for (const [, base64 = ""] of page.matchAll(PAGE_BLOCK)) yield gunzipSync(Buffer.from(base64, "base64"));
}
