import { getTexts } from "../../core/context/content-text.ts";
import { getMessageFields, toArray, toRecord } from "../../core/context/entry-fields.ts";
import { type AnySessionEntry, LEAF_CUSTOM_TYPE, type UnknownEntry } from "../../core/format/entry.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { inventEntryId } from "../../core/format/ids.ts";
import { findImportOrigin, IMPORT_CUSTOM_TYPE } from "../../core/format/import-origin.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { REDACTED_TEXT, redactMessage } from "../../core/format/redact-entry.ts";
import { getRedactedIds, REDACTION_CUSTOM_TYPE } from "../../core/format/redaction.ts";
import { findSessionName, isNameType } from "../../core/format/session-name.ts";
import { toIsoText } from "../../core/format/timestamps.ts";
import { decodeText, parseRecord } from "../../core/jsonl/decode.ts";
import { encodeParsed, encodeRecord } from "../../core/jsonl/encode.ts";
import { decodeEntryFrom, type LineSource } from "../../core/jsonl/line-source.ts";
import { COMMUTING_TYPES } from "../../session/log/expected-leaf.ts";
import { type ContinuedOrigin, IMPORT_MAPPING, type ImportedSession } from "../import/imported-session.ts";
import { isOfMessageArray } from "../import/messages/import-messages.ts";
import { isLeafMarker } from "../import/session-builder.ts";
import { rebaseContinuation } from "./rebase-continuation.ts";

/**
 * Result of importing a session. `deleted` means that the session was skipped because it was deleted from the target, `gone` that
 * its source was deleted but the session is kept, and `empty` that its source contains no messages.
 */
export type ImportStatus = "new" | "grown" | "unchanged" | "deleted" | "gone" | "empty";

/** Result of updating a session in its target. */
export type SyncStatus = Exclude<ImportStatus, "deleted" | "gone" | "empty">;

/** Changes that make a session match its source. */
export type SyncPlan =
  | { readonly kind: "unchanged" }
  | { readonly kind: "append"; readonly entries: readonly AnySessionEntry[] }
  /** Replaces all entries with these. Only imports wrote to the session, and its end has changed. */
  | { readonly kind: "replace"; readonly entries: readonly AnySessionEntry[] };

/** A session in its current state. */
export interface ExistingSession extends LineSource {
  /** Text after the last entry, such as a torn line, if it was read. */
  readonly rest?: string;
}

/** Yields the lines of an imported session, one at a time to save memory. */
export function* writeSessionLines(
  header: SessionHeader,
  entries: readonly AnySessionEntry[],
): Generator<string, void> {
  yield `${encodeRecord(header)}\n`;
  for (const entry of entries) yield `${encodeRecord(entry)}\n`;
}

/**
 * Compares a session with the entries that its source currently yields.
 *
 * Entries added after the import are kept, and the last such entry remains the leaf. A changed entry is then added as a new
 * version next to the old one. Redactions are final: neither the old content of a redacted entry nor a newer version is added.
 * Only new entries are added to a sessiontree session that was exported and continued.
 *
 * @param canReplace - Whether the session may be replaced if only imports wrote to it.
 * @throws {SessionError} `SESSION_EXISTS` if the session was imported from a different session.
 */
