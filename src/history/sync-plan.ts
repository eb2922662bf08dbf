import { fieldsOf } from "../context/entry-fields.ts";
import { IMPORT_CUSTOM_TYPE, type ImportedSession } from "../import/imported-session.ts";
import { isOfMessageArray } from "../import/messages/import-messages.ts";
import { isLeafMarker } from "../import/session-builder.ts";
import { parseRecord } from "../jsonl/decode.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import { type AnySessionEntry, LEAF_CUSTOM_TYPE, type UnknownEntry } from "../schema/entry.ts";
import type { SessionHeader } from "../schema/header.ts";
import { inventEntryId } from "../schema/ids.ts";

/** How to update a session to match its source. */
export type SyncPlan =
  | { readonly kind: "unchanged" }
  /** Append this text, which may complete a torn last line. */
  | { readonly kind: "append"; readonly text: string; readonly entries: readonly AnySessionEntry[] }
  /** Only imports wrote to the session, and its end has changed: a message grew, or a command got its output. */
  | { readonly kind: "replace"; readonly text: string };

/** Yields the lines of an imported session, one at a time to save memory. */
export function* linesOfSession(
  header: SessionHeader,
  entries: readonly AnySessionEntry[],
): Generator<string, void> {
  yield `${encodeRecord(header)}\n`;
  for (const entry of entries) yield `${encodeRecord(entry)}\n`;
}

/**
 * Compares a session with what its source now yields.
 *
 * What somebody added after the import is kept, and remains the leaf. In that case, a changed entry is added beside the
 * old one.
 *
 * @param existing - The session's bytes as text.
 * @param canReplace - Whether the session may be replaced if only imports wrote to it.
 * @remarks Cost: O(lines).
 */
export function planSync(
  existing: string,
  header: SessionHeader,
  imported: ImportedSession,
  canReplace: boolean,
): SyncPlan {
  const lines = existing.split("\n");
  const entries = withOldProvenance(imported.entries, lines[1] ?? "");
  const headerLine =
    lines[0] === undefined || parseRecord(lines[0]) === undefined ? encodeRecord(header) : lines[0];
  const wanted = `${[headerLine, ...entries.map(encodeRecord)].join("\n")}\n`;
  if (wanted === existing) return { kind: "unchanged" };
  if (wanted.startsWith(existing)) {
    const complete = existing.split("\n").length - 2;
    return {
      kind: "append",
      text: wanted.slice(existing.length),
      entries: entries.slice(Math.max(complete, 0)),
    };
  }
  const known = existingEntries(lines.slice(1));
  const ids = new Set([...entries.map(({ id }) => id), ...imported.withdrawnIds]);
  const isGone = known.some(({ entry }) => !ids.has(entry.id) && !isLeafMarker(entry));
  return isGone || !canReplace
    ? planBeside(existing, known, imported, entries)
    : { kind: "replace", text: wanted };
}

interface ExistingEntry {
  readonly entry: UnknownEntry;
  readonly text: string;
}

function existingEntries(lines: readonly string[]): ExistingEntry[] {
  return lines.flatMap((text) => {
    const record = parseRecord(text);
    const { id, type, parentId, timestamp } = fieldsOf(record);
    if (typeof id !== "string" || typeof type !== "string") return [];
    const head = {
      id,
      type,
      parentId: typeof parentId === "string" ? parentId : null,
      timestamp: String(timestamp),
    };
    return [{ entry: { ...record, ...head }, text }];
  });
}

/** Keeps the time and counts of the first import. */
function withOldProvenance(entries: readonly AnySessionEntry[], line: string): readonly AnySessionEntry[] {
  const [first, ...rest] = entries;
  const old = fieldsOf(parseRecord(line));
  if (first === undefined || old["customType"] !== IMPORT_CUSTOM_TYPE || old["id"] !== first.id)
    return entries;
  const { importedAt, counts } = fieldsOf(old["data"]);
  const data = { ...fieldsOf(fieldsOf(first)["data"]), importedAt, counts };
  return [{ ...first, data }, ...rest];
}

