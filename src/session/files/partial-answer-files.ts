import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { getErrorMessage } from "../../core/format/errors.ts";
import { isJsonRecord, toSafeString } from "../../core/format/json.ts";
import type { AssistantMessage } from "../../core/format/message.ts";
import { findMessageProblems } from "../../core/format/message-check.ts";
import { parseRecord } from "../../core/jsonl/decode.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import {
  closeQuietly,
  createFile,
  NotAPlainFileError,
  realFileSystem,
  retryWhileHeld,
  withOpenFile,
  writeFully,
} from "../fs/file-system.ts";
import { isOwnOrLeft, makeTemporaryPath, removeTemporary } from "../fs/temporary-files.ts";
import { isPartialAnswerName, parseWrittenName } from "../log/written-names.ts";
import { namesNextTo } from "./forget-session.ts";
import { isSystemError } from "./skipped-files.ts";

/** Version of the file format. */
const VERSION = 1;

/** Partially received answer. */
export interface PartialAnswer {
  readonly sessionId: string;
  /** Id of the entry being answered; null before the first entry. */
  readonly leafId: string | null;
  /** Unix milliseconds. */
  readonly savedMs: number;
  readonly message: AssistantMessage;
}

/** File with a partial answer, or the reason why the file does not contain one. */
export interface PartialAnswerFile {
  readonly path: string;
  readonly answer: PartialAnswer | undefined;
  readonly fault: string;
}

/**
 * Writes a partial answer, replacing the previous one atomically. It survives the process, but not a power failure.
 */
export function writePartialAnswer(path: string, answer: PartialAnswer): void {
  const fs = realFileSystem;
  const temporary = makeTemporaryPath(dirname(path));
  const fd = createFile(fs, temporary);
  try {
    try {
      writeFully(fs, fd, Buffer.from(encodePartialAnswer(answer)));
    } finally {
      closeQuietly(fs, fd);
    }
    retryWhileHeld(fs, () => fs.renameSync(temporary, path));
  } catch (error) {
    removeTemporary(fs, temporary);
    throw error;
  }
}

/** Encodes a partial answer as a line that a redaction can process. */
export function encodePartialAnswer(answer: PartialAnswer): string {
  return `${encodeRecord({ type: "partial_answer", version: VERSION, ...answer })}\n`;
}

/** Parses a line created by `encodePartialAnswer`. If this fails, returns the reason as a string. */
export function parsePartialAnswer(text: string): PartialAnswer | string {
  const { version, type, sessionId, leafId, savedMs, message } = parseRecord(text.trimEnd()) ?? {};
  if (type !== "partial_answer") return "it is torn, or not a partial answer";
  if (version !== VERSION)
    return `it has version ${toSafeString(version)}, but this library supports version ${VERSION}`;
  const isPlaced = typeof sessionId === "string" && (typeof leafId === "string" || leafId === null);
  if (!isPlaced || typeof savedMs !== "number" || !isAnswerRecord(message)) return "it contains no answer";
  return { sessionId, leafId, savedMs, message };
}

/** Returns whether a value is an answer that can be stored. */
export function isAnswerRecord(message: unknown): message is AssistantMessage {
  return (
    isJsonRecord(message) && message["role"] === "assistant" && findMessageProblems(message).length === 0
  );
}

/**
 * Lists the partial answers of a session, except those that belong to other running processes.
 *
 * They are identified by the session's file name and also by its id, because the file may have been renamed.
 *
 * @param path - Path of the session's file, which may no longer exist.
 * @remarks Cost: O(names in the folder), plus the bytes of partial answers.
 */
export function listPartialAnswers(path: string, sessionId: string | undefined): PartialAnswerFile[] {
  const names = namesNextTo(path);
  return names.flatMap((name): PartialAnswerFile[] => {
    const { kind, session, owner = "" } = parseWrittenName(name) ?? {};
    if (kind !== "partial") return [];
    const file = join(dirname(path), name);
    const isNamed = isPartialAnswerName(name, path);
    if (!isNamed && (session === undefined || names.includes(session))) return [];
    const read = readPartialAnswer(file);
    const answer = typeof read === "string" ? undefined : read;
    if (!isNamed && (answer === undefined || answer.sessionId !== sessionId)) return [];
    if (!isOwnOrLeft(realFileSystem, file, owner)) return [];
    return [{ path: file, answer, fault: typeof read === "string" ? read : "" }];
  });
}

function readPartialAnswer(path: string): PartialAnswer | string {
  try {
    return withOpenFile(realFileSystem, path, (fd) => {
      if (!realFileSystem.fstatSync(fd).isFile()) throw new NotAPlainFileError("it is not a plain file");
      return parsePartialAnswer(readFileSync(fd, "utf8"));
    });
  } catch (error) {
    if (!isSystemError(error) && !(error instanceof NotAPlainFileError)) throw error;
    return getErrorMessage(error);
  }
}
