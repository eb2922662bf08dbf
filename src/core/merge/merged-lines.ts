import type { AnySessionEntry } from "../format/entry.ts";
import type { SessionHeader } from "../format/header.ts";
import type { JsonRecord } from "../format/json.ts";
import { REDACTED_TEXT, redactEntry } from "../format/redact-entry.ts";
import { decodeRecord, decodeText, parseRecord } from "../jsonl/decode.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import { DAMAGED_CUSTOM_TYPE, encodeCurrentLine } from "../jsonl/entry-body.ts";
import { makeIssue } from "../jsonl/issue-log.ts";
import { readLine } from "../jsonl/line-source.ts";
import { NONE } from "../tree/entry-tree.ts";
import { mapReferences } from "./entry-identity.ts";
import type { Member } from "./entry-union.ts";
import type { Matching } from "./match-entries.ts";
import { getParent } from "./merge-order.ts";
import { keepCommonFields } from "./merge-redactions.ts";
import { type MergeSide, splitRunsToHold } from "./merge-source.ts";

/** Content of a merged session. */
export interface MergedEntries {
  readonly matching: Matching;
  /** Parent of each entry, by number. */
  readonly parents: Int32Array;
  /** All entries, parents before children. */
  readonly order: Int32Array;
}

interface Spelling {
  readonly line: Uint8Array | string;
  readonly isDamaged: boolean;
}

const SIDES: readonly MergeSide[] = ["a", "b"];

/**
 * Yields the lines of a merged session: the header, followed by each entry in the format of the current version.
 *
 * Copies unchanged lines byte for byte. Reports damaged bodies as issues of their copy.
 *
 * @remarks Cost: O(bytes); keeps a few megabytes of lines in memory at a time.
 */
export function* writeMergedLines(
  header: SessionHeader,
  merged: MergedEntries,
): Generator<string | Uint8Array, void> {
  yield `${encodeRecord(header)}\n`;
  for (const { line } of spellEntries(merged)) {
    yield line;
    yield "\n";
  }
}

/**
 * Returns whether the first copy, which contains all entries, already has the merged line of each entry.
 *
 * @remarks Cost: O(bytes).
 */
export function isAsInA(merged: MergedEntries): boolean {
  const { union } = merged.matching;
  for (const { entry, line } of spellEntries(merged)) {
    const [position, ...others] = union.members(entry).filter(({ side }) => side === "a");
    if (position === undefined || others.length > 0) return false;
    if (asText(readLine(union.a, position.ordinal)) !== asText(line)) return false;
  }
  return true;
}

function* spellEntries(merged: MergedEntries): Generator<{ entry: number; line: Uint8Array | string }, void> {
  const { union } = merged.matching;
  const chosen = toChoose(merged);
  for (const run of splitRunsToHold(chosen, ({ members }) => countBytes(members))) {
    const spellings: Spelling[][] = run.map(() => []);
    for (const side of SIDES) {
      const wanted = run.flatMap(({ members, entry }, position) =>
        members.flatMap((member) =>
          member.side === side ? { member, entry, spelling: spellings[position] } : [],
        ),
      );
      let next = 0;
      union[side].readLines(
        wanted.map(({ member }) => member.ordinal),
        (_, bytes) => {
          const one = wanted[next++];
          if (one !== undefined) one.spelling?.push(spellMember(one.member, one.entry, bytes, merged));
        },
      );
    }
    for (const [position, { entry, members }] of run.entries()) {
      const isPartly = members.some((member) => merged.matching.redactions.degreeAt(member) === 1);
      const choose = isPartly ? keepCommonLine : chooseFirst;
      yield { entry, line: choose(spellings[position] ?? []) };
    }
  }
}

