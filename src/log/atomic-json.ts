import { createHash } from "node:crypto";
import { fstatSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { parseJson } from "../jsonl/decode.ts";
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

/** What `writeAtomicJson` keeps. */
export interface KeptJson {
  readonly value: unknown;
  /** The text that was given beside the value; empty if none was. */
  readonly text: string;
}

/**
 * Keeps a value in a JSON file that only its owner can read, replacing what was there as a whole.
 *
 * For data that can be found again: it survives the process, not a power cut, but a reader never sees half of it. The
 * folder is made if it is missing.
 *
 * @param value - What JSON can hold.
 * @param text - Kept behind the JSON as it stands, on lines of its own: a long text is read several times faster so.
 *   It must be well-formed.
 * @throws The system's error; the old file is then still there.
 */
export async function writeAtomicJson(path: string, value: object, text = ""): Promise<void> {
  const bytes = bytesOf(value, text);
  makeFolder(realFileSystem, dirname(path));
  // A fresh object, since the package writes into it.
  await loadWriter()(path, bytes, { mode: FILE_MODE, fsync: false });
}

/** Does the same at once. */
export function writeAtomicJsonNow(path: string, value: object, text = ""): void {
  const bytes = bytesOf(value, text);
  makeFolder(realFileSystem, dirname(path));
  loadWriter().sync(path, bytes, { mode: FILE_MODE, fsync: false });
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
 * Returns what was kept by `writeAtomicJson`.
 *
 * @returns Undefined if the file is missing, damaged (any changed byte is noticed) or a pipe or device.
 * @throws The system's error if the file is there and cannot be read.
 */
export function readAtomicJson(path: string): KeptJson | undefined {
  const bytes = readToEnd(path);
  if (bytes === undefined) return undefined;
  const content = bytes.subarray(FRONT_BYTES);
  if (bytes.toString("latin1", 0, FRONT_BYTES) !== frontOf(content)) return undefined;
  // JSON as it is written here has no line breaks.
  const lineBreak = content.indexOf(LF);
  const end = lineBreak === -1 ? content.length : lineBreak;
  const parsed = parseJson(content.toString("utf8", 0, end - SUFFIX.length));
  return parsed && { value: parsed.value, text: content.toString("utf8", end + 1) };
}

/** Reads a file; undefined if there is none, or a pipe or device, whose end nobody must wait for. */
function readToEnd(path: string): Buffer | undefined {
  const fd = ifPresent(() => openForReading(realFileSystem, path));
  if (fd === undefined) return undefined;
  try {
    const stats = fstatSync(fd);
    return stats.isFile() || stats.isDirectory() ? readFileSync(fd) : undefined;
  } finally {
    closeQuietly(realFileSystem, fd);
  }
}

/** What stands in front of the content: its digest. */
function frontOf(content: Uint8Array): string {
  return `${PREFIX}${createHash("sha256").update(content).digest("hex")}${BETWEEN}`;
}