export function planSync(
  existing: ExistingSession,
  imported: ImportedSession,
  canReplace: boolean,
): SyncPlan {
  const { continued } = imported;
  if (continued !== undefined && existing.index.header?.id === continued.sessionId)
    return planAdditions(existing, imported, continued);
  const known = readKnownEntries(existing);
  const provenance = known.find(({ entry }) => entry["customType"] === IMPORT_CUSTOM_TYPE)?.entry;
  if (provenance !== undefined && provenance.id !== imported.entries[0]?.id)
    throw makeOtherSessionError(provenance);
  const entries = withOldProvenance(imported.entries, provenance);
  const wanted = entries.map(encodeRecord);
  const isBeginning = known.every(({ text }, place) => text === wanted[place]);
  const { rest = "" } = existing;
  const isTorn = rest.trim() !== "";
  if (isBeginning && !(isTorn && canReplace && isCutOff(rest, wanted[known.length]))) {
    const missing = entries.slice(known.length);
    return missing.length === 0 ? { kind: "unchanged" } : { kind: "append", entries: missing };
  }
  const ids = new Set([...entries.map(({ id }) => id), ...imported.withdrawnIds]);
  const isGone = known.some(({ entry }) => !ids.has(entry.id) && !isLeafMarker(entry));
  const isOld = getMappingVersion(provenance) < IMPORT_MAPPING;
  if (isGone || isOld || !canReplace) return new PlanBeside(known, imported, entries, { isOld }).plan();
  return { kind: "replace", entries };
}

/**
 * Plans how to add the entries that a program added to a sessiontree session. The leaf moves to them unless the session was
 * continued elsewhere.
 */
function planAdditions(
  existing: ExistingSession,
  imported: ImportedSession,
  continued: ContinuedOrigin,
): SyncPlan {
  const known = readKnownEntries(existing);
  const { leafId, copiedIds } = continued;
  if (!known.some(({ entry }) => entry.id === leafId)) return { kind: "unchanged" };
  const original = readEntries(existing);
  const added = rebaseContinuation(original, imported, continued);
  const copies = imported.entries.filter(({ id }) => copiedIds.has(id));
  const isRedacted = known.some(({ entry }) => getRedactedIds(entry).length > 0);
  const removed = isRedacted ? new RedactedCopies(copies, original) : undefined;
  return new PlanBeside(known, added, added.entries, { leafId, ...(removed && { removed }) }).plan();
}

/** Returns the readable entries of a session, in file order. */
export function readEntries(session: LineSource): AnySessionEntry[] {
  const { index } = session;
  const entries: AnySessionEntry[] = [];
  session.readLines(index.spans.allInFileOrder(index.tree.size), (ordinal, bytes) => {
    const entry = decodeEntryFrom(session, ordinal, bytes);
    if (entry !== undefined) entries.push(entry);
  });
  return entries;
}

/** Returns whether a torn line is the beginning of a given line, left by a killed import or a power failure. */
function isCutOff(rest: string, line = ""): boolean {
  return line.startsWith(rest.replace(/\0+\s*$/, ""));
}

interface KnownEntry {
  /** The entry without its body, unless it is a custom entry. */
  readonly entry: UnknownEntry;
  readonly text: string;
}

/** Reads the entries of a session in file order. */
function readKnownEntries(session: LineSource): KnownEntry[] {
  const { index } = session;
  const known: KnownEntry[] = [];
  session.readLines(index.spans.allInFileOrder(index.tree.size), (ordinal, bytes) => {
    const { type, id, parentId, timestampMs } = index.tree.headAt(ordinal);
    const text = decodeText(bytes);
    const body = type === "custom" ? parseRecord(text) : undefined;
    known.push({ entry: { ...body, type, id, parentId, timestamp: toIsoText(timestampMs) }, text });
  });
  return known;
}

/** Returns the error for a session that another import created at the same time with the same id. */
function makeOtherSessionError(provenance: UnknownEntry): SessionError {
  const { source = "another program", sourceId = "" } = findImportOrigin(provenance) ?? {};
  const message = `Another import has created a session with this id, from ${source} ${sourceId}: import again.`;
  return new SessionError("SESSION_EXISTS", message);
}

/** Returns the version of the mapping that was used for a session. */
function getMappingVersion(provenance: UnknownEntry | undefined): number {
  const { mapping } = toRecord(provenance?.["data"]);
  return typeof mapping === "number" ? mapping : 1;
}

