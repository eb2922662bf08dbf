import type { AnySessionEntry } from "../format/entry.ts";
import { toSafeString } from "../format/json.ts";
import { decodeRecord } from "../jsonl/decode.ts";
import { areEqualBytes } from "../jsonl/duplicate-lines.ts";
import { encodeCurrentLine } from "../jsonl/entry-body.ts";
import { makeIssue } from "../jsonl/issue-log.ts";
import { decodeEntryFrom, type LineSource, readLine } from "../jsonl/line-source.ts";
import { NONE } from "../tree/entry-tree.ts";
import { getOriginalId, isInvented, makeIdentity, makeInventedId, makeRank } from "./entry-identity.ts";
import { EntryUnion, type Member } from "./entry-union.ts";
import { findRankInId, MergeRedactions } from "./merge-redactions.ts";
import { type MergeSide, splitRunsToHold } from "./merge-source.ts";

/** Different entries that claim the same id. One entry keeps the id, and the others are given new ids. */
export interface ClaimedId {
  readonly id: string;
  /** Numbers of the entries; the entry that keeps the id is first. */
  readonly entries: readonly number[];
}

/** Stated parents found only in the other copy, by ordinal. */
export type LostParents = ReadonlyMap<number, string>;

/** Entries that two copies share, and the differences between the copies. */
export interface Matching {
  readonly union: EntryUnion;
  readonly claimed: readonly ClaimedId[];
  readonly lostParents: { readonly [side in MergeSide]: LostParents };
  readonly redactions: MergeRedactions;
}

/**
 * Finds the equal entries of two copies: those with equal lines, and those that differ only in ids invented by earlier merges.
 * Different entries that claim the same id are given new ids, unless a copy has redacted the entry with that id. In that case,
 * they are the same entry.
 *
 * @remarks Cost: O(bytes of the entries in both copies). Keeps a few megabytes of bodies in memory at a time.
 */
export function matchEntries(a: LineSource, b: LineSource): Matching {
  const union = new EntryUnion(a, b);
  const lostParents = { a: findLostParents(a, b), b: findLostParents(b, a) };
  const redactions = new MergeRedactions(a, b);
  const matcher = new Matcher(union, lostParents, redactions);
  matcher.matchById();
  const claimed = matcher.resolveClaims();
  return { union, claimed, lostParents, redactions };
}

class Matcher {
  readonly #union: EntryUnion;
  readonly #lostParents: Matching["lostParents"];
  readonly #redactions: MergeRedactions;
  /** Entries by original id: those that claim it, and those that were given a different id. */
  readonly #claims = new Map<string, Set<number>>();

  constructor(union: EntryUnion, lostParents: Matching["lostParents"], redactions: MergeRedactions) {
    this.#union = union;
    this.#lostParents = lostParents;
    this.#redactions = redactions;
    for (const side of ["a", "b"] as const) this.#claimInvented(side);
  }

