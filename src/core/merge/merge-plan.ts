import { assertArgument, TEXT_OR_BYTES } from "../format/arguments.ts";
import { SessionError } from "../format/errors.ts";
import type { SessionHeader } from "../format/header.ts";
import type { SessionIssue } from "../format/issue.ts";
import type { JsonRecord } from "../format/json.ts";
import { assertOptions, FLAG } from "../format/options.ts";
import { CURRENT_SESSION_VERSION } from "../format/version.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import { type LineSource, makeLineSource } from "../jsonl/line-source.ts";
import type { EntryUnion } from "./entry-union.ts";
import { type ClaimedId, matchEntries } from "./match-entries.ts";
import { findParents, orderEntries } from "./merge-order.ts";
import { getMergeableHeader, type MergeSide } from "./merge-source.ts";
import { isAsInA, type MergedEntries, writeMergedLines } from "./merged-lines.ts";

/** Options for a merge. */
export interface MergeOptions {
  /** Whether to merge sessions with different ids. The result has the id that sorts first. */
  readonly allowDifferentIds?: boolean;
}

/** Different entries that had the same id. */
export interface MergeConflict {
  /** Original id of the entries. */
  readonly id: string;
  /** Ids of the entries in the result. The first entry keeps the shared id. */
  readonly entries: readonly { readonly id: string; readonly from: MergeSide | "both" }[];
}

/** Result of a merge. */
export interface MergeReport {
  /** Id of the merged session. */
  readonly sessionId: string;
  /** Number of entries. */
  readonly entries: number;
  /** Number of entries that only the first copy had. */
  readonly onlyInA: number;
  /** Number of entries that only the second copy had. */
  readonly onlyInB: number;
  /** Number of entries that both copies had. */
  readonly inBoth: number;
  /** Ids that referred to different entries in the copies. */
  readonly conflicts: readonly MergeConflict[];
  /** Differences between the headers, and the merged values. */
  readonly headerDifferences: readonly HeaderDifference[];
  /** Ids of entries that are redacted in the result and whose content remains in a copy. */
  readonly unredacted: { readonly [side in MergeSide]: readonly string[] };
  /** Issues of each copy. Lines that are not entries are not merged; the issues state their positions. */
  readonly issues: { readonly a: readonly SessionIssue[]; readonly b: readonly SessionIssue[] };
}

/** Planned merge that has not been written. */
export interface MergePlan {
  readonly header: SessionHeader;
  /** Returns whether the result differs from the first copy in more than the order of its lines. */
  changesA(): boolean;
  /** Yields the lines of the merged session, each with its line break. */
  lines(): Generator<string | Uint8Array, void>;
  /** Returns the report. It is complete only after all lines have been yielded. */
  report(): MergeReport;
}

/**
 * Plans the merge of two copies of a session.
 *
 * @throws {SessionError} `SESSIONS_DIFFER` if they are not copies of one session, `NOT_A_SESSION`, `VERSION_TOO_NEW`
 * @remarks Cost: O(bytes + n log n), about 40 bytes per entry in addition to the trees. Source: docs/merge.md
 */
export function planMerge(a: LineSource, b: LineSource, options: MergeOptions = {}): MergePlan {
  assertOptions<MergeOptions>(options, { allowDifferentIds: FLAG });
  const headers = { a: getMergeableHeader(a, "a"), b: getMergeableHeader(b, "b") };
  if (!options.allowDifferentIds) assertSameSession(headers.a, headers.b);
  const { header, differences } = mergeHeaders(headers.a, headers.b);
  const matching = matchEntries(a, b);
  const { union, claimed, redactions } = matching;
  const parents = findParents(matching);
  const merged: MergedEntries = { matching, parents, order: orderEntries(union, parents) };
  const counts = countSides(union);
  const conflicts = claimed.flatMap((one) => findConflict(one, union));
  const unredacted = { a: redactions.findUnredacted("a"), b: redactions.findUnredacted("b") };
  const hasNews = counts.b > 0 || differences.some((one) => one.merged !== one.a) || isOdd(a);
  return {
    header,
    changesA: () => hasNews || ((union.hasNames || redactions.areAny) && !isAsInA(merged)),
    lines: () => writeMergedLines(header, merged),
    report: () => ({
      sessionId: header.id,
      entries: merged.order.length,
      onlyInA: counts.a,
      onlyInB: counts.b,
      inBoth: counts.both,
      conflicts,
      headerDifferences: differences,
      unredacted,
      issues: { a: a.index.issues, b: b.index.issues },
    }),
  };
}

function assertSameSession(a: SessionHeader, b: SessionHeader): void {
  if (a.id === b.id) return;
  const message = `These are not copies of one session: one has the id ${a.id}, the other ${b.id}. Merge copies of the same session, or allow different ids.`;
  throw new SessionError("SESSIONS_DIFFER", message, { details: { a: a.id, b: b.id } });
}

/** Returns whether a merge would rewrite a copy even without adding entries. */
function isOdd({ index }: LineSource): boolean {
  return index.issues.length > 0 || index.version !== CURRENT_SESSION_VERSION || index.needsUpgrade;
}

function countSides(union: EntryUnion): { [side in MergeSide | "both"]: number } {
  const counts = { a: 0, b: 0, both: 0 };
  for (const entry of union.entries()) counts[getSide(entry, union)]++;
  return counts;
}

