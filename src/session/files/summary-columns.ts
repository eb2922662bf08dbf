import { toArray } from "../../core/context/entry-fields.ts";
import { OPENING_STATES, type Opening } from "../../core/facts/opening.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import type { KeptJson } from "../fs/atomic-json.ts";
import type { FileMark } from "./file-mark.ts";
import type { CacheKind } from "./folder-cache.ts";
import type { FileFacts } from "./session-row.ts";

/** Summary of a file, and the state of the file when it was summarized. */
export interface FileSummary extends FileMark {
  /** Undefined if the file is not a session. */
  readonly summary: FileFacts | undefined;
  /** Returns the model calls in encoded form, or undefined if they are damaged. Undefined if the calls were not requested. */
  readonly calls: (() => Uint8Array | undefined) | undefined;
  /** Total number of issues if any line is not exactly one header or one entry; otherwise, 0. */
  readonly issueCount: number;
  /** State from which to continue after the file has grown; undefined if the file must be reread. */
  readonly end: KnownEnd | undefined;
  /** Whether the entire file was read, instead of only the part after an earlier end. */
  readonly isWhole: boolean;
}

/** End of a file when it was read. */
export interface KnownEnd {
  readonly lastId: string;
  /** The last bytes, as one character per byte. If they have changed, the file was replaced instead of extended. */
  readonly tail: string;
}

/** Summaries of one folder's files, by name. */
type FolderSummaries = ReadonlyMap<string, FileSummary>;

/** Kind of cache file for summaries, which are stored as columns. */
export const SUMMARIES: CacheKind<FileSummary> = {
  suffix: ".json",
  encode: toColumns,
  decode: (columns, { text, bytes }) => readColumns(columns, text, bytes),
};

/** Characters that UTF-8 cannot encode. */
const UNPAIRED = /\p{Surrogate}/u;

/**
 * Converts summaries to their cached form: an array per fact with one item per file, a string, and the bytes of model calls.
 *
 * For thousands of files, this takes half as long as one object per file. Most of the data consists of first messages, which are
 * concatenated in the string.
 */
export function toColumns(summaries: FolderSummaries): { columns: object; text: string; bytes: Uint8Array } {
  const files = [...summaries.values()];
  const sessions = files.map((file) => file.summary);
  const calls = files.map((file) => file.calls?.());
  const apart: string[] = [];
  const columns = {
    name: [...summaries.keys()],
    size: files.map((file) => file.size),
    mtimeMs: files.map((file) => file.mtimeMs),
    ctimeMs: files.map((file) => file.ctimeMs),
    ino: files.map((file) => file.ino),
    birthtimeMs: files.map((file) => file.birthtimeMs),
    lastId: files.map((file) => file.end?.lastId ?? null),
    tail: files.map((file) => file.end?.tail ?? null),
    isWhole: files.map((file) => file.isWhole),
    id: sessions.map((session) => session?.id ?? null),
    cwd: sessions.map((session) => session?.cwd ?? null),
    parentSession: sessions.map((session) => session?.parentSession ?? null),
    createdMs: sessions.map((session) => session?.createdMs ?? null),
    lastMessageMs: sessions.map((session) => session?.lastMessageMs ?? null),
    sessionName: sessions.map((session) => session?.name ?? null),
    opening: sessions.map((session) => session?.opening.text ?? null),
    openingState: sessions.map((session) => session?.opening.state ?? null),
    messageCount: sessions.map((session) => session?.messageCount ?? null),
    issueCount: files.map((file) => file.issueCount),
    // The length if the string is part of the common text; otherwise, the string itself.
    firstMessage: sessions.map((session) => {
      const text = session?.firstMessage;
      if (text == null || UNPAIRED.test(text)) return text ?? null;
      apart.push(text);
      return text.length;
    }),
    // Only the lengths, because lists do not use the content.
    calls: calls.map((bytes) => bytes?.length ?? null),
  };
  return { columns, text: apart.join(""), bytes: Buffer.concat(calls.filter((one) => one !== undefined)) };
}

/**
 * Decodes the output of `toColumns`. Returns undefined if any of the data is invalid.
 *
 * Items are checked as they are used. Checking each array separately would take most of the time.
 */