  #claimInvented(side: MergeSide): void {
    const { tree } = this.#union[side].index;
    for (const ordinal of tree.ordinals()) {
      // Nearly all ids have eight characters and are stored as numbers, so they cannot be invented.
      const key = tree.keyAt(ordinal);
      if (typeof key === "string" && isInvented(key)) this.#claim(key, this.#union.at(side, ordinal));
    }
  }

  #claim(id: string, entry: number): void {
    const original = getOriginalId(id);
    const claims = this.#claims.get(original);
    if (claims === undefined) this.#claims.set(original, new Set([entry]));
    else claims.add(entry);
  }

  /** Compares the entries that have the same id in both copies. */
  matchById(): void {
    const { a, b } = this.#union;
    const isSameVersion = a.index.version === b.index.version;
    for (const run of splitRunsToHold(this.#pairs(), (pair) => a.index.spans.at(pair.a).length)) {
      const lines: Uint8Array[] = [];
      const ordinals = run.map((pair) => pair.a);
      a.readLines(ordinals, (_, bytes) => lines.push(new Uint8Array(bytes)));
      let position = 0;
      const others = run.map((pair) => pair.b);
      b.readLines(others, (ordinal, bytes) => {
        const other = ordinals[position] ?? NONE;
        const line = lines[position] ?? bytes;
        position++;
        // Equal lines are different entries if the copies interpret them differently, for example after a duplicate id.
        const isEqual = isSameVersion && areEqualBytes(line, bytes) && this.#hangAlike(other, ordinal);
        const isDone = this.#redactions.isDone(a.index.tree.idAt(other));
        if (isEqual || isDone || this.#isSameEntry(other, line, ordinal, bytes)) {
          this.#union.unite(this.#union.at("a", other), this.#union.at("b", ordinal), !isEqual);
          if (isDone) this.#markUnredacted(this.#union.at("a", other));
        } else {
          this.#claim(a.index.tree.idAt(other), this.#union.at("a", other));
          this.#claim(a.index.tree.idAt(other), this.#union.at("b", ordinal));
        }
      });
    }
  }

  /** Excludes occurrences that are redacted less than others. */
  #markUnredacted(entry: number): void {
    const members = this.#union.members(entry);
    const mostRedacted = new Set(this.#redactions.pickMostRedacted(members));
    for (const member of members) if (!mostRedacted.has(member)) this.#union.markDamaged(member);
  }

  /** Returns whether an entry of the first copy has the same parent id as an entry of the second copy. */
  #hangAlike(ordinal: number, other: number): boolean {
    const [one, two] = [this.#union.a.index.tree, this.#union.b.index.tree];
    const [parent, otherParent] = [one.parentAt(ordinal), two.parentAt(other)];
    if (parent === NONE || otherParent === NONE) return parent === otherParent;
    return one.keyAt(parent) === two.keyAt(otherParent);
  }

  *#pairs(): Generator<{ a: number; b: number }, void> {
    const { a, b } = this.#union;
    for (const ordinal of a.index.tree.ordinals()) {
      const other = b.index.tree.findKey(a.index.tree.keyAt(ordinal));
      if (other !== NONE) yield { a: ordinal, b: other };
    }
  }

  #isSameEntry(ordinal: number, line: Uint8Array, other: number, otherLine: Uint8Array): boolean {
    const [one, two] = [
      this.#identity("a", ordinal, decodeEntryFrom(this.#union.a, ordinal, line)),
      this.#identity("b", other, decodeEntryFrom(this.#union.b, other, otherLine)),
    ];
    return one !== undefined && one === two;
  }

  #identity(side: MergeSide, ordinal: number, entry: AnySessionEntry | undefined): string | undefined {
    if (entry === undefined) return undefined;
    return makeIdentity(entry, this.#lostParents[side].get(ordinal) ?? entry.parentId);
  }

  /** Decides which of several claimants keeps an id, and creates ids for the others. */
  resolveClaims(): ClaimedId[] {
    const resolved: ClaimedId[] = [];
    for (const [id, claims] of this.#claims) {
      for (const side of ["a", "b"] as const) {
        const holder = this.#union.find(side, id);
        if (holder !== NONE) claims.add(holder);
      }
      const ranked = this.#rank(claims);
      const first = ranked.find(({ isSettled }) => !isSettled);
      for (const one of ranked) {
        this.#union.name(one.entry, one === first ? id : makeInventedId(id, one.rank));
      }
      resolved.push({ id, entries: ranked.map(({ entry }) => entry) });
    }
    return resolved;
  }

  /** Returns the distinct entries, in order of rank. */
  #rank(claims: ReadonlySet<number>): Pick<Bearer, "entry" | "rank" | "isSettled">[] {
    const bearers = [...claims].map((entry) => this.#bearer(this.#union.memberAt(entry), entry));
    const distinct = new Map<string, Bearer>();
    const wholeAt = new Map<string, Bearer>();
    for (const bearer of bearers.sort(byRank)) {
      const { rank, position, isDamaged } = bearer;
      // The remains of a damaged entry are ignored if the intact entry exists.
      const same = distinct.get(rank) ?? (isDamaged ? wholeAt.get(position) : undefined);
      if (same === undefined) distinct.set(rank, bearer);
      else {
        this.#union.unite(same.entry, bearer.entry, true);
        this.#markUnredacted(this.#getFirst(same.entry));
        distinct.set(same.rank, { ...same, isSettled: same.isSettled || bearer.isSettled });
      }
      if (!isDamaged && !wholeAt.has(position)) wholeAt.set(position, bearer);
    }
    return [...distinct.values()].map(({ entry, rank, isSettled }) => ({
      entry: this.#getFirst(entry),
      rank,
      isSettled,
    }));
  }

  /** Returns the lowest number of an entry. */
  #getFirst(entry: number): number {
    const { side, ordinal } = this.#union.memberAt(entry);
    return this.#union.at(side, ordinal);
  }

  #bearer(member: Member, entry: number): Bearer {
    const { side, source, ordinal } = member;
    const itsId = source.index.tree.idAt(ordinal);
    if (this.#redactions.isDone(itsId)) return makeRedactedBearer(itsId, entry);
    const line = readLine(source, ordinal);
    const head = source.index.tree.headAt(ordinal);
    const own = decodeEntryFrom(source, ordinal, line);
    if (own === undefined) {
      this.#union.markDamaged({ side, source, ordinal });
      source.index.report(makeIssue("BODY_DAMAGED", source.index.spans.at(ordinal), head.id));
    }
    // The merged session keeps a damaged body as a string, and merging it again must recognize the entry.
    const kept = own ?? asEntry(encodeCurrentLine(line, head, source.index));
    const parentId = this.#lostParents[side].get(ordinal) ?? head.parentId;
    const rank = kept === undefined ? "" : makeRank(kept, makeIdentity(kept, parentId));
    const position = JSON.stringify([head.type, parentId === null ? null : getOriginalId(parentId)]);
    return { entry, rank, position, isDamaged: own === undefined, isSettled: false };
  }
}

