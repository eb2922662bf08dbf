import { isJsonRecord } from "./json.ts";

/** `customType` of the entry that says where a session was imported from. */
export const IMPORT_CUSTOM_TYPE = "sessiontree.import";

/** `customType` of the entries that link a subagent's session and the call that started it. */
export const SUBAGENT_CUSTOM_TYPE = "sessiontree.subagent";

/** The session of another program that a session was imported from. */
export interface ImportOrigin {
  /** The program. */
  readonly source: string;
  /** Id of the session there. */
  readonly sourceId: string;
  /** File that it was read from, if known. */
  readonly sourcePath?: string | undefined;
}

/** Name under which sessions of ours are among those of programs. */
export const OWN_SOURCE = "sessiontree";

/** Returns how a session of ours is named among the sessions of programs. */
export function makeOwnOrigin(sessionId: string): ImportOrigin {
  return { source: OWN_SOURCE, sourceId: sessionId };
}

/** Returns a key that identifies a session of another program. */
export function makeSourceKey({ source, sourceId }: ImportOrigin): string {
  return `${source} ${sourceId}`;
}

/** Returns what an entry says of where its session was imported from; undefined if it says nothing of it. */
export function findImportOrigin(entry: unknown): ImportOrigin | undefined {
  if (!isJsonRecord(entry) || entry["customType"] !== IMPORT_CUSTOM_TYPE) return undefined;
  const { source, sourceId, sourcePath } = isJsonRecord(entry["data"]) ? entry["data"] : {};
  if (typeof source !== "string" || typeof sourceId !== "string") return undefined;
  return { source, sourceId, ...(typeof sourcePath === "string" && { sourcePath }) };
}