function getSide(entry: number, union: EntryUnion): MergeSide | "both" {
  if (union.isSingle(entry)) return union.memberAt(entry).side;
  const sides = new Set(union.members(entry).map(({ side }) => side));
  return sides.size > 1 ? "both" : union.memberAt(entry).side;
}

/** Returns a conflict if this merge had to rename one of the entries. */
function findConflict({ id, entries }: ClaimedId, union: EntryUnion): MergeConflict[] {
  const isRenamed = (entry: number) =>
    union
      .members(entry)
      .some(({ source, ordinal }) => source.index.tree.idAt(ordinal) !== union.getId(entry));
  if (entries.length < 2 || !entries.some(isRenamed)) return [];
  const named = entries.map((entry) => ({ id: union.getId(entry), from: getSide(entry, union) }));
  return [{ id, entries: named }];
}

/** Result of merging two copies of a session. */
export interface MergedContent extends MergeReport {
  /** Bytes of the merged session's file. */
  readonly content: Uint8Array;
}

/**
 * Merges two diverged copies of a session in memory. The result contains all entries of both copies, and shared entries only
 * once.
 *
 * The result does not depend on the order of the copies, or on the order in which several copies are merged. Does not require a
 * file system. To merge files, use `mergeSessions`.
 *
 * @param a - Bytes of one copy's file, or its text.
 * @param b - Bytes of the other copy's file, or its text.
 * @throws {SessionError} `SESSIONS_DIFFER` if they are not copies of one session, `NOT_A_SESSION`, `VERSION_TOO_NEW`
 * @remarks Cost: O(bytes + n log n). Source: docs/merge.md
 */
export function mergeSessionContents(
  a: Uint8Array | string,
  b: Uint8Array | string,
  options: MergeOptions = {},
): MergedContent {
  assertArgument("a", a, TEXT_OR_BYTES);
  assertArgument("b", b, TEXT_OR_BYTES);
  const plan = planMerge(makeLineSource(a), makeLineSource(b), options);
  const encoder = new TextEncoder();
  const pieces = Array.from(plan.lines(), (line) => (typeof line === "string" ? encoder.encode(line) : line));
  const content = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    content.set(piece, at);
    at += piece.length;
  }
  return { ...plan.report(), content };
}

/** Field in which two headers differ. */
export interface HeaderDifference {
  readonly field: string;
  /** Undefined if the header does not have the field. */
  readonly a: unknown;
  readonly b: unknown;
  /** Value in the merged header. */
  readonly merged: unknown;
}

/** First fields of a header, in order. The others follow, sorted by name. */
const FIRST_FIELDS = ["type", "version", "id", "timestamp", "cwd", "parentSession"];

/** Fields that are only meaningful together. */
const MODEL_FIELDS = ["provider", "modelId"];

/**
 * Merges two headers. Keeps the fields of both. If the values of a field differ, keeps the value that sorts first, such as the
 * earlier time. The result does not depend on the order of the headers.
 */
function mergeHeaders(
  a: SessionHeader,
  b: SessionHeader,
): { header: SessionHeader; differences: HeaderDifference[] } {
  const [one, other]: [JsonRecord, JsonRecord] = [{ ...a }, { ...b }];
  const merged: JsonRecord = {};
  for (const fields of makeFieldGroups(one, other)) {
    const chosen = chooseHeader(fields, one, other);
    for (const field of fields) if (chosen[field] !== undefined) setField(merged, field, chosen[field]);
  }
  const header: SessionHeader = {
    type: "session",
    version: CURRENT_SESSION_VERSION,
    id: chooseEarlier(a.id, b.id),
    timestamp: chooseEarlier(a.timestamp, b.timestamp),
    cwd: chooseEarlier(a.cwd, b.cwd),
    ...merged,
  };
  const result: JsonRecord = { ...header };
  const differences = Object.keys(result)
    .filter((field) => encodeValue(one[field]) !== encodeValue(other[field]))
    .map((field) => ({ field, a: one[field], b: other[field], merged: result[field] }));
  return { header, differences };
}

/** Returns the string that sorts first. Returns an empty string only if both are empty. */
function chooseEarlier(one: string, other: string): string {
  if (one === "" || other === "") return one || other;
  return one < other ? one : other;
}

function makeFieldGroups(one: JsonRecord, other: JsonRecord): string[][] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  for (const name of ["type", "version", "id", "timestamp", "cwd", ...MODEL_FIELDS]) names.delete(name);
  const getGroup = (name: string) => (FIRST_FIELDS.includes(name) ? 0 : 1);
  const sorted = [...names].sort((x, y) => getGroup(x) - getGroup(y) || (x < y ? -1 : 1));
  return [...sorted.map((name) => [name]), MODEL_FIELDS];
}

/** Returns the header whose values for these fields are used. */
function chooseHeader(fields: readonly string[], one: JsonRecord, other: JsonRecord): JsonRecord {
  const [text, otherText] = [one, other].map((header) => joinValues(fields, header));
  if (text === undefined || otherText === undefined) return text === undefined ? other : one;
  return text <= otherText ? one : other;
}

/** Returns the values as one string; undefined if there are none. */
function joinValues(fields: readonly string[], header: JsonRecord): string | undefined {
  if (fields.every((field) => header[field] === undefined)) return undefined;
  return encodeRecord(fields.map((field) => header[field]));
}

function encodeValue(value: unknown): string {
  return encodeRecord([value]);
}

/** Sets a field, even if it is named `__proto__`. */
function setField(record: JsonRecord, field: string, value: unknown): void {
  Object.defineProperty(record, field, { value, writable: true, enumerable: true, configurable: true });
}
