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
 * `installed`: as `keep` installed them; `outdated`: so, but it would install others now; `changed`: edited since; `by hand`: there, but
 * not from `keep`; `taken`: the file is another hook; `absent`: none is there.
 */
export type HookState = "installed" | "outdated" | "changed" | "by hand" | "taken" | "absent";

/** Where the hooks of an agent go. */
export interface HookPlace {
  /** Id of the agent. */
  readonly agent: string;
  readonly path: string;
  readonly hooks: AgentHooks;
}

/** Permissions of a script. */
const SCRIPT_MODE = 0o755;

/** Attempts to edit a file that other programs write to. */
const ATTEMPTS = 5;

/** Settings of an agent that has none. */
const NO_SETTINGS = "{}\n";

/**
 * Returns the state of an agent's hooks.
 *
 * @throws {SettingsError} If that cannot be found out.
 */
export function getHookState(place: HookPlace, program: HookProgram): HookState {
  const file = readSettingsFile(place.path);
  return judgeHooks(place, program, file, findRecord(place));
}

/** Returns whether an agent is set not to run its hooks; false if its settings cannot be read. */
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
  /** Copy of the file before; undefined if there was none, or it was written by `keep`. */
  readonly backup: string | undefined;
}

/**
 * Installs an agent's hooks; the caller keeps other processes from doing so.
 *
 * What is about to be there is noted first, so that an interrupted call leaves nothing that is unknown.
 *
 * @returns Undefined if there was nothing to do.
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
      // What keep wrote itself, the older copy restores.
      if (note(record)) return { backup: undefined };
    } else if (record?.backup !== undefined && isCopy(record.backup, file)) {
      // An installation was interrupted after it had made this copy.
      if (note({ isNew: false, backup: record.backup })) return { backup: record.backup };
    } else {
      const isBefore = state === "absent";
      const copy = withBackup(file, (backup) => note({ isNew: false, ...(isBefore && { backup }) }));
      if (copy !== undefined) return { backup: copy };
    }
  }
  throw new SettingsError("another program keeps changing it");
}

/** What became of hooks that were to be removed. */
export interface RemovedHooks {
  /** `removed`: nothing of them is left; `gone`: they were gone before; `left`: those that were changed by hand are left. */
  readonly outcome: "removed" | "gone" | "left";
  /** Copies of the file that are kept since it is not as it was before `keep`. */
  readonly backups: readonly string[];
}

/**
 * Removes what was installed into a file, and nothing else; the caller keeps other processes from doing so.
 *
 * A file that has not changed since becomes what it was, to the byte. In one that has, only entries that are exactly as they were installed
 * are removed.
 *
 * @param rows - Commands by which hooks that were changed by hand are recognized.
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

/** Returns whether a file is a copy of another as that was read. */
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

/** What a file becomes, and what is noted of that. */
interface HookEdit {
  readonly text: string;
  readonly mode: number | undefined;
  readonly noted: Pick<HookRecord, "agent" | "path" | "entries" | "made">;
}

/** Makes what a file becomes, with hooks in place of those of an earlier installation. */
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
  // What was made earlier and is still there, since the user has put something into it.
  const kept = (record?.made ?? []).filter(([name = "", event]) =>
    event === undefined ? settings[name] !== undefined : getHookValues(settings, event).length > 0,
  );
  return {
    text: edited.text,
    mode: undefined,
    noted: { agent, path, entries, made: [...kept, ...edited.made] },
  };
}

/** Notes what a file will be, and replaces it; unless it has changed meanwhile, when what was noted before is noted again. */
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

/** Removes what a record lists from a file as it was read; undefined if that has changed meanwhile. */
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
    // An installation was interrupted before it wrote.
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

/** Makes a file what it was before. */
function restoreBefore(file: SettingsFile, record: HookRecord): RemovedHooks | undefined {
  assertReplaceable(record.path);
  if (record.isNew) return removeSettingsFile(file) ? { outcome: "removed", backups: [] } : undefined;
  const before = record.backup === undefined ? undefined : readSettingsFile(record.backup);
  const edited = removeHooks(file.text, record.entries, record.made);
  // A copy that was changed is not restored.
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