/** Adds new entries beside those of others, or those of an older version of the source. */
function planBeside(
  existing: string,
  known: readonly ExistingEntry[],
  { source, withdrawnIds }: ImportedSession,
  entries: readonly AnySessionEntry[],
): SyncPlan {
  const byId = new Map(known.map(({ entry, text }) => [entry.id, text]));
  const ids = new Set(withdrawnIds);
  const renamed = new Map<string, string>();
  const added: AnySessionEntry[] = [];
  for (const entry of entries) {
    const text = encodeRecord(entry);
    ids.add(entry.id);
    if (isLeafMarker({ ...entry }) || byId.get(entry.id) === text) continue;
    const moved = renameReferences(entry, renamed);
    const isChanged = byId.has(entry.id);
    const id = isChanged ? inventEntryId(`${entry.id} ${text}`, 0, 0) : entry.id;
    if (isChanged) renamed.set(entry.id, id);
    ids.add(id);
    if (!byId.has(id)) added.push({ ...moved, id });
  }
  const isOfImport = ({ entry }: ExistingEntry, place: number) =>
    ids.has(entry.id) ||
    isLeafMarker(entry) ||
    isMovedMarker(entry, known[place - 1]?.entry) ||
    (source === "messages" && isOfMessageArray(entry));
  const before = known.at(-1)?.entry;
  const end = added.at(-1) ?? before;
  const last = entries.at(-1);
  const marker = known.every(isOfImport)
    ? end && last && markLeaf(leafOf({ ...last }, renamed), { ...end })
    : before && end && added.length > 0 && leafMarker(`stay ${before.id} ${end.id}`, before.id, before);
  if (marker) added.push(marker);
  if (added.length === 0) return { kind: "unchanged" };
  const front = existing === "" || existing.endsWith("\n") ? "" : "\n";
  return { kind: "append", text: `${front}${added.map(encodeRecord).join("\n")}\n`, entries: added };
}

/** Returns the leaf of an import. */
function leafOf(last: UnknownEntry, renamed: ReadonlyMap<string, string>): string {
  const id = (isLeafMarker(last) ? last.parentId : null) ?? last.id;
  return renamed.get(id) ?? id;
}

/** Makes an entry that moves the leaf; undefined if the leaf is there. */
function markLeaf(leafId: string, end: UnknownEntry): AnySessionEntry | undefined {
  const current = end["customType"] === LEAF_CUSTOM_TYPE ? end.parentId : end.id;
  return current === leafId ? undefined : leafMarker(movedKey(leafId, end), leafId, end);
}

/** Tells whether an import added an entry after another one to move the leaf. */
function isMovedMarker(
  { id, parentId, customType }: UnknownEntry,
  before: UnknownEntry | undefined,
): boolean {
  if (customType !== LEAF_CUSTOM_TYPE || parentId === null || before === undefined) return false;
  return id === inventEntryId(movedKey(parentId, before), 0, 0);
}

/** Returns a key that differs for every move of the leaf, even back to an earlier place. */
function movedKey(leafId: string, end: UnknownEntry): string {
  return `move ${leafId} ${end.id}`;
}

function leafMarker(key: string, parentId: string, { timestamp }: UnknownEntry): AnySessionEntry {
  return { type: "custom", id: inventEntryId(key, 0, 0), parentId, timestamp, customType: LEAF_CUSTOM_TYPE };
}

function renameReferences(entry: AnySessionEntry, renamed: ReadonlyMap<string, string>): AnySessionEntry {
  if (renamed.size === 0) return entry;
  const moved: UnknownEntry = { ...entry };
  for (const name of ["parentId", "firstKeptEntryId", "targetId"]) {
    const target = moved[name];
    const other = typeof target === "string" ? renamed.get(target) : undefined;
    if (other !== undefined) moved[name] = other;
  }
  return moved;
}
