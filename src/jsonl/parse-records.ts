import { decodeText, parseJson } from "../jsonl/decode.ts";
import { LineScanner } from "../jsonl/line-scanner.ts";
import type { FileEntry } from "../schema/entry.ts";
import { isJsonRecord, type JsonRecord } from "../schema/json.ts";
import { recoverRecords } from "./concatenated-records.ts";

/**
 * Parses the records of a session file as they stand, header and entries, without upgrading them.
 *
 * Lines that do not parse are left out, but for the whole records that stand on them. For a reader that reports what
 * it leaves out, see `readSession`.
 *
 * @returns In file order; entries of unknown type are among them at run time.
 * @remarks Cost: O(text).
 */
export function parseSessionEntries(text: string): FileEntry[] {
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

/** pi's type for a record is a promise that no file keeps: what is checked is that it has a type. */
function isTyped(record: unknown): record is JsonRecord & FileEntry {
  return isJsonRecord(record) && typeof record["type"] === "string";
}
