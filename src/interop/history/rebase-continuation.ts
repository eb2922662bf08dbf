import { getTexts } from "../../core/context/content-text.ts";
import { getMessageFields, toArray, toRecord } from "../../core/context/entry-fields.ts";
import { buildContextEntries } from "../../core/context/session-context.ts";
import type { AnySessionEntry, UnknownEntry } from "../../core/format/entry.ts";
import { addTo } from "../../core/format/group-by.ts";
import { inventEntryId } from "../../core/format/ids.ts";
import { type JsonRecord, toSafeString } from "../../core/format/json.ts";
import { encodeParsed } from "../../core/jsonl/encode.ts";
import type { ContinuedOrigin, ImportedSession } from "../import/imported-session.ts";
import { isLeafMarker, makeEntryId, makeLeafMarkerKey } from "../import/session-builder.ts";

/** Types of entries that are not messages: settings, names, and notes from programs. */
const SILENT_TYPES: ReadonlySet<string> = new Set([
  "custom",
  "label",
  "model_change",
  "session_info",
  "thinking_level_change",
]);

/**
 * Moves the entries that a program added to an exported session to the session that it continues.
 *
 * Omits the copies of exported entries, and names that the program generated. The other ids are derived from the import's ids and
 * the export's leaf, so a fork of the continuation has the same ids.
 *
 * @param original - Entries of the continued session, in file order. They must include the export's leaf.
 * @returns The import with the entries to add. It has no entries if the program added no messages.
 * @remarks Cost: O(entries of both sessions).
 */
export function rebaseContinuation(
  original: readonly AnySessionEntry[],
  imported: ImportedSession,
  continued: ContinuedOrigin,
): ImportedSession {
  const entries = withoutUnfinished(new Rebase(original, imported, continued).run());
  const isSaid = entries.some(({ type }) => !SILENT_TYPES.has(type));
  const withdrawnIds = new Set(Array.from(imported.withdrawnIds, (id) => makeContinuedId(continued, id)));
  return { ...imported, entries: isSaid ? entries : [], withdrawnIds };
}

/**
 * Removes a trailing answer that the program has not finished writing, as well as all entries after it. If they were added now,
 * they would have to be added again later, and the answer's model call would be counted twice.
 */
function withoutUnfinished(entries: readonly AnySessionEntry[]): readonly AnySessionEntry[] {
  const last = entries.findLastIndex(({ type }) => !SILENT_TYPES.has(type));
  const { role, content, stopReason } = getMessageFields(entries[last]);
  const types = toArray(content).map((block) => toRecord(block)["type"]);
  const isFinished = types.includes("toolCall") || (types.includes("text") && stopReason !== "toolUse");
  const isFailed = stopReason === "error" || stopReason === "aborted";
  return role !== "assistant" || isFinished || isFailed ? entries : entries.slice(0, last);
}

function makeContinuedId({ sessionId, leafId }: ContinuedOrigin, id: string): string {
  return inventEntryId(`continued ${sessionId} ${leafId} ${id}`, 0, 0);
}

class Rebase {
  readonly #imported: ImportedSession;
  readonly #continued: ContinuedOrigin;
  readonly #known: ReadonlyMap<string, AnySessionEntry>;
  /** Ids of the original entries that correspond to copies in the import, by the id of the copy. */
  readonly #counterparts: ReadonlyMap<string, string>;
  /** Id of the parent of the first exported entry. */
  readonly #rootId: string | null;
  /** Ids that the import's entries have in the session, used to find the parents of other entries. */
  readonly #places = new Map<string, string | null>();

