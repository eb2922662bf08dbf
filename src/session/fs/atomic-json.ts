import { fstatSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { parseJson } from "../../core/jsonl/decode.ts";
import { hashSha256 } from "./digest.ts";
import { callIfPresent, FILE_MODE, makeFolder, realFileSystem, withOpenFile } from "./file-system.ts";

const PREFIX = `{"digest":"`;
const BETWEEN = `","data":`;
const SUFFIX = "}";

/** Matches the beginning of the file: the digest of the content and, if bytes follow the content, their digest and count. */
const FRONT = /^\{"digest":"([0-9a-f]{64})(?:","bytes":"([0-9a-f]{64}) (\d{1,15}))?","data":/;

/** Maximum length of that beginning, in bytes. */
const MAX_FRONT_BYTES = 200;

const LF = 0x0a;

/** Content stored by `writeAtomicJson`. */
export interface KeptJson {
  readonly value: unknown;
  /** Text stored with the value; empty if none was given. */
  readonly text: string;
  /**
   * Returns the bytes stored after the value and the text, or undefined if they are damaged. They are verified only on demand.
   */
  readonly bytes: () => Uint8Array | undefined;
}

/** Data stored with a value. */
export interface BesideJson {
  /**
   * Text to write unencoded after the JSON, on separate lines. Long text can then be read several times faster. Must be
   * well-formed.
   */
  readonly text?: string;
  /** Bytes to write after the JSON and the text. */
  readonly bytes?: Uint8Array;
}

/**
 * Writes a value to a JSON file that only its owner can read, replacing the file as a whole.
 *
 * Intended for data that can be recomputed. The file survives the process, but not a power failure, and readers never see a
 * partial file. Creates the folder if it is missing.
 *
 * @param value - Value that JSON can represent.
 * @throws The system's error. The old file is then unchanged.
 */
export async function writeAtomicJson(path: string, value: object, beside: BesideJson = {}): Promise<void> {
  makeFolder(realFileSystem, dirname(path));
  // A new object, because the package modifies it.
  await loadWriter()(path, encodeFile(value, beside), { mode: FILE_MODE, fsync: false });
}

/** Writes a value as `writeAtomicJson` does, synchronously. */
export function writeAtomicJsonNow(path: string, value: object, beside: BesideJson = {}): void {
  makeFolder(realFileSystem, dirname(path));
  loadWriter().sync(path, encodeFile(value, beside), { mode: FILE_MODE, fsync: false });
}

/** Loads the package on the first write, not when a session is opened. */
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
 * Reads a file written by `writeAtomicJson`.
 *
 * @returns Undefined if the file is missing, damaged (any changed byte is detected), or a pipe or device.
 * @throws The system's error if the file exists but cannot be read.
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

/** Returns a function that verifies the digest of bytes when it is first called. */
function checkLazily(bytes: Uint8Array, digest: string | undefined): () => Uint8Array | undefined {
  let isIntact = digest === undefined ? true : undefined;
  return () => {
    isIntact ??= hashSha256(bytes) === digest;
    return isIntact ? bytes : undefined;
  };
}

/** Reads a file. Returns undefined if it is missing, or if it is a pipe or device, which may never end. */
function readToEnd(path: string): Buffer | undefined {
  const read = (fd: number) => {
    const stats = fstatSync(fd);
    return stats.isFile() || stats.isDirectory() ? readFileSync(fd) : undefined;
  };
  return callIfPresent(() => withOpenFile(realFileSystem, path, read));
}