/** Yields each entry with the occurrences whose line can be used: those with its final parent. */
function* toChoose({
  matching,
  parents,
  order,
}: MergedEntries): Generator<{ entry: number; members: Member[] }> {
  const { union, redactions } = matching;
  for (const entry of order) {
    const isAlike = union.isSingle(entry) || !(union.hasNames || union.isVariant(entry));
    if (isAlike) yield { entry, members: [union.memberAt(entry)] };
    else {
      const members = redactions.pickMostRedacted(union.members(entry));
      const fitting = members.filter((member) => getParent(member, matching) === parents[entry]);
      yield { entry, members: fitting.length > 0 ? fitting : members };
    }
  }
}

function countBytes(members: readonly Member[]): number {
  return members.reduce((sum, { source, ordinal }) => sum + source.index.spans.at(ordinal).length, 0);
}

function spellMember(
  member: Member,
  entry: number,
  bytes: Uint8Array,
  { matching: { union, redactions }, parents }: MergedEntries,
): Spelling {
  const { side, source, ordinal } = member;
  const parent = parents[entry] ?? NONE;
  const head = {
    ...source.index.tree.headAt(ordinal),
    id: union.getId(entry),
    parentId: parent === NONE ? null : union.getId(parent),
  };
  const getName = (id: string) => {
    const named = union.find(side, id);
    return named === NONE ? id : union.getId(named);
  };
  const isRedacted = redactions.areAny && redactions.mustRedact(union.members(entry));
  const change = (one: AnySessionEntry) =>
    mapReferences(isRedacted ? redactEntry(one, REDACTED_TEXT) : one, getName);
  const line = encodeCurrentLine(
    bytes,
    head,
    source.index,
    union.hasNames || isRedacted ? change : undefined,
  );
  const isDamaged = typeof line === "string" && isNewlyDamaged(line, bytes);
  if (isDamaged) reportDamage(union.isVariant(entry) ? [member] : union.members(entry));
  return { line: typeof line === "string" ? line : new Uint8Array(line), isDamaged };
}

/** Reports a damaged body at all occurrences with the same line. */
function reportDamage(members: readonly Member[]): void {
  for (const { source, ordinal } of members) {
    const { index } = source;
    index.report(makeIssue("BODY_DAMAGED", index.spans.at(ordinal), index.tree.idAt(ordinal)));
  }
}

/** Returns whether a line stores a damaged line of the copy as a string and the copy does not already do so. */
function isNewlyDamaged(line: string, bytes: Uint8Array): boolean {
  if (!line.includes(DAMAGED_CUSTOM_TYPE)) return false;
  const written = decodeRecord(new TextEncoder().encode(line));
  return (
    written?.["customType"] === DAMAGED_CUSTOM_TYPE &&
    decodeRecord(bytes)?.["customType"] !== DAMAGED_CUSTOM_TYPE
  );
}

/** Returns the line that every merge selects if an entry has several lines. */
function chooseFirst(spellings: readonly Spelling[]): Uint8Array | string {
  const whole = spellings.filter(({ isDamaged }) => !isDamaged);
  const [first, ...others] = whole.length > 0 ? whole : spellings;
  if (first === undefined) throw new TypeError("an entry is in no copy");
  let [line, text] = [first.line, others.length === 0 ? "" : asText(first.line)];
  for (const other of others) {
    const otherText = asText(other.line);
    if (otherText < text) [line, text] = [other.line, otherText];
  }
  return line;
}

/** Returns the common content of several lines of an entry from which different strings were redacted. */
function keepCommonLine(spellings: readonly Spelling[]): Uint8Array | string {
  const first = chooseFirst(spellings);
  const texts = new Set(spellings.map(({ line }) => asText(line)));
  if (texts.size < 2) return first;
  const records = spellings.flatMap(({ line }): readonly JsonRecord[] => {
    const record = parseRecord(asText(line));
    return record === undefined ? [] : [record];
  });
  return records.length === 0
    ? first
    : encodeRecord(records.reduce((one, other) => keepCommonFields(one, other)));
}

function asText(line: Uint8Array | string): string {
  return typeof line === "string" ? line : decodeText(line);
}
