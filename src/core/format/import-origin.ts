import { isJsonRecord } from "./json.ts";

/** `customType` of the entry that records the origin of an imported session. */
export const IMPORT_CUSTOM_TYPE = "sessiontree.import";

/** `customType` of the entries that link a subagent's session and the call that started it. */
export const SUBAGENT_CUSTOM_TYPE = "sessiontree.subagent";

/** Identifies the other program's session from which a session was imported. */
export interface ImportOrigin {
  /** Name of the other program. */
  readonly source: string;
  /** Id of the session in that program. */
  readonly sourceId: string;
  /** File from which the session was read, if known. */
  readonly sourcePath?: string | undefined;
}

/** Source name for sessiontree sessions in lists that also include other programs' sessions. */
export const OWN_SOURCE = "sessiontree";

/** Returns the origin of a sessiontree session, for lists that also include other programs' sessions. */
export function makeOwnOrigin(sessionId: string): ImportOrigin {
  return { source: OWN_SOURCE, sourceId: sessionId };
}

/** Returns a key that identifies a session of another program. */
export function makeSourceKey({ source, sourceId }: ImportOrigin): string {
  return `${source} ${sourceId}`;
}

/** Returns the import origin recorded in an entry, or undefined if there is none. */
export function findImportOrigin(entry: unknown): ImportOrigin | undefined {
  if (!isJsonRecord(entry) || entry["customType"] !== IMPORT_CUSTOM_TYPE) return undefined;
  const { source, sourceId, sourcePath } = isJsonRecord(entry["data"]) ? entry["data"] : {};
  if (typeof source !== "string" || typeof sourceId !== "string") return undefined;
  return { source, sourceId, ...(typeof sourcePath === "string" && { sourcePath }) };
}

/** Number of entries at the beginning of a session that can record its origin. Imports write that entry first. */
export const FRONT_ENTRIES = 3;
