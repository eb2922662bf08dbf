import type { SourceRecord } from "../import/source-text.ts";
import { textOf } from "../import/source-values.ts";
import { readSourcePieces } from "./source-file.ts";
import type { KnownFile } from "./source-session.ts";

const UUIDS = /"uuid":"([0-9a-f-]{36})"/g;

/**
 * Finds the file of the session of Claude Code that another one was copied from: the one with most of its records.
 *
 * @param records - Records of the copy.
 * @param candidates - Files that are older than the copy.
 * @returns Undefined if none holds the first record of the copy.
 * @remarks Cost: reading the candidates.
 */
export function findOrigin(
  records: readonly SourceRecord[],
  candidates: readonly KnownFile[],
): KnownFile | undefined {
  const uuids = records.flatMap(({ value }) => textOf(value["uuid"]) ?? []);
  const [first] = uuids;
  let best: { readonly file: KnownFile; readonly shared: number } | undefined;
  for (const file of candidates) {
    const held = uuidsIn(file.path);
    if (!held.has(first)) continue;
    const shared = uuids.filter((uuid) => held.has(uuid)).length;
    if (best === undefined || shared > best.shared) best = { file, shared };
  }
  return best?.file;
}

/** Counts the records of a file that are in none of the others. */
export function missingUuids(path: string, others: readonly string[]): number {
  const held = new Set(others.flatMap((other) => [...uuidsIn(other)]));
  return [...uuidsIn(path)].filter((uuid) => !held.has(uuid)).length;
}

/** Bytes of the longest match of `UUIDS`. */
const MATCH_BYTES = 45;

/** Returns the ids of a file's records; empty if it cannot be read, which its own import reports. */
function uuidsIn(path: string): Set<string | undefined> {
  const held = new Set<string | undefined>();
  try {
    for (const piece of readSourcePieces(path, MATCH_BYTES)) {
      const text = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1");
      for (const [, uuid] of text.matchAll(UUIDS)) held.add(uuid);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    held.clear();
  }
  return held;
}
