import { isDeepStrictEqual } from "node:util";
import { toRecord } from "../../../core/context/entry-fields.ts";
import { hashSha256 } from "../../../session/fs/digest.ts";
import {
  type AgentHooks,
  type HookProgram,
  isHookOfOurs,
  makeHookEntries,
  makeHookScript,
} from "./agent-hooks.ts";
import { type HookRecord, readHookRecords, writeHookRecord } from "./hook-record.ts";
import { SettingsError } from "./settings-error.ts";
import {
  assertReplaceable,
  encodeSettings,
  readSettingsFile,
  removeSettingsFile,
  replaceSettingsFile,
  type SettingsFile,
  withBackup,
} from "./settings-file.ts";
import { addHooks, getHookValues, type HookEntry, parseSettings, removeHooks } from "./settings-text.ts";

/**
 * State of the hooks of an agent.
 *
 * `installed`: as installed by `keep`; `outdated`: as installed by `keep`, which would now install others; `changed`: edited
 * since then; `by hand`: not installed by `keep`; `taken`: the file is another hook; `absent`: there are none.
 */
export type HookState = "installed" | "outdated" | "changed" | "by hand" | "taken" | "absent";

/** File that contains an agent's hooks. */
export interface HookPlace {
  /** Id of the agent. */
  readonly agent: string;
  readonly path: string;
  readonly hooks: AgentHooks;
}

/** Permissions of a script. */
const SCRIPT_MODE = 0o755;

/** Maximum number of attempts to edit a file that other programs also write. */
const ATTEMPTS = 5;

/** Settings of an agent without a settings file. */
const NO_SETTINGS = "{}\n";

/**
 * Returns the state of an agent's hooks.
 *
 * @throws {SettingsError} If the state cannot be determined.
 */
export function getHookState(place: HookPlace, program: HookProgram): HookState {
  const file = readSettingsFile(place.path);
  return judgeHooks(place, program, file, findRecord(place));
}

/** Returns whether an agent's settings disable its hooks; false if they cannot be read. */
export function areHooksOff({ path, hooks: { offSwitch } }: HookPlace): boolean {
  if (offSwitch === undefined) return false;
  try {
    const { bytes, text } = readSettingsFile(path);
    const settings: unknown = bytes === undefined ? {} : parseSettings(text);
    const value = offSwitch.path.reduce((inner, name) => toRecord(inner)[name], settings);
    return value === offSwitch.value;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return false;
  }
}

/** Result of an installation. */
export interface InstalledHooks {
  /** Copy of the previous file; undefined if that file did not exist or was written by `keep`. */
  readonly backup: string | undefined;
}

/**
 * Installs an agent's hooks; the caller must prevent other processes from doing so at the same time.
 *
 * Records the installation first, so that even an interrupted call is recorded.
 *
 * @returns Undefined if nothing had to be done.
 * @throws {SettingsError} If the file cannot be edited.
 */
export function installHooks(place: HookPlace, program: HookProgram): InstalledHooks | undefined {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const file = readSettingsFile(place.path);
    const record = findRecord(place);
    const state = judgeHooks(place, program, file, record);
    if (state !== "absent" && state !== "outdated") return undefined;
    assertReplaceable(place.path);
    const edit = makeEdit(place, program, file, record);
    const note = (noted: Pick<HookRecord, "isNew" | "backup">) => writeNoted(file, edit, noted, record);
    if (file.bytes === undefined) {
      if (note({ isNew: true })) return { backup: undefined };
    } else if (record !== undefined && isAsWritten(file, record)) {
      // A file written by `keep` is restored from the older copy, so no new copy is made.
      if (note(record)) return { backup: undefined };
    } else if (record?.backup !== undefined && isCopy(record.backup, file)) {
      // An earlier installation was interrupted after it made this copy.
      if (note({ isNew: false, backup: record.backup })) return { backup: record.backup };
    } else {
      const isBefore = state === "absent";
      const copy = withBackup(file, (backup) => note({ isNew: false, ...(isBefore && { backup }) }));
      if (copy !== undefined) return { backup: copy };
    }
  }
  throw new SettingsError("another program keeps changing it");
}

/** Result of removing hooks. */
export interface RemovedHooks {
  /** `removed`: no hooks remain; `gone`: the hooks were removed earlier; `left`: manually edited hooks remain. */
  readonly outcome: "removed" | "gone" | "left";
  /** Copies that are kept because the file differs from its original content. */
  readonly backups: readonly string[];
}

/**
 * Removes only what was installed into a file; the caller must prevent other processes from doing so at the same time.
 *
 * A file that has not changed since its installation is restored byte for byte. From a changed file, only entries that are
 * exactly as installed are removed.
 *
 * @param rows - Commands that identify manually edited hooks.
 * @throws {SettingsError} If the file cannot be edited.
 */
export function uninstallHooks(record: HookRecord, rows: AgentHooks["rows"]): RemovedHooks {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const file = readSettingsFile(record.path);
    const removed = removeOnce(file, record, rows);
    if (removed === undefined) continue;
    if (removed.outcome !== "left") writeHookRecord(record.path, undefined);
    return removed;
  }
  throw new SettingsError("another program keeps changing it");
}

function findRecord({ path }: HookPlace): HookRecord | undefined {
  return readHookRecords().find((record) => record.path === path);
}

function isAsWritten({ bytes }: SettingsFile, { digest }: HookRecord): boolean {
  return bytes !== undefined && hashSha256(bytes) === digest;
}

/** Returns whether a file is a copy of another file as it was read. */
function isCopy(path: string, { bytes }: SettingsFile): boolean {
  const copy = readSettingsFile(path).bytes;
  return copy !== undefined && bytes?.equals(copy) === true;
}

