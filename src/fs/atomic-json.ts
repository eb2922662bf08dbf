import { fstatSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { parseJson } from "../jsonl/decode.ts";
import { sha256 } from "./digest.ts";
import {
  closeQuietly,
  FILE_MODE,
  ifPresent,
  makeFolder,
  openForReading,
  realFileSystem,
} from "./file-system.ts";

const PREFIX = `{"digest":"`;
const BETWEEN = `","data":`;
const SUFFIX = "}";
const DIGEST_CHARACTERS = 64;
const FRONT_BYTES = PREFIX.length + DIGEST_CHARACTERS + BETWEEN.length;

const LF = 0x0a;

/** What `writeAtomicJson` stores. */
export interface KeptJson {
  readonly value: unknown;
  /** The text beside the value; empty if none was given. */
  readonly text: string;
}

/**
 * Writes a value to a JSON file that only its owner can read, replacing the file as a whole.
 *
 * For data that can be recomputed: it survives the process, but not a power cut, and a reader never sees half of it.
 * Creates the folder if it is missing.
 *
 * @param value - What JSON can hold.
 * @param text - Written behind the JSON as it is, on lines of its own, because a long text is then read several times
 *   faster. It must be well-formed.
 * @throws The system's error; the old file is then still there.
 */
export async function writeAtomicJson(path: string, value: object, text = ""): Promise<void> {
  await writeAtomicBytes(path, bytesOf(value, text));
}

/** Writes bytes in the same way. */
export async function writeAtomicBytes(path: string, bytes: Buffer): Promise<void> {
  makeFolder(realFileSystem, dirname(path));
  // A fresh object, since the package writes into it.
  await loadWriter()(path, bytes, { mode: FILE_MODE, fsync: false });
}

/** Writes bytes in the same way, synchronously. */
export function writeAtomicBytesNow(path: string, bytes: Buffer): void {
  makeFolder(realFileSystem, dirname(path));
  loadWriter().sync(path, bytes, { mode: FILE_MODE, fsync: false });
}

/** Writes a value as `writeAtomicJson` does, synchronously. */
export function writeAtomicJsonNow(path: string, value: object, text = ""): void {
  writeAtomicBytesNow(path, bytesOf(value, text));
}

/** Loads the package when something is written, not when a session is opened. */
function loadWriter(): typeof import("write-file-atomic") {
  return createRequire(import.meta.url)("write-file-atomic");
}

function bytesOf(value: object, text: string): Buffer {
  const behind = text === "" ? "" : `\n${text}`;
  const content = Buffer.from(`${JSON.stringify(value)}${SUFFIX}${behind}`);
  return Buffer.concat([Buffer.from(frontOf(content)), content]);
}

/**
 * Reads what `writeAtomicJson` wrote.
 *
 * @returns Undefined if the file is missing, damaged (any changed byte is noticed) or a pipe or device.
 * @throws The system's error if the file is there and cannot be read.
 */
export function readAtomicJson(path: string): KeptJson | undefined {
  const bytes = readToEnd(path);
  if (bytes === undefined) return undefined;
  const content = bytes.subarray(FRONT_BYTES);
  if (bytes.toString("latin1", 0, FRONT_BYTES) !== frontOf(content)) return undefined;
  // This JSON has no line breaks.
  const lineBreak = content.indexOf(LF);
  const end = lineBreak === -1 ? content.length : lineBreak;
  const parsed = parseJson(content.toString("utf8", 0, end - SUFFIX.length));
  return parsed && { value: parsed.value, text: content.toString("utf8", end + 1) };
}

/** Reads a file; undefined if it is missing, or a pipe or device, which may never end. */
export function readToEnd(path: string): Buffer | undefined {
  const fd = ifPresent(() => openForReading(realFileSystem, path));
  if (fd === undefined) return undefined;
  try {
    const stats = fstatSync(fd);
    return stats.isFile() || stats.isDirectory() ? readFileSync(fd) : undefined;
  } finally {
    closeQuietly(realFileSystem, fd);
  }
}

/** The first line: the digest of the content. */
function frontOf(content: Uint8Array): string {
  return `${PREFIX}${sha256(content)}${BETWEEN}`;
}
