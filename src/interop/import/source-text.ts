import { toRecord } from "../../core/context/entry-fields.ts";
import { assertArgument, isIterable } from "../../core/format/arguments.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import { isJsonRecord, type JsonRecord, type JsonValue } from "../../core/format/json.ts";
import type { OptionRule } from "../../core/format/options.ts";
import {
  type RecordForm,
  type RecoveredRecord,
  recoverRecords,
} from "../../core/jsonl/concatenated-records.ts";
import { decodeText, parseJson } from "../../core/jsonl/decode.ts";
import { LineScanner } from "../../core/jsonl/line-scanner.ts";

/** A record in another program's file. */
export interface SourceRecord {
  readonly value: JsonRecord;
  /** 1-based line number. */
  readonly line: number;
  /** Byte offset of the line. */
  readonly offset: number;
}

/** Properties of a format's records. */
interface SourceForm extends RecordForm {
  /** Whether a line may contain an array of records. */
  readonly hasLists?: boolean;
}

/** Format of the records of all programs whose sessions can be imported. */
const SOURCE_FORM: SourceForm = {
  firstKey: /^"(?:[a-zA-Z]+|\$set|\$rewindTo)"\s*:/,
  isRecord: ({ type, sessionId, timestamp, payload, data, id, $rewindTo, $set }) => {
    if (isJsonRecord($set) || typeof $rewindTo === "string") return true;
    if (typeof type !== "string") return false;
    if (typeof sessionId === "string") return true;
    return (
      typeof timestamp === "string" &&
      (isJsonRecord(payload) || (typeof id === "string" && (isJsonRecord(data) || SAID.has(type))))
    );
  },
};

/** Gemini CLI's message types. */
const SAID: ReadonlySet<string> = new Set(["user", "gemini", "info", "warning", "error"]);

/** Records of a file, and issues with all other lines. */
export interface SourceText {
  readonly records: readonly SourceRecord[];
  readonly issues: readonly SessionIssue[];
}

/**
 * Parses the lines of another program's file.
 *
 * Never throws. A line that is not a JSON object is reported as an issue, and intact records on a damaged line are recovered.
 *
 * @param input - The text, its bytes, or its bytes in chunks.
 * @remarks Cost: O(input).
 */
export function readSourceText(input: string | Uint8Array | Iterable<Uint8Array>): SourceText {
  return readRecords(input, SOURCE_FORM);
}

const INPUT: OptionRule = {
  fits: isIterable,
  words: "a string, a Uint8Array, or an iterable of Uint8Arrays",
};

/** Parses lines like `readSourceText`, but for records of a specific form. */
export function readRecords(input: string | Uint8Array | Iterable<Uint8Array>, form: SourceForm): SourceText {
  assertArgument("input", input, INPUT);
  const records: SourceRecord[] = [];
  const issues: SessionIssue[] = [];
  const scanner = new LineScanner({
    line: ({ bytes, start, end, line, offset, terminated }) => {
      const range = bytes.subarray(start, end);
      const parsed = parseJson(decodeText(range))?.value;
      const values = form.hasLists && Array.isArray(parsed) && parsed.length > 0 ? parsed : [parsed];
      if (values.every(isJsonRecord)) {
        for (const value of values) records.push({ value, line, offset });
        return true;
      }
      const found = recoverRecords(range, form);
      for (const { record } of found) records.push({ value: record, line, offset });
      issues.push(makeDamageIssues({ line, offset, length: end - start }, range, found, terminated));
      return true;
    },
    overlong: ({ line, offset, length }) => {
      issues.push({
        code: "LINE_TOO_LONG",
        line,
        offset,
        length,
        message: "The line is too long to read and was left out.",
      });
    },
  });
  for (const piece of toPieces(input)) scanner.feed(piece);
  scanner.end();
  return { records, issues };
}

