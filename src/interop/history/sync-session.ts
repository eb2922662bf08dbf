import type { UnknownEntry } from "../../core/format/entry.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { CURRENT_SESSION_VERSION } from "../../core/format/version.ts";
import { decodeText } from "../../core/jsonl/decode.ts";
import { type LineSource, makeLineSource } from "../../core/jsonl/line-source.ts";
import { notASession } from "../../core/jsonl/not-a-session.ts";
import type { ImportedSession } from "../import/imported-session.ts";
import { hasExportedEntries } from "./copied-entries.ts";
import type { ImportTarget } from "./import-target.ts";
import {
  type ExistingSession,
  getEntryIds,
  type ImportStatus,
  listEntries,
  planSync,
  readEntries,
  type SyncStatus,
  writeSessionLines,
} from "./sync-plan.ts";

/**
 * Updates a session to match its source, or creates it if it is missing. Writes nothing if it already matches.
 *
 * A new session is written completely or not at all. Lines from other writers are kept, as is their leaf.
 *
 * @param mayMake - Returns whether a missing session may be created. It may just have been deleted.
 * @returns The result; `deleted` if the session is missing and may not be created.
 * @throws {SessionError} `WRITE_FAILED`, also if the path of a file is a link; `NOT_A_SESSION`
 */
export async function syncSession(
  target: ImportTarget,
  location: string,
  header: SessionHeader,
  imported: ImportedSession,
  mayMake: () => boolean,
): Promise<ImportStatus> {
  for (;;) {
    const bytes = await target.read(location);
    if (bytes === undefined) {
      if (!mayMake()) return "deleted";
      if (await target.create(location, writeSessionLines(header, imported.entries))) return "new";
      // Another import has created the session in the meantime.
      continue;
    }
    const existing = decodeExisting(target, location, bytes);
    const plan = existing && planSync(existing, imported, target.replace !== undefined);
    if (plan?.kind === "unchanged") return "unchanged";
    if (plan?.kind === "append") {
      // Plan again for the session's current state, because another import may have added the same entries, or entries may have
      // been redacted.
      const entriesFor = (session: LineSource) => {
        const now = planSync(session, imported, target.replace !== undefined);
        return now.kind === "append" ? now.entries : undefined;
      };
      if (await target.grow(location, entriesFor)) return "grown";
      continue;
    }
    const linesFor = (found: Uint8Array) => makeReplacement(target, location, header, imported, found);
    if (await target.replace?.(location, linesFor)) return existing === undefined ? "new" : "grown";
  }
}

/** Returns the status that `syncSession` would return. */
export async function compareSession(
  target: ImportTarget,
  location: string,
  imported: ImportedSession,
): Promise<SyncStatus> {
  const existing = await readExisting(target, location);
  if (existing === undefined) return "new";
  const { kind } = planSync(existing, imported, target.replace !== undefined);
  return kind === "unchanged" ? "unchanged" : "grown";
}

/** Returns the entries of a session; empty if it is missing. */
export async function readEntriesAt(
  target: ImportTarget,
  location: string,
): Promise<readonly UnknownEntry[]> {
  const existing = await readExisting(target, location);
  return existing === undefined ? [] : listEntries(existing);
}

/** Returns the header of the session that an imported session continues; undefined if no import can append to that session. */
export async function findContinuedHeader(
  target: ImportTarget,
  imported: ImportedSession,
): Promise<SessionHeader | undefined> {
  const { continued } = imported;
  if (continued === undefined) return undefined;
  const { sessionId, leafId } = continued;
  const location = target.find(sessionId);
  const bytes = location === undefined ? undefined : await target.read(location);
  const source = bytes && makeLineSource(bytes);
  const { header, version } = source?.index ?? {};
  if (source === undefined || source.index.isRejected || version !== CURRENT_SESSION_VERSION)
    return undefined;
  if (header?.id !== sessionId || !getEntryIds(source).has(leafId)) return undefined;
  return continued.mustMatch !== true || hasExportedEntries(readEntries(source), imported.entries, continued)
    ? header
    : undefined;
}

async function readExisting(target: ImportTarget, location: string): Promise<ExistingSession | undefined> {
  const bytes = await target.read(location);
  return bytes && decodeExisting(target, location, bytes);
}

/**
 * Returns the lines that replace a session if only imports have written to it; undefined if another writer has written to it
 * since then.
 */
function makeReplacement(
  target: ImportTarget,
  location: string,
  header: SessionHeader,
  imported: ImportedSession,
  bytes: Uint8Array,
): Iterable<string> | undefined {
  const existing = decodeExisting(target, location, bytes);
  if (existing === undefined) return writeSessionLines(header, imported.entries);
  const plan = planSync(existing, imported, true);
  return plan.kind === "replace"
    ? writeSessionLines(existing.index.header ?? header, plan.entries)
    : undefined;
}

/** Parses a session; undefined if the bytes are the remains of a new file after a power failure or a killed process. */
function decodeExisting(
  target: ImportTarget,
  location: string,
  bytes: Uint8Array,
): ExistingSession | undefined {
  const source = makeLineSource(bytes);
  if (source.index.header !== undefined && !source.index.isRejected)
    return { ...source, rest: decodeRest(source, bytes) };
  if (target.replace !== undefined && isUnbegun(bytes)) return undefined;
  throw notASession(location, { path: location }, source.foreign);
}

/** Returns the text after the line of the last entry; empty if there is none. */
function decodeRest({ index }: Pick<ExistingSession, "index">, bytes: Uint8Array): string {
  if (index.issues.length === 0 && !index.isMidLine) return "";
  const last = index.spans.allInFileOrder(index.tree.size).at(-1);
  const end = last === undefined ? 0 : index.spans.offsetAt(last) + index.spans.lengthAt(last);
  const text = decodeText(bytes.subarray(end));
  return text.slice(text.indexOf("\n") + 1);
}

/** Returns whether the bytes are no more than the beginning of a header, or are all zeros. */
function isUnbegun(bytes: Uint8Array): boolean {
  const text = decodeText(bytes.subarray(0, FRONT_BYTES)).replaceAll("\0", "");
  return !text.includes("\n") && HEADER_FRONT.startsWith(text.slice(0, HEADER_FRONT.length));
}

const FRONT_BYTES = 64 * 1024;

/** Beginning of an imported session's header. */
const HEADER_FRONT = '{"type":"session"';