/** Retains the time, counts, and mapping of the first import. */
function withOldProvenance(
  entries: readonly AnySessionEntry[],
  old: UnknownEntry | undefined,
): readonly AnySessionEntry[] {
  const [first, ...rest] = entries;
  if (first === undefined || old === undefined || old.id !== first.id) return entries;
  const { importedAt, counts, mapping } = toRecord(old["data"]);
  const { source, sourceId, sourcePath, sourceVersion, continued } = toRecord(toRecord(first)["data"]);
  const place = { source, sourceId, sourcePath, sourceVersion };
  const known = { ...(mapping !== undefined && { mapping }), importedAt, counts };
  const data = { ...place, ...known, ...(continued !== undefined && { continued }) };
  return [{ ...first, data }, ...rest];
}

/** Options for planning new entries next to existing ones. */
interface BesideOptions {
  /** Whether the session was imported with an older mapping. Only entries after the last known entry are then new. */
  readonly isOld?: boolean;
  /** Leaf of the export whose continuation is added; undefined for an ordinary import. */
  readonly leafId?: string;
  /** Content that was redacted in the session that was copied. */
  readonly removed?: RedactedCopies;
}

/** Plans new entries next to entries of other writers, or next to entries from an older version of the source. */
class PlanBeside {
  readonly #known: readonly KnownEntry[];
  readonly #byId: ReadonlyMap<string, KnownEntry>;
  readonly #redactedIds: ReadonlySet<string>;
  /** Ids of source entries that have a version that was redacted in the target. */
  readonly #doneIds: ReadonlySet<string>;
  readonly #copies: readonly RedactedCopies[];
  readonly #exportLeafId: string | undefined;
  readonly #imported: ImportedSession;
  readonly #entries: readonly AnySessionEntry[];
  /** Whether the session was imported with an older mapping. Only entries after the last known entry are then new. */
  readonly #isOld: boolean;
  /** Ids of the import's entries. */
  readonly #ids: Set<string>;
  /** Whether the user has named the session in the target. */
  readonly #isNamed: boolean;
  /** Ids that source entries have in the target, if they differ from their own ids. */
  readonly #renamed = new Map<string, string | null>();
  readonly #added: AnySessionEntry[] = [];