/** Returns the first nonempty string in the given field of the records; undefined if there is none. */
export function findFirstText(records: readonly SourceRecord[], name: string): string | undefined {
  for (const { value } of records) {
    const text = toNonemptyText(value[name]);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Returns the first value that can be a working directory, and an issue if an earlier value contains a zero byte. */
export function findFirstFolder(values: Iterable<unknown>): {
  cwd: string | undefined;
  issues: SessionIssue[];
} {
  const issues: SessionIssue[] = [];
  for (const value of values) {
    const cwd = toNonemptyText(value);
    if (cwd !== undefined && !cwd.includes("\0")) return { cwd, issues };
    if (cwd !== undefined && issues.length === 0) {
      issues.push(
        makeLeftOutIssue(
          `The working directory ${JSON.stringify(cwd)} contains a zero byte, which no path may contain.`,
        ),
      );
    }
  }
  return { cwd: undefined, issues };
}

/** Returns whether a string can be the path of a working directory. */
export function isFolderName(text: string): boolean {
  return findFirstFolder([text]).cwd !== undefined;
}

/** Yields the given field of each record. */
export function* pluckField(records: readonly SourceRecord[], name: string): Generator<unknown, void> {
  for (const { value } of records) yield value[name];
}

/** Creates an issue about a record or, by default, about the source as a whole. */
export function makeIssue(
  code: SessionIssue["code"],
  message: string,
  { line, offset }: Pick<SourceRecord, "line" | "offset"> = { line: 0, offset: 0 },
): SessionIssue {
  return { code, line, offset, length: 0, message };
}

/** Creates an issue about data that an import omitted. */
export function makeLeftOutIssue(message: string): SessionIssue {
  return makeIssue("SOURCE_LEFT_OUT", message);
}

function toPieces(input: string | Uint8Array | Iterable<Uint8Array>): Iterable<Uint8Array> {
  if (typeof input === "string") return [new TextEncoder().encode(input)];
  return input instanceof Uint8Array ? [input] : input;
}

function makeDamageIssues(
  span: { line: number; offset: number; length: number },
  bytes: Uint8Array,
  found: readonly RecoveredRecord[],
  isTerminated: boolean,
): SessionIssue {
  if (found.length > 1) {
    const lost = isWhole(bytes, found) ? "all were imported" : "a damaged one next to them was left out";
    return { code: "RECORDS_GLUED", ...span, message: `${found.length} records are on one line; ${lost}.` };
  }
  const rest = found.length === 1 ? "; the complete record next to the damage was imported" : "";
  return isTerminated
    ? { code: "LINE_UNREADABLE", ...span, message: `The line is not a JSON object${rest}.` }
    : { code: "TAIL_TORN", ...span, message: `The last line was cut off${rest}.` };
}

/** Returns whether a line contains only records and whitespace. */
function isWhole(bytes: Uint8Array, found: readonly RecoveredRecord[]): boolean {
  const gaps = [...found, { start: bytes.length }].map(
    ({ start }, i) => [found[i - 1]?.end ?? 0, start] as const,
  );
  return gaps.every(([from, to]) => decodeText(bytes.subarray(from, to)).trim() === "");
}

/** Returns the value if it is a nonempty string; undefined otherwise. */
export function toNonemptyText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the joined text of a string, a block with text, or an array of these. */
export function joinContentText(content: unknown): string {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  return parts.map((part) => toNonemptyText(part) ?? toNonemptyText(toRecord(part)["text"]) ?? "").join("");
}

/** Narrows a value parsed from JSON. Only a missing field is undefined. */
export function isPresent(value: unknown): value is JsonValue {
  return value !== undefined;
}

/**
 * Time format of most programs. It matches only days that exist in every month, so that matching times do not need to be parsed.
 */
const PLAIN_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Converts an ISO string or Unix milliseconds to an ISO time in UTC with milliseconds; undefined if the value is invalid. */
export function toIsoTime(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  if (typeof value === "string" && PLAIN_TIME.test(value)) return value;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Returns a field of a record as a record. Returns an empty record if the field is not a record. */
export function getMember(record: JsonRecord, name: string): JsonRecord {
  return toRecord(record[name]);
}
