import type { SessionIssue } from "../../../core/format/issue.ts";
import { isVersion4Header, VERSION_4_FORM } from "../../../core/jsonl/foreign-source.ts";
import { readRecords, type SourceRecord, type SourceText } from "../source-text.ts";

/**
 * The two formats that pi called version 4, which cannot read each other. `A` (pi-agent-core 0.84) writes one change on
 * a line and names its leaves lanes; `B` (0.85 to 0.99) writes one transaction on a line and names them branches.
 */
export type Pi4Dialect = "A" | "B";

/** Kinds of records that only dialect B writes. */
const KINDS_OF_B: ReadonlySet<unknown> = new Set(["value", "list", "usage"]);

const LF = 0x0a;

/**
 * Parses a file of pi's version 4, of either dialect: each write of a transaction is a record.
 *
 * Ends where pi would: a last line without a line break counts in dialect A if it is whole, and never in dialect B,
 * whose transactions are applied whole or not at all.
 *
 * @remarks Cost: O(input).
 */
export function readPi4Text(input: string | Uint8Array): SourceText {
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  const text = readRecords(bytes, { ...VERSION_4_FORM, hasLists: true });
  const end = bytes.lastIndexOf(LF) + 1;
  const torn = text.records.find(({ offset }) => offset >= end);
  if (torn === undefined || dialectOf(text.records) === "A") return text;
  const isWhole = ({ offset }: { readonly offset: number }) => offset < end;
  const issue: SessionIssue = {
    code: "TAIL_TORN",
    line: torn.line,
    offset: end,
    length: bytes.length - end,
    message: "The last line has no line break, so its transaction does not count.",
  };
  return { records: text.records.filter(isWhole), issues: [...text.issues.filter(isWhole), issue] };
}

/** Detects the dialect of a file, by its header, else by its other records. */
export function dialectOf(records: readonly SourceRecord[]): Pi4Dialect {
  const header = headerOf(records);
  if (header !== undefined) return header.value["v"] === undefined ? "A" : "B";
  return records.some(({ value }) => KINDS_OF_B.has(value["kind"])) ? "B" : "A";
}

/** Returns the header; undefined if the file has lost it. */
export function headerOf(records: readonly SourceRecord[]): SourceRecord | undefined {
  return records.find(({ value }) => isVersion4Header(value));
}
