import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import writeFileAtomic from "write-file-atomic";
import { parseJson } from "../jsonl/decode.ts";
import { FILE_MODE, ifPresent, makeFolder, realFileSystem } from "./file-system.ts";

const PREFIX = `{"digest":"`;
const BETWEEN = `","data":`;
const SUFFIX = "}";
const DIGEST_CHARACTERS = 64;
const DATA_START = PREFIX.length + DIGEST_CHARACTERS + BETWEEN.length;

/**
 * Keeps a value in a JSON file that only its owner can read, replacing what was there as a whole.
 *
 * For data that can be found again: it survives the process, not a power cut, but a reader never sees half of it. The
 * folder is made if it is missing.
 *
 * @param value - What JSON can hold.
 * @throws The system's error; the old file is then still there.
 */
export async function writeAtomicJson(path: string, value: object): Promise<void> {
  const data = JSON.stringify(value);
  makeFolder(realFileSystem, dirname(path));
  const text = `${PREFIX}${digestOf(data)}${BETWEEN}${data}${SUFFIX}`;
  // A fresh object, since the package writes into it.
  await writeFileAtomic(path, text, { mode: FILE_MODE, fsync: false });
}

/**
 * Gives a value that was kept by `writeAtomicJson`.
 *
 * @returns Undefined if the file is missing or damaged: any changed byte is noticed.
 * @throws The system's error if the file is there and cannot be read.
 */
export function readAtomicJson(path: string): unknown {
  const bytes = ifPresent(() => readFileSync(path));
  if (bytes === undefined) return undefined;
  const data = bytes.subarray(DATA_START, bytes.length - SUFFIX.length);
  const frame = `${bytes.toString("latin1", 0, DATA_START)}${bytes.toString("latin1", DATA_START + data.length)}`;
  if (frame !== `${PREFIX}${digestOf(data)}${BETWEEN}${SUFFIX}`) return undefined;
  return parseJson(data.toString("utf8"))?.value;
}

function digestOf(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