  constructor(
    known: readonly KnownEntry[],
    imported: ImportedSession,
    entries: readonly AnySessionEntry[],
    { isOld = false, leafId, removed }: BesideOptions,
  ) {
    this.#exportLeafId = leafId;
    this.#known = known;
    this.#byId = new Map(known.map((one) => [one.entry.id, one]));
    this.#redactedIds = new Set(known.flatMap(({ entry }) => getRedactedIds(entry)));
    this.#doneIds = findRedacted(
      known.map(({ entry }) => entry),
      entries,
    );
    const redacted = new RedactedCopies(entries.filter(({ id }) => this.#doneIds.has(id)));
    this.#copies = removed === undefined ? [redacted] : [redacted, removed];
    this.#imported = imported;
    this.#entries = entries;
    this.#isOld = isOld;
    this.#ids = new Set(imported.withdrawnIds);
    this.#isNamed = isNamedBeside(known, new Set([...this.#ids, ...entries.map(({ id }) => id)]));
  }

  plan(): SyncPlan {
    const lastKnown = this.#entries.findLastIndex(({ id }) => this.#byId.has(id));
    for (const [place, entry] of this.#entries.entries()) {
      this.#ids.add(entry.id);
      if (!isLeafMarker({ ...entry })) this.#take(entry, place < lastKnown);
    }
    const marker = this.#leafMarker();
    if (marker !== undefined) this.#added.push(marker);
    return this.#added.length === 0 ? { kind: "unchanged" } : { kind: "append", entries: this.#added };
  }

  /** @param isEarlier - Whether a later entry in the source is already known. */
  #take(entry: AnySessionEntry, isEarlier: boolean): void {
    const moved = this.#copies.reduce((one, copies) => copies.without(one), this.#withReferences(entry));
    const versions = this.#getVersions(entry);
    for (const { entry: version } of versions) this.#ids.add(version.id);
    const last = versions.at(-1);
    const isDone = this.#doneIds.has(entry.id);
    if (last === undefined) {
      const isOutranked = this.#isNamed && this.#imported.madeNameIds.has(entry.id);
      if (isDone || isOutranked || (this.#isOld && isEarlier)) this.#renamed.set(entry.id, moved.parentId);
      else this.#add(entry.id, moved);
      return;
    }
    const same = versions.findLast(
      (one) =>
        one.text === encodeRecord(entry) ||
        one.text === encodeRecord({ ...moved, id: one.entry.id, parentId: one.entry.parentId }),
    );
    const isLeft = isDone || (this.#isOld && !hasMore(entry, last));
    if (same === undefined && !isLeft)
      this.#add(entry.id, { ...moved, id: makeVersionId(entry, versions.length) });
    else if ((same ?? last).entry.id !== entry.id) this.#renamed.set(entry.id, (same ?? last).entry.id);
  }

  #add(id: string, entry: AnySessionEntry): void {
    this.#ids.add(entry.id);
    if (entry.id !== id) this.#renamed.set(id, entry.id);
    this.#added.push(entry);
  }

  /** Returns the existing versions of an entry, oldest first. */
  #getVersions(entry: AnySessionEntry): KnownEntry[] {
    const versions: KnownEntry[] = [];
    for (let id = entry.id; ; id = makeVersionId(entry, versions.length)) {
      const version = this.#byId.get(id);
      if (version === undefined) return versions;
      versions.push(version);
    }
  }

  #withReferences(entry: AnySessionEntry): AnySessionEntry {
    if (this.#renamed.size === 0) return entry;
    const moved: UnknownEntry = { ...entry };
    for (const name of ["parentId", "firstKeptEntryId", "targetId"]) {
      const target = moved[name];
      const other = typeof target === "string" ? this.#renamed.get(target) : undefined;
      if (other !== undefined) moved[name] = other;
    }
    return moved;
  }

  /**
   * Returns an entry that sets the leaf: to the current leaf if the session was continued in the target, or else to the source's
   * leaf.
   */
  #leafMarker(): AnySessionEntry | undefined {
    const before = this.#known.at(-1)?.entry;
    const end = this.#added.at(-1) ?? before;
    const last = this.#entries.at(-1);
    if (before === undefined || end === undefined || last === undefined) return undefined;
    if (!this.#isFollowed(before)) return this.#added.length > 0 ? stayMarker(before, end) : undefined;
    const leafId = this.#findLeaf({ ...last });
    if (leafId === null || this.#settled(end.id) === this.#settled(leafId)) return undefined;
    return makeLeafMarker(makeMovedKey(leafId, { ...end }), leafId, { ...end });
  }

  /** Returns whether the leaf moves to the end of the source, because the session was not continued in the target. */
  #isFollowed({ id }: UnknownEntry): boolean {
    if (this.#exportLeafId === undefined) return this.#known.every((one) => this.#isOfImport(one));
    const leafId = this.#settled(id);
    const isMoved = leafId !== this.#settled(this.#exportLeafId) && !this.#ids.has(leafId ?? "");
    return this.#added.length > 0 && !isMoved;
  }

  /** Returns whether an entry was created by an import or does not continue the conversation. */
  #isOfImport({ entry, text }: KnownEntry): boolean {
    const { id } = entry;
    if (this.#ids.has(id) || isNote(entry)) return true;
    if (this.#imported.source !== "messages") return false;
    return this.#redactedIds.has(id) || isOfMessageArray({ ...parseRecord(text), ...entry });
  }

  #findLeaf(last: UnknownEntry): string | null {
    const id = (isLeafMarker(last) ? last.parentId : null) ?? last.id;
    return this.#renamed.get(id) ?? id;
  }

  /** Returns the entry at which a session with the given leaf continues, skipping notes. */
  #settled(leafId: string): string | null {
    let id: string | null = leafId;
    for (let steps = this.#known.length + this.#added.length; id !== null && steps > 0; steps--) {
      const at: UnknownEntry | undefined = this.#entryAt(id);
      if (at === undefined || !isNote(at)) return id;
      id = at.parentId;
    }
    return id;
  }

  #entryAt(id: string): UnknownEntry | undefined {
    const added = this.#added.findLast((one) => one.id === id);
    return this.#byId.get(id)?.entry ?? (added && { ...added });
  }
}