  constructor(original: readonly AnySessionEntry[], imported: ImportedSession, continued: ContinuedOrigin) {
    this.#imported = imported;
    this.#continued = continued;
    this.#known = new Map(original.map((entry) => [entry.id, entry]));
    const path = getPath(this.#known, continued.leafId);
    const first = path.find(({ type }) => !SILENT_TYPES.has(type));
    this.#rootId = first?.parentId ?? null;
    const copies = imported.entries.filter(({ id }) => continued.copiedIds.has(id));
    const context = buildContextEntries(original, continued.leafId, this.#known);
    const [inContext, onPath] = [matchInOrder(copies, context), matchInOrder(copies, path)];
    this.#counterparts = onPath.size > inContext.size ? onPath : inContext;
  }

  run(): AnySessionEntry[] {
    this.#placeCopies();
    const added: AnySessionEntry[] = [];
    for (const entry of this.#imported.entries.slice(1)) {
      if (this.#continued.copiedIds.has(entry.id)) continue;
      const moved = this.#move({ ...entry });
      if (moved === undefined) this.#places.set(entry.id, this.#getPlace(entry.parentId));
      else added.push(moved);
    }
    return added;
  }

  /** Determines the parents of entries that follow a copy: the copy's counterpart or, at the end, the leaf of the export. */
  #placeCopies(): void {
    const { leafId, copiedIds } = this.#continued;
    const [first, ...rest] = this.#imported.entries;
    const copies = rest.filter(({ id }) => copiedIds.has(id));
    const last = copies.findLastIndex(({ type }) => !SILENT_TYPES.has(type));
    let place = last === -1 ? leafId : this.#rootId;
    if (first !== undefined) this.#places.set(first.id, place);
    for (const [at, { id }] of copies.entries()) {
      place = at >= last ? leafId : (this.#counterparts.get(id) ?? place);
      this.#places.set(id, place);
    }
  }

  /** Returns an entry at its new position; undefined if it is not added. */
  #move(entry: UnknownEntry): AnySessionEntry | undefined {
    const parentId = this.#getPlace(entry.parentId);
    if (isLeafMarker(entry)) {
      const id = makeEntryId(makeLeafMarkerKey(parentId ?? ""));
      return { ...entry, id, parentId };
    }
    if (this.#imported.madeNameIds.has(entry.id)) return undefined;
    const moved: UnknownEntry = { ...entry, id: makeContinuedId(this.#continued, entry.id), parentId };
    const { firstKeptEntryId: kept, targetId: target } = entry;
    if (typeof kept === "string") moved["firstKeptEntryId"] = this.#findKept(kept);
    if (typeof target === "string") {
      const id = this.#continued.copiedIds.has(target)
        ? this.#counterparts.get(target)
        : this.#getPlace(target);
      if (id === undefined || id === null) return undefined;
      moved["targetId"] = id;
    }
    this.#places.set(entry.id, moved.id);
    return this.#preferKnown(moved);
  }

  #getPlace(id: string | null): string | null {
    if (id === null) return this.#rootId;
    const place = this.#places.get(id);
    return place === undefined ? makeContinuedId(this.#continued, id) : place;
  }

  /** Returns the id of the first entry that a compaction keeps. For copies, it is the first entry that has a counterpart. */
  #findKept(id: string): string {
    const { copiedIds, leafId } = this.#continued;
    if (!copiedIds.has(id)) return this.#getPlace(id) ?? leafId;
    const { entries } = this.#imported;
    const from = entries.findIndex((entry) => entry.id === id);
    for (const entry of entries.slice(from)) {
      const counterpart = this.#counterparts.get(entry.id);
      if (counterpart !== undefined) return counterpart;
    }
    return leafId;
  }

  /** Returns the existing entry if the given entry repeats it. In a fork, entries have different times and no token counts. */
  #preferKnown(moved: UnknownEntry): AnySessionEntry {
    const known = this.#known.get(moved.id);
    const isCopy =
      known !== undefined &&
      encodeParsed(getSubstance({ ...known })) === encodeParsed(getSubstance(moved)) &&
      getTotalTokens(moved) === 0;
    return isCopy ? known : moved;
  }
}

/** Returns an entry without the fields that differ between copies. */
function getSubstance({ timestamp: _time, message, ...fields }: UnknownEntry): JsonRecord {
  const { timestamp: _at, usage: _usage, responseId: _response, ...said } = toRecord(message);
  return { ...fields, message: said };
}

function getTotalTokens(entry: UnknownEntry): unknown {
  return toRecord(getMessageFields(entry)["usage"])["totalTokens"] ?? 0;
}

/** Returns the path from the root to an entry. */
export function getPath(byId: ReadonlyMap<string, AnySessionEntry>, leafId: string): AnySessionEntry[] {
  const path: AnySessionEntry[] = [];
  for (
    let at = byId.get(leafId);
    at !== undefined && path.length <= byId.size;
    at = byId.get(at.parentId ?? "")
  )
    path.push(at);
  return path.reverse();
}

/** Matches copies with entries that have the same content, in order. */
function matchInOrder(
  copies: readonly AnySessionEntry[],
  entries: readonly AnySessionEntry[],
): Map<string, string> {
  const places = new Map<string, number[]>();
  for (const [place, entry] of entries.entries())
    for (const key of listContents({ ...entry })) addTo(places, key, place);
  const found = new Map<string, string>();
  let next = 0;
  for (const copy of copies) {
    const candidates = listContents({ ...copy }).flatMap(
      (key) => places.get(key)?.find((place) => place >= next) ?? [],
    );
    const [place] = candidates.sort((one, other) => one - other);
    const entry = place === undefined ? undefined : entries[place];
    if (place === undefined || entry === undefined) continue;
    found.set(copy.id, entry.id);
    // Several copies may repeat parts of one entry.
    next = place;
  }
  return found;
}

/** Returns an entry's content: its text, calls, and summary. */
export function listContents(entry: JsonRecord): string[] {
  const { content = entry["content"], command, output } = getMessageFields(entry);
  const calls = toArray(content).map(toRecord);
  return [
    ...getTexts(content),
    ...calls.flatMap(({ type, name, arguments: args }) =>
      type === "toolCall" ? `${toSafeString(name)} ${encodeParsed(args)}` : [],
    ),
    ...[command, output, entry["summary"]].filter((text) => typeof text === "string"),
  ].filter((text) => text.trim() !== "");
}