/** Entry that claims an id. */
interface Bearer {
  readonly entry: number;
  readonly rank: string;
  /** Type and parent. */
  readonly position: string;
  readonly isDamaged: boolean;
  /** Whether the entry keeps the id that an earlier merge invented for it, although its content has changed. */
  readonly isSettled: boolean;
}

/** Returns a claimant whose id is listed in a redaction. The redacted entry keeps the id, regardless of its content. */
function makeRedactedBearer(id: string, entry: number): Bearer {
  const rank = findRankInId(id);
  return { entry, rank: rank ?? "", position: id, isDamaged: false, isSettled: rank !== undefined };
}

function byRank(one: Bearer, other: Bearer): number {
  return one.rank < other.rank ? -1 : one.rank > other.rank ? 1 : 0;
}

function asEntry(line: Uint8Array | string): AnySessionEntry | undefined {
  const record = decodeRecord(typeof line === "string" ? new TextEncoder().encode(line) : line);
  if (record === undefined) return undefined;
  const { type, id, parentId, timestamp, ...body } = record;
  return {
    type: toSafeString(type),
    id: toSafeString(id),
    parentId: typeof parentId === "string" ? parentId : null,
    timestamp: toSafeString(timestamp),
    ...body,
  };
}

function findLostParents(source: LineSource, other: LineSource): LostParents {
  const { tree, issues } = source.index;
  const lost = new Map<number, string>();
  for (const { code, entryId } of issues) {
    if (code !== "PARENT_MISSING" && code !== "PARENT_BRIDGED") continue;
    const ordinal = entryId === undefined ? NONE : tree.find(entryId);
    if (ordinal === NONE) continue;
    const parentId = decodeRecord(readLine(source, ordinal))?.["parentId"];
    if (typeof parentId === "string" && other.index.tree.find(parentId) !== NONE) lost.set(ordinal, parentId);
  }
  return lost;
}
