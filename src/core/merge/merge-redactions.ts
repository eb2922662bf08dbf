import { isJsonRecord, type JsonRecord } from "../format/json.ts";
import { REDACTED_TEXT } from "../format/redact-entry.ts";
import { getRedactedIds } from "../format/redaction.ts";
import { decodeRecord } from "../jsonl/decode.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import { type LineSource, readLine } from "../jsonl/line-source.ts";
import { NONE } from "../tree/entry-tree.ts";
import { getOriginalId } from "./entry-identity.ts";
import type { Member } from "./entry-union.ts";
import type { MergeSide } from "./merge-source.ts";

/** Degree to which a copy has redacted an entry: 0 means not at all, 1 means some strings, 2 means all content. */
export type RedactionDegree = 0 | 1 | 2;

type Degrees = ReadonlyMap<string, RedactionDegree>;

/**
 * Redactions that two copies record.
 *
 * Content redacted in one copy is not restored from the other. If both copies have an entry, the more heavily redacted version is
 * kept.
 *
 * @remarks Cost: O(bytes of custom entries).
 */
export class MergeRedactions {
  readonly #sources: { readonly [side in MergeSide]: LineSource };
  readonly #degrees: { readonly [side in MergeSide]: Degrees };

  constructor(a: LineSource, b: LineSource) {
    this.#sources = { a, b };
    this.#degrees = { a: countDegrees(a), b: countDegrees(b) };
  }

  /** Whether either copy records a redaction. */
  get areAny(): boolean {
    return this.#degrees.a.size + this.#degrees.b.size > 0;
  }

  /** Returns whether either copy has redacted the entry with an id. */
  isDone(id: string): boolean {
    return this.#degrees.a.has(id) || this.#degrees.b.has(id);
  }

  /** Returns the degree to which an occurrence is redacted. */
  degreeAt({ side, source, ordinal }: Member): RedactionDegree {
    return this.#degrees[side].get(source.index.tree.idAt(ordinal)) ?? 0;
  }

  /** Returns the most redacted occurrences of an entry, or all of them if none is redacted. */
  pickMostRedacted(members: readonly Member[]): Member[] {
    const max = Math.max(...members.map((member) => this.degreeAt(member)));
    return members.filter((member) => this.degreeAt(member) === max);
  }

  /**
   * Returns the ids of entries whose content a copy still contains although the other copy has redacted it.
   *
   * @remarks Cost: O(redactions), plus the lines that both copies have partly redacted.
   */
  findUnredacted(side: MergeSide): string[] {
    const other = side === "a" ? "b" : "a";
    const { tree } = this.#sources[side].index;
    return Array.from(this.#degrees[other]).flatMap(([id, degree]) => {
      const ordinal = tree.find(id);
      const own = this.#degrees[side].get(id) ?? 0;
      if (ordinal === NONE || own > degree || own === 2) return [];
      return own < degree || this.#getLine("a", id) !== this.#getLine("b", id) ? [id] : [];
    });
  }

  #getLine(side: MergeSide, id: string): string {
    const source = this.#sources[side];
    const ordinal = source.index.tree.find(id);
    return ordinal === NONE ? "" : encodeRecord(decodeRecord(readLine(source, ordinal)) ?? {});
  }

  /** Returns whether an entry still contains content although its redaction is recorded. */
  mustRedact(members: readonly Member[]): boolean {
    return members.every(
      (member) => this.degreeAt(member) === 0 && this.isDone(member.source.index.tree.idAt(member.ordinal)),
    );
  }
}

/** Returns the part of an invented id that follows the original id; undefined for all other ids. */
export function findRankInId(id: string): string | undefined {
  const original = getOriginalId(id);
  return original === id ? undefined : id.slice(original.length + 1);
}

function countDegrees(source: LineSource): Degrees {
  const { tree } = source.index;
  const customs = Array.from(tree.ordinals()).filter((ordinal) => tree.typeAt(ordinal) === "custom");
  const degrees = new Map<string, RedactionDegree>();
  source.readLines(customs, (_, bytes) => {
    const record = decodeRecord(bytes) ?? {};
    const isPart = isJsonRecord(record["data"]) && Array.isArray(record["data"]["targetIds"]);
    for (const id of getRedactedIds(record)) {
      if (!isPart || !degrees.has(id)) degrees.set(id, isPart ? 1 : 2);
    }
  });
  return degrees;
}

/** Maximum nesting depth at which parts of values are compared individually. */
const MAX_DEPTH = 100;

/**
 * Returns the common content of two copies of an entry from which different strings were redacted. Replaces strings that differ,
 * and omits fields that only one copy has.
 *
 * Symmetric and associative, so that the order of merges does not matter.
 */
export function keepCommonFields(one: JsonRecord, other: JsonRecord, depth = 0): JsonRecord {
  const shared = Object.keys(one).filter((name) => Object.hasOwn(other, name));
  return Object.fromEntries(shared.map((name) => [name, keepCommon(one[name], other[name], depth + 1)]));
}

function keepCommon(one: unknown, other: unknown, depth: number): unknown {
  const isDeep = depth > MAX_DEPTH;
  if (!isDeep && Array.isArray(one) && Array.isArray(other) && one.length === other.length)
    return one.map((value, at) => keepCommon(value, other[at], depth + 1));
  if (!isDeep && isJsonRecord(one) && isJsonRecord(other)) return keepCommonFields(one, other, depth);
  return encodeRecord([one]) === encodeRecord([other]) ? one : REDACTED_TEXT;
}