function judgeHooks(
  { hooks }: HookPlace,
  program: HookProgram,
  file: SettingsFile,
  record: HookRecord | undefined,
): HookState {
  if (hooks.form === "script") {
    if (file.bytes === undefined) return "absent";
    const isCurrent = file.text === makeHookScript(hooks, program);
    if (record !== undefined)
      return !isAsWritten(file, record) ? "changed" : isCurrent ? "installed" : "outdated";
    return isHookOfOurs(file.text, hooks.rows) ? "by hand" : "taken";
  }
  const settings = parseSettings(file.bytes === undefined ? NO_SETTINGS : file.text);
  const isAnyOfOurs = isHookOfOurs(settings["hooks"], hooks.rows);
  if (record === undefined) return isAnyOfOurs ? "by hand" : "absent";
  const isWhole = record.entries.every((entry) => isEntered(settings, entry));
  if (isWhole)
    return isDeepStrictEqual(record.entries, makeHookEntries(hooks, program)) ? "installed" : "outdated";
  return isAnyOfOurs ? "changed" : "absent";
}

function isEntered(settings: ReturnType<typeof parseSettings>, { event, value }: HookEntry): boolean {
  return getHookValues(settings, event).some((one) => isDeepStrictEqual(one, value));
}

/** New content of a file, and its record. */
interface HookEdit {
  readonly text: string;
  readonly mode: number | undefined;
  readonly noted: Pick<HookRecord, "agent" | "path" | "entries" | "made">;
}

/** Creates the new content of a file, replacing the hooks of an earlier installation. */
function makeEdit(
  { agent, path, hooks }: HookPlace,
  program: HookProgram,
  { bytes, text }: SettingsFile,
  record: HookRecord | undefined,
): HookEdit {
  if (hooks.form === "script")
    return {
      text: makeHookScript(hooks, program),
      mode: SCRIPT_MODE,
      noted: { agent, path, entries: [], made: [] },
    };
  const old = bytes === undefined ? NO_SETTINGS : text;
  const base = record === undefined ? old : removeHooks(old, record.entries, record.made);
  const entries = makeHookEntries(hooks, program);
  const edited = addHooks(base, entries);
  const settings = parseSettings(base);
  // Objects and arrays that were added earlier and remain because the user has added something to them.
  const kept = (record?.made ?? []).filter(([name = "", event]) =>
    event === undefined ? settings[name] !== undefined : getHookValues(settings, event).length > 0,
  );
  return {
    text: edited.text,
    mode: undefined,
    noted: { agent, path, entries, made: [...kept, ...edited.made] },
  };
}

/**
 * Records the new content of a file, and replaces the file. If the file has changed since it was read, restores the earlier
 * record.
 */
function writeNoted(
  file: SettingsFile,
  { text, mode, noted }: HookEdit,
  { isNew, backup }: Pick<HookRecord, "isNew" | "backup">,
  record: HookRecord | undefined,
): boolean {
  const bytes = encodeSettings(file, text);
  writeHookRecord(noted.path, {
    ...noted,
    digest: hashSha256(bytes),
    isNew,
    ...(backup !== undefined && { backup }),
  });
  let isDone = false;
  try {
    isDone = replaceSettingsFile(file, bytes, mode);
  } finally {
    if (!isDone) writeHookRecord(noted.path, record);
  }
  return isDone;
}

/** Removes the items of a record from a file; undefined if the file has changed since it was read. */
function removeOnce(
  file: SettingsFile,
  record: HookRecord,
  rows: AgentHooks["rows"],
): RemovedHooks | undefined {
  const { bytes, text } = file;
  if (bytes === undefined) return { outcome: "gone", backups: [] };
  if (isAsWritten(file, record)) return restoreBefore(file, record);
  const isScript = record.entries.length === 0;
  if (isScript) return { outcome: isHookOfOurs(text, rows) ? "left" : "gone", backups: [] };
  const edited = removeHooks(text, record.entries, record.made);
  const settings = parseSettings(edited);
  const outcome = isHookOfOurs(settings["hooks"], rows) ? "left" : edited === text ? "gone" : "removed";
  if (edited === text) {
    // An earlier installation was interrupted before it wrote the file.
    if (outcome === "gone" && record.backup !== undefined && isCopy(record.backup, file))
      removeSettingsFile(readSettingsFile(record.backup));
    return { outcome, backups: [] };
  }
  assertReplaceable(record.path);
  const isEmpty = record.isNew && Object.keys(settings).length === 0;
  const backup = withBackup(file, () =>
    isEmpty ? removeSettingsFile(file) : replaceSettingsFile(file, encodeSettings(file, edited)),
  );
  if (backup === undefined) return undefined;
  return { outcome, backups: [...(record.backup === undefined ? [] : [record.backup]), backup] };
}

/** Restores the previous content of a file. */
function restoreBefore(file: SettingsFile, record: HookRecord): RemovedHooks | undefined {
  assertReplaceable(record.path);
  if (record.isNew) return removeSettingsFile(file) ? { outcome: "removed", backups: [] } : undefined;
  const before = record.backup === undefined ? undefined : readSettingsFile(record.backup);
  const edited = removeHooks(file.text, record.entries, record.made);
  // A copy that was edited is not restored.
  const isSame = before?.bytes !== undefined && isSameSettings(before.text, edited);
  const bytes = isSame ? before.bytes : encodeSettings(file, edited);
  if (!replaceSettingsFile(file, bytes)) return undefined;
  if (isSame) removeSettingsFile(before);
  return { outcome: "removed", backups: [] };
}

function isSameSettings(text: string, other: string): boolean {
  try {
    return isDeepStrictEqual(parseSettings(text), parseSettings(other));
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return false;
  }
}