/** Returns whether the latest name that does not come from an import is nonempty. */
function isNamedBeside(known: readonly KnownEntry[], importedIds: ReadonlySet<string>): boolean {
  const own = known.findLast(({ entry }) => isNameType(entry.type) && !importedIds.has(entry.id));
  return own !== undefined && findSessionName(parseRecord(own.text) ?? {}) !== undefined;
}

/** Returns the id for a changed entry to be added next to its older versions. */
function makeVersionId({ id }: AnySessionEntry, number: number): string {
  return inventEntryId(`${id} version ${number + 1}`, 0, 0);
}

/** Returns whether a message has more parts than before, because it was incomplete. */
function hasMore(entry: AnySessionEntry, { text }: KnownEntry): boolean {
  return countParts(entry) > countParts(parseRecord(text));
}

function countParts(entry: unknown): number {
  const { content } = getMessageFields(entry);
  return Array.isArray(content) ? content.length : 0;
}

/** Returns whether an entry does not continue a conversation, such as a name, a label, usage, a leaf move, or a redaction. */
function isNote({ type, customType }: UnknownEntry): boolean {
  return (
    COMMUTING_TYPES.includes(type) || customType === LEAF_CUSTOM_TYPE || customType === REDACTION_CUSTOM_TYPE
  );
}

/** Returns a key that is different each time the leaf moves, even if it moves back to an earlier entry. */
function makeMovedKey(leafId: string, end: UnknownEntry): string {
  return `move ${leafId} ${end.id}`;
}

/** Creates an entry that keeps the leaf where it was before other entries were added. */
function stayMarker(leaf: UnknownEntry, end: { readonly id: string }): AnySessionEntry {
  return makeLeafMarker(`stay ${leaf.id} ${end.id}`, leaf.id, leaf);
}

function makeLeafMarker(key: string, parentId: string, { timestamp }: UnknownEntry): AnySessionEntry {
  return { type: "custom", id: inventEntryId(key, 0, 0), parentId, timestamp, customType: LEAF_CUSTOM_TYPE };
}

/**
 * Returns an entry that preserves the leaf of a writer that continued on another branch between a plan and its append; undefined
 * if there was no such writer.
 */
export function findStrayLeaf(
  session: LineSource,
  before: ReadonlySet<string>,
  added: readonly AnySessionEntry[],
): AnySessionEntry | undefined {
  const ours = new Set(added.map(({ id }) => id));
  const last = added.at(-1);
  let stray: UnknownEntry | undefined;
  for (const { entry } of readKnownEntries(session)) {
    if (entry.id === last?.id) {
      const isKept = entry.customType === LEAF_CUSTOM_TYPE && entry.parentId === stray?.id;
      return stray === undefined || isKept ? undefined : stayMarker(stray, last);
    }
    if (before.has(entry.id) || ours.has(entry.id)) continue;
    // Another import may have preserved the leaf.
    if (entry.customType === LEAF_CUSTOM_TYPE && entry.parentId !== null)
      stray = { ...entry, id: entry.parentId };
    else if (!isNote(entry)) stray = entry;
  }
  return undefined;
}

