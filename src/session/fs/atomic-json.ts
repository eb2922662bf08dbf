import { fstatSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { parseJson } from "../../core/jsonl/decode.ts";
import { hashSha256 } from "./digest.ts";
import {
  callIfPresent,
  closeQuietly,
  FILE_MODE,
  makeFolder,
  openForReading,
  realFileSystem,
} from "./file-system.ts";

const PREFIX = `{"digest":"`;
const BETWEEN = `","data":`;
const SUFFIX = "}";

/** How such a file begins: the digest of what follows, and of bytes behind that with their number, if there are any. */
const FRONT = /^\{"digest":"([0-9a-f]{64})(?:","bytes":"([0-9a-f]{64}) (\d{1,15}))?","data":/;

/** No front is longer. */
const MAX_FRONT_BYTES = 200;

const LF = 0x0a;

/** What `writeAtomicJson` stores. */
export interface KeptJson {
  readonly value: unknown;
  /** The text beside the value; empty if none was given. */
  readonly text: string;
  /** Returns the bytes behind both, which are only looked at if asked for; undefined if they are damaged. */
  readonly bytes: () => Uint8Array | undefined;
}

/** What is written beside a value. */
export interface BesideJson {
  /** Written behind the JSON as it is, on lines of its own, because a long text is then read several times faster. It must be well-formed. */
  readonly text?: string;
  /** Written behind both. */
  readonly bytes?: Uint8Array;
}

/**
 * Writes a value to a JSON file that only its owner can read, replacing the file as a whole.
 *
 * For data that can be recomputed: it survives the process, but not a power cut, and a reader never sees half of it.
 * Creates the folder if it is missing.
 *
 * @param value - What JSON can hold.
 * @throws The system's error; the old file is then still there.
 */
export async function writeAtomicJson(path: string, value: object, beside: BesideJson = {}): Promise<void> {
  makeFolder(realFileSystem, dirname(path));
  // A fresh object, since the package writes into it.
  await loadWriter()(path, encodeFile(value, beside), { mode: FILE_MODE, fsync: false });
}

/** Writes a value as `writeAtomicJson` does, synchronously. */
export function writeAtomicJsonNow(path: string, value: object, beside: BesideJson = {}): void {
  makeFolder(realFileSystem, dirname(path));
  loadWriter().sync(path, encodeFile(value, beside), { mode: FILE_MODE, fsync: false });
}

/** Loads the package when something is written, not when a session is opened. */
function loadWriter(): typeof import("write-file-atomic") {
  return createRequire(import.meta.url)("write-file-atomic");
}

function encodeFile(value: object, { text = "", bytes = new Uint8Array() }: BesideJson): Buffer {
  const behind = text === "" ? "" : `\n${text}`;
  const content = Buffer.from(`${JSON.stringify(value)}${SUFFIX}${behind}`);
  const ofBytes = bytes.length === 0 ? "" : `","bytes":"${hashSha256(bytes)} ${bytes.length}`;
  return Buffer.concat([Buffer.from(`${PREFIX}${hashSha256(content)}${ofBytes}${BETWEEN}`), content, bytes]);
}

/**
 * Reads what `writeAtomicJson` wrote.
 *
 * @returns Undefined if the file is missing, damaged (any changed byte is noticed) or a pipe or device.
 * @throws The system's error if the file is there and cannot be read.
 */
export function readAtomicJson(path: string): KeptJson | undefined {
  const file = readToEnd(path);
  const [front, digest, digestOfBytes, byteCount = "0"] =
    FRONT.exec(file?.toString("latin1", 0, MAX_FRONT_BYTES) ?? "") ?? [];
  if (file === undefined || front === undefined) return undefined;
  const contentEnd = file.length - Number(byteCount);
  const content = file.subarray(front.length, contentEnd);
  if (contentEnd < front.length || hashSha256(content) !== digest) return undefined;
  // This JSON has no line breaks.
  const lineBreak = content.indexOf(LF);
  const end = lineBreak === -1 ? content.length : lineBreak;
  const parsed = parseJson(content.toString("utf8", 0, end - SUFFIX.length));
  return (
    parsed && {
      value: parsed.value,
      text: content.toString("utf8", end + 1),
      bytes: checkLazily(file.subarray(contentEnd), digestOfBytes),
    }
  );
}

/** Compares bytes with their digest when they are first asked for. */
function checkLazily(bytes: Uint8Array, digest: string | undefined): () => Uint8Array | undefined {
  let isIntact = digest === undefined ? true : undefined;
  return () => {
    isIntact ??= hashSha256(bytes) === digest;
    return isIntact ? bytes : undefined;
  };
}

/** Reads a file; undefined if it is missing, or a pipe or device, which may never end. */
function readToEnd(path: string): Buffer | undefined {
  const fd = callIfPresent(() => openForReading(realFileSystem, path));
  if (fd === undefined) return undefined;
  try {
    const stats = fstatSync(fd);
    return stats.isFile() || stats.isDirectory() ? readFileSync(fd) : undefined;
  } finally {
    closeQuietly(realFileSystem, fd);
  }
}
