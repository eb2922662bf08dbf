import { staleLeaf } from "../log/expected-leaf.ts";
import type { AppendCondition, AppendReceipt, NewEntryLine } from "../stores/session-backend.ts";
import { sessionNotFound, writesLost } from "../stores/store-errors.ts";
import { columnKey } from "./column-text.ts";
import type { RunSql } from "./database.ts";
import { givenLines } from "./line-rows.ts";
import type { Names } from "./names.ts";
import { numberOf, optionalNumber, type Row, requiredText, textOf } from "./rows.ts";

/** What the server's setting can hold. */
const MAX_LOCK_MS = 2 ** 31 - 1;

/** Where to append lines, and for which tenant. */
export interface AppendPlace {
  readonly names: Names;
  readonly tenant: string | undefined;
  /** Undefined to notify nobody. */
  readonly channel: string | undefined;
  /** Milliseconds to wait for a lock. */
  readonly lockMs: number;
}

/**
 * Appends entries with one call of a database function.
 *
 * @throws {SessionError} `SESSION_NOT_FOUND`, `STALE_LEAF` or `WRITES_LOST`
 */
export async function appendEntries(
  run: RunSql,
  { names, tenant, channel, lockMs }: AppendPlace,
  id: string,
  lines: readonly NewEntryLine[],
  { expectedLeafId, afterSeq, afterEntryId }: AppendCondition,
): Promise<AppendReceipt> {
  const { distinct, places } = withoutRepeats(lines);
  const [row] = await run(`select * from ${names.append}($1, $2, $3::json, $4, $5, $6, $7, $8, $9)`, [
    tenant ?? null,
    id,
    givenLines(distinct),
    expectedLeafId !== undefined,
    typeof expectedLeafId === "string" ? columnKey(expectedLeafId) : null,
    channel ?? null,
    afterSeq ?? null,
    afterEntryId === undefined ? null : columnKey(afterEntryId),
    Math.ceil(Math.min(lockMs, MAX_LOCK_MS)),
  ]);
  const status = row && requiredText(row, "status");
  if (row === undefined || status === "missing") throw sessionNotFound(id);
  if (status === "lost") throw writesLost(id);
  if (status === "stale") throw staleLeaf(expectedLeafId ?? null, textOf(row, "leaf") ?? null);
  const precedingSeq = numberOf(row, "preceding_seq");
  const lastSeq = seqsOf(row)[places.at(-1) ?? 0] ?? precedingSeq;
  return { precedingSeq, lastSeq, revision: numberOf(row, "revision") };
}

/** Removes repeated lines; returns the index of each line among the rest. */
function withoutRepeats(lines: readonly NewEntryLine[]): { distinct: NewEntryLine[]; places: number[] } {
  const known = new Map<string, number>();
  const distinct: NewEntryLine[] = [];
  const places = lines.map((line) => {
    // A line holds no line break, so the last one separates the two.
    const key = `${line.entry.id}\n${line.text}`;
    const place = known.get(key) ?? distinct.push(line) - 1;
    known.set(key, place);
    return place;
  });
  return { distinct, places };
}

/** Returns the sequence numbers of lines: those of known lines, and consecutive ones for new lines. */
function seqsOf(row: Row): number[] {
  const known: unknown = JSON.parse(textOf(row, "known") ?? "[]");
  let next = optionalNumber(row, "first_seq") ?? 0;
  return (Array.isArray(known) ? known : []).map((seq: unknown) => (typeof seq === "number" ? seq : next++));
}