/** Returns the ids of entries that have a version that was redacted in a session. */
export function findRedacted(
  known: readonly UnknownEntry[],
  entries: readonly AnySessionEntry[],
): ReadonlySet<string> {
  const redacted = new Set(known.flatMap(getRedactedIds));
  if (redacted.size === 0) return redacted;
  const knownIds = new Set(known.map(({ id }) => id));
  const isRedacted = (entry: AnySessionEntry) => {
    let id = entry.id;
    for (let version = 1; knownIds.has(id); id = makeVersionId(entry, version++))
      if (redacted.has(id)) return true;
    return redacted.has(id);
  };
  return new Set(entries.filter(isRedacted).map(({ id }) => id));
}

/** Returns the entries of a session. Only custom entries include their bodies. */
export function listEntries(session: LineSource): UnknownEntry[] {
  return readKnownEntries(session).map(({ entry, text }) => ({ ...parseRecord(text), ...entry }));
}

/** Returns the ids of a session's entries. */
export function getEntryIds({ index: { tree } }: LineSource): Set<string> {
  return new Set(Array.from(tree.ordinals(), (ordinal) => tree.idAt(ordinal)));
}

/** Minimum length of a redacted string to search for within longer strings, in characters. */
const MIN_CONTAINED = 8;

/** Number of characters at the start of a redacted string that must match to recognize a shortened copy. */
const MIN_BEGINNING = 64;

/**
 * Redacts copies of redacted messages in later compactions.
 *
 * In a compaction, programs may join the strings in a message, add others, or shorten them. Any possible copy is redacted.
 */
export class RedactedCopies {
  readonly #contents: ReadonlySet<string>;
  readonly #kept: ReadonlySet<string>;

  /**
   * @param redacted - The redacted entries, with their original content.
   * @param kept - Entries whose content was not redacted.
   */
  constructor(redacted: readonly AnySessionEntry[], kept: readonly AnySessionEntry[] = []) {
    const getEntryContents = ({ message, content }: UnknownEntry) =>
      getContents(toRecord(message ?? { content }));
    const others = new Set(kept.flatMap((entry) => getEntryContents({ ...entry })));
    const contents = redacted.flatMap((entry) => getEntryContents({ ...entry }));
    this.#kept = others;
    this.#contents = new Set(contents.filter((content) => !others.has(content)));
  }

  /** Returns the entry, or a version with redacted copies and without the program's details about them. */
  without(entry: AnySessionEntry): AnySessionEntry {
    if (this.#contents.size === 0 || !("retainedTail" in entry)) return entry;
    const tail = toArray(entry.retainedTail);
    const isCopy = (message: unknown) => getContents(toRecord(message)).some((one) => this.#isRedacted(one));
    if (!tail.some(isCopy)) return entry;
    const { details: _, ...fields }: UnknownEntry = { ...entry };
    const retainedTail = tail.map((message) =>
      isJsonRecord(message) && isCopy(message) ? redactMessage(message, REDACTED_TEXT) : message,
    );
    return { ...fields, retainedTail };
  }

  #isRedacted(content: string): boolean {
    if (this.#contents.has(content)) return true;
    if (this.#kept.has(content)) return false;
    for (const removed of this.#contents) {
      if (removed.length >= MIN_CONTAINED && content.includes(removed)) return true;
      if (removed.length >= MIN_BEGINNING && content.startsWith(removed.slice(0, MIN_BEGINNING))) return true;
    }
    return false;
  }
}

/** Returns the strings in a message, both separately and joined as in Codex, and the arguments of its calls. */
function getContents({ content, command, output }: { readonly [field: string]: unknown }): string[] {
  const blocks = Array.isArray(content) ? content.map(toRecord) : [];
  const inside = blocks.map(({ text, thinking, data, arguments: args }) => text ?? thinking ?? data ?? args);
  const texts = getTexts(content).filter((text) => text !== "");
  const joined = texts.length > 1 ? [texts.join("\n")] : [];
  return [content, command, output, ...inside, ...joined].flatMap((one) => {
    if (typeof one === "string") return one.trim() === "" ? [] : [one];
    return isJsonRecord(one) && Object.keys(one).length > 0 ? [encodeParsed(one)] : [];
  });
}
