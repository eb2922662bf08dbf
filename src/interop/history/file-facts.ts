import { callQuietly } from "../../core/format/errors.ts";
import { decodeText, parseRecord } from "../../core/jsonl/decode.ts";
import { DATABASE_FRONT } from "../../core/jsonl/foreign-source.ts";
import { type ContinuedSession, findContinuedSession } from "../import/continued-session.ts";
import { type DetectedSource, detectSource } from "../import/detect-source.ts";
import {
  MAX_TEXT_BYTES,
  makeTooLargeError,
  readFront,
  readSource,
  readSourceRange,
  type SourceFile,
} from "./source-file.ts";
import type { FileFacts } from "./source-program.ts";
import { findProgram, SOURCE_PROGRAMS } from "./source-table.ts";

/** Number of bytes to read first, and the number to read next if more are needed. */
const FRONTS = [32 * 1024, 512 * 1024] as const;

/**
 * Number of bytes to read from a file that is too large for a single string. Only line-based records can be found in such a file.
 */
const LARGE_FRONT = 64 * 1024 * 1024;

/**
 * Reads facts about the sessions in a file.
 *
 * @param copy - Path of the copy to read if the file is a database.
 * @returns Empty if the file contains no sessions.
 * @throws {SessionError} `NOT_A_SESSION` if the file is too large to determine whether it contains sessions.
 * @remarks Cost: usually the cost of reading the first 32 KB.
 */
export function readFileFacts(file: SourceFile, copy: string | undefined): readonly FileFacts[] {
  if (copy !== undefined) return readDatabaseFacts(file.path, copy);
  const facts = readTextFacts(file);
  const exported = facts.length === 1 ? readExported(file) : undefined;
  return exported === undefined ? facts : facts.map((one) => ({ ...one, exported }));
}

/** Number of bytes to search for an export's record at the end of a file. */
const EXPORT_BYTES = 4096;

/** Returns the sessiontree session that a file was exported from, if the file's last record identifies one. */
function readExported({ path, size }: SourceFile): ContinuedSession | undefined {
  if (!path.endsWith(".jsonl")) return undefined;
  const from = Math.max(0, size - EXPORT_BYTES);
  const last =
    decodeText(readSourceRange(path, from, size - from))
      .trimEnd()
      .split("\n")
      .at(-1) ?? "";
  return findContinuedSession(parseRecord(last) ?? {});
}

function readTextFacts(file: SourceFile): readonly FileFacts[] {
  const { path } = file;
  const unpacked = path.endsWith(".zst") ? readSource(path) : undefined;
  const size = unpacked?.length ?? file.size;
  const parseFront = (length: number) =>
    parseFrontFacts(decodeText(unpacked?.subarray(0, length) ?? readFront(path, length)), path);
  for (const length of FRONTS) {
    const facts = parseFront(length);
    if (size <= length || (facts.length > 0 && facts.every(isEnough))) return facts;
  }
  if (size <= MAX_TEXT_BYTES) return parseFront(size);
  const facts = parseFront(LARGE_FRONT);
  if (facts.length === 0) throw makeTooLargeError(path);
  return facts;
}

/** Detects the program that a file belongs to from its beginning; undefined if it is unknown or the path is not readable. */
export function detectSourceOfFile(path: string): DetectedSource | undefined {
  // An error is reported when the file itself is read.
  return callQuietly(() => detectSource(decodeText(readFront(path, FRONTS[1]))));
}

/** Returns whether all facts that the file can provide have been found. */
function isEnough(facts: FileFacts): boolean {
  const { wanted = USUALLY_WANTED } = findProgram(facts.source) ?? {};
  return wanted.every((name) => facts[name] !== undefined);
}

const USUALLY_WANTED = ["cwd", "startedAt"] as const;

function parseFrontFacts(text: string, path: string): readonly FileFacts[] {
  return findProgram(detectSource(text))?.readFacts(text, path) ?? [];
}

/** Returns whether a file is a SQLite database. */
export function isDatabase(path: string): boolean {
  return decodeText(readFront(path, DATABASE_FRONT.length)) === DATABASE_FRONT;
}

function readDatabaseFacts(path: string, copy: string): readonly FileFacts[] {
  for (const program of SOURCE_PROGRAMS) {
    const facts = program.factsInDatabase?.(copy, path);
    if (facts !== undefined) return facts.map((one) => ({ ...one, isInDatabase: true }));
  }
  return [];
}
