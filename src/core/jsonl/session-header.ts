import type { SessionHeader } from "../format/header.ts";
import type { JsonRecord } from "../format/json.ts";
import { CURRENT_SESSION_VERSION } from "../format/version.ts";
import { readStatedVersion, type StatedVersion } from "./migrate.ts";

/** Header as stored in the file, and in the current version. */
export interface ReadHeader {
  /** Fields in the file. */
  readonly record: JsonRecord;
  /** Header in the current version; unchanged if the file's version is newer. */
  readonly header: SessionHeader;
  readonly stated: StatedVersion;
}

/**
 * Reads a record as a session header. Returns undefined if it has no string `id`.
 *
 * `branchedFrom` is read as `parentSession`. A missing `cwd` or `timestamp` is read as an empty string.
 */
export function readHeader(record: JsonRecord): ReadHeader | undefined {
  const { id } = record;
  if (typeof id !== "string") return undefined;
  const stated = readStatedVersion(record);
  const parent = [record["parentSession"], record["branchedFrom"]].find((path) => typeof path === "string");
  const { parentSession: _parentSession, branchedFrom: _branchedFrom, ...rest } = record;
  const header: SessionHeader = {
    ...rest,
    type: "session",
    version: Math.max(CURRENT_SESSION_VERSION, stated.version ?? 0),
    id,
    timestamp: toText(record["timestamp"]),
    cwd: toText(record["cwd"]),
    ...(typeof parent === "string" && parent !== "" && { parentSession: parent }),
  };
  return { record, header, stated };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