export function readColumns(
  columns: unknown,
  text: string,
  bytes: KeptJson["bytes"],
): Map<string, FileSummary> | undefined {
  const lists = readLists(isJsonRecord(columns) ? columns : {});
  const summaries = new Map<string, FileSummary>();
  let start = 0;
  let callsAt = 0;
  for (let i = 0; i < lists.name.length; i++) {
    const name = lists.name[i];
    const size = lists.size[i];
    const mtimeMs = lists.mtimeMs[i];
    const ctimeMs = lists.ctimeMs[i];
    const ino = lists.ino[i];
    const birthtimeMs = lists.birthtimeMs[i];
    const issueCount = lists.issueCount[i];
    if (typeof size !== "number" || typeof mtimeMs !== "number" || typeof ctimeMs !== "number")
      return undefined;
    if (typeof ino !== "number" || typeof birthtimeMs !== "number" || typeof issueCount !== "number")
      return undefined;
    if (typeof name !== "string") return undefined;
    const first = lists.firstMessage[i];
    const end = typeof first === "number" ? start + first : start;
    const isSession = lists.id[i] !== null;
    const summary = isSession
      ? readSummary(lists, i, end > start ? text.slice(start, end) : first)
      : undefined;
    if (isSession && summary === undefined) return undefined;
    const lastId = lists.lastId[i];
    const tail = lists.tail[i];
    const hasEnd = typeof lastId === "string" && typeof tail === "string";
    const isWhole = lists.isWhole[i] === true;
    const known = hasEnd ? { lastId, tail } : undefined;
    const length = lists.calls[i];
    const calls = typeof length === "number" ? makePieceReader(bytes, callsAt, callsAt + length) : undefined;
    if (typeof length === "number") callsAt += length;
    const mark = { size, mtimeMs, ctimeMs, ino, birthtimeMs };
    summaries.set(name, { ...mark, summary, calls, issueCount, end: known, isWhole });
    start = end;
  }
  return start === text.length ? summaries : undefined;
}

function makePieceReader(bytes: KeptJson["bytes"], start: number, end: number): FileSummary["calls"] {
  return () => bytes()?.subarray(start, end);
}

function readSummary(lists: Lists, i: number, firstMessage: unknown): FileFacts | undefined {
  const id = lists.id[i];
  const cwd = lists.cwd[i];
  const messageCount = lists.messageCount[i];
  const parentSession = lists.parentSession[i];
  const name = lists.sessionName[i];
  const createdMs = lists.createdMs[i];
  const lastMessageMs = lists.lastMessageMs[i];
  if (typeof id !== "string" || typeof cwd !== "string" || typeof messageCount !== "number") return undefined;
  if (!isTextOrNull(firstMessage) || !isTextOrNull(parentSession) || !isTextOrNull(name)) return undefined;
  if (!isNumberOrNull(createdMs) || !isNumberOrNull(lastMessageMs)) return undefined;
  const opening = readOpening(lists.opening[i], lists.openingState[i]);
  if (opening === undefined) return undefined;
  return { id, cwd, name, parentSession, createdMs, lastMessageMs, messageCount, firstMessage, opening };
}

function readOpening(text: unknown, written: unknown): Opening | undefined {
  const state = OPENING_STATES.find((one) => one === written);
  return typeof text === "string" && state !== undefined ? { text, state } : undefined;
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function isNumberOrNull(value: unknown): value is number | null {
  return value === null || typeof value === "number";
}

type Lists = ReturnType<typeof readLists>;

/** Returns the arrays by name. A missing array is empty. */
function readLists(columns: JsonRecord) {
  const list = (name: string) => toArray(columns[name]);
  return {
    name: list("name"),
    size: list("size"),
    mtimeMs: list("mtimeMs"),
    ctimeMs: list("ctimeMs"),
    ino: list("ino"),
    birthtimeMs: list("birthtimeMs"),
    lastId: list("lastId"),
    tail: list("tail"),
    isWhole: list("isWhole"),
    id: list("id"),
    cwd: list("cwd"),
    parentSession: list("parentSession"),
    createdMs: list("createdMs"),
    lastMessageMs: list("lastMessageMs"),
    sessionName: list("sessionName"),
    opening: list("opening"),
    openingState: list("openingState"),
    messageCount: list("messageCount"),
    issueCount: list("issueCount"),
    firstMessage: list("firstMessage"),
    calls: list("calls"),
  };
}
