import type { SessionHeader } from "../format/header.ts";
import { isJsonRecord, type JsonRecord } from "../format/json.ts";
import { CURRENT_SESSION_VERSION } from "../format/version.ts";
import { readStatedVersion, type StatedVersion } from "./migrate.ts";

/** A header: as in the file, and in the current version. */
export interface ReadHeader {
  /** The fields in the file. */
  readonly record: JsonRecord;
  /** The same in the current version; unchanged if the file is of a newer one. */
  readonly header: SessionHeader;
  readonly stated: StatedVersion;
}

/**
 * Reads a record as a session header; undefined if it has no string `id`.
 *
 * `branchedFrom` is read as `parentSession`; a missing `cwd` or `timestamp` becomes empty.
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

/** Returns the settings that some headers have; they apply if nothing on the path sets more. */
export function readHeaderSettings(header: object | undefined): {
  thinkingLevel: string | undefined;
  model: { provider: string; modelId: string } | undefined;
} {
  const { thinkingLevel, provider, modelId }: JsonRecord = isJsonRecord(header) ? header : {};
  const hasModel = typeof provider === "string" && typeof modelId === "string";
  return {
    thinkingLevel: typeof thinkingLevel === "string" ? thinkingLevel : undefined,
    model: hasModel ? { provider, modelId } : undefined,
  };
}
