import { join } from "node:path";
import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { isSessionError, SessionError } from "../../../core/format/errors.ts";
import { isJsonRecord, toSafeString } from "../../../core/format/json.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { getDataFolder } from "../../../session/files/user-folders.ts";
import { makeFolder, realFileSystem } from "../../../session/fs/file-system.ts";
import { reserveFile } from "../../../session/log/replace-file.ts";
import { SettingsError } from "./settings-error.ts";
import { readSettingsFile, removeSettingsFile, replaceSettingsFile } from "./settings-file.ts";
import type { HookEntry } from "./settings-text.ts";

/** Record of an installation into another program's file. */
export interface HookRecord {
  /** Id of the agent. */
  readonly agent: string;
  /** Path of the file. */
  readonly path: string;
  /** Entries that were added; empty if the whole file is the hook. */
  readonly entries: readonly HookEntry[];
  /** Paths of the objects and arrays that were added to contain the entries. */
  readonly made: readonly (readonly string[])[];
  /** Digest of the file as it was written. */
  readonly digest: string;
  /** Whether the file did not exist before the installation. */
  readonly isNew: boolean;
  /** Copy of the previous file, if it did not contain any of our hooks. */
  readonly backup?: string;
}

const VERSION = 1;

/** Maximum number of milliseconds to wait for another process that installs or removes hooks. */
const WAIT_MS = 5000;

/** Returns the path of the file that stores the records. */
function getRecordPath(): string {
  return join(getDataFolder(), "keep.json");
}

/**
 * Reads the records of installed hooks.
 *
 * @throws {SettingsError} If the file is damaged.
 */
export function readHookRecords(): HookRecord[] {
  const { text } = readSettingsFile(getRecordPath());
  if (text === "") return [];
  const { version, hooks } = toRecord(parseJson(text)?.value);
  const records = toArray(hooks).flatMap((one) => parseHookRecord(one) ?? []);
  if (version === VERSION && Array.isArray(hooks) && records.length === hooks.length) return records;
  const how =
    version === undefined || version === VERSION
      ? "it is damaged"
      : "another version of sessiontree wrote it";
  throw new SettingsError(
    `${getRecordPath()} cannot be read: ${how}. It lists the hooks that keep installed; delete it, and remove those by hand.`,
  );
}

/** Writes the record of a file, or removes it if `record` is undefined. */
export function writeHookRecord(path: string, record: HookRecord | undefined): void {
  const file = readSettingsFile(getRecordPath());
  const hooks = readHookRecords().filter((one) => one.path !== path);
  if (record !== undefined) hooks.push(record);
  if (hooks.length === 0) {
    removeSettingsFile(file);
    return;
  }
  const text = `${JSON.stringify({ version: VERSION, hooks }, null, 2)}\n`;
  if (!replaceSettingsFile(file, Buffer.from(text)))
    throw new SettingsError(`${getRecordPath()} was changed in the meantime. Run the command again.`);
}

/**
 * Calls a function while no other process installs or removes hooks.
 *
 * @throws {SessionError} `WRITE_FAILED` if another process takes too long.
 */
export function withHooksReserved<T>(call: () => T): T {
  makeFolder(realFileSystem, getDataFolder());
  let release: () => void;
  try {
    release = reserveFile(realFileSystem, getRecordPath(), WAIT_MS);
  } catch (error) {
    if (!isSessionError(error, "WRITE_FAILED")) throw error;
    const message = 'Another "sessiontree keep" is running, or its folder cannot be written to. Try again.';
    throw new SessionError("WRITE_FAILED", message, { cause: error });
  }
  try {
    return call();
  } finally {
    release();
  }
}

function parseHookRecord(stored: unknown): HookRecord | undefined {
  const { agent, path, entries, made, digest, isNew, backup } = toRecord(stored);
  if (typeof agent !== "string" || typeof path !== "string" || typeof digest !== "string") return undefined;
  return {
    agent,
    path,
    digest,
    isNew: isNew === true,
    entries: toArray(entries).flatMap((one) => {
      const { event, value } = toRecord(one);
      return typeof event === "string" && isJsonRecord(value) ? [{ event, value }] : [];
    }),
    made: toArray(made).map((names) => toArray(names).map(toSafeString)),
    ...(typeof backup === "string" && { backup }),
  };
}
