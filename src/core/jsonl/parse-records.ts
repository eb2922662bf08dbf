import { assertText } from "../format/arguments.ts";
import type { FileEntry } from "../format/entry.ts";
import { isJsonRecord, type JsonRecord } from "../format/json.ts";
import { recoverRecords } from "./concatenated-records.ts";
import { decodeText, parseJson } from "./decode.ts";
import { LineScanner } from "./line-scanner.ts";

/**
 * Parses the records of a session file, header and entries, without upgrading them.
 *
 * For lines that do not parse, only complete records are returned. `readSession` also reports omitted data.
 *
 * @returns The records in file order. At run time, they may include entries of unknown types.
 * @remarks Cost: O(text).
 */
export function parseSessionEntries(text: string): FileEntry[] {
  assertText("text", text);
  return parseRecords([new TextEncoder().encode(text)]);
}

/** Parses the records of a session file given in pieces; see `parseSessionEntries`. */
export function parseRecords(pieces: Iterable<Uint8Array>): FileEntry[] {
  const records: FileEntry[] = [];
  const scanner = new LineScanner({
    line: ({ bytes, start, end }) => {
      const line = bytes.subarray(start, end);
      const parsed = parseJson(decodeText(line));
      const found = parsed ? [parsed.value] : recoverRecords(line).map((one) => one.record);
      for (const one of found) if (isTyped(one)) records.push(one);
      return true;
    },
    overlong: () => undefined,
  });
  for (const piece of pieces) scanner.feed(piece);
  scanner.end();
  return records;
}

/** Checks only that a record has a type. pi's declared type promises more than files contain. */
function isTyped(record: unknown): record is JsonRecord & FileEntry {
  return isJsonRecord(record) && typeof record["type"] === "string";
}
