import { toRecord } from "../../../core/context/entry-fields.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { SettingsError } from "./settings-error.ts";
import { readSettingsFile } from "./settings-file.ts";
import { parseSettings } from "./settings-text.ts";

/** Automatic deletion of sessions by an agent. */
export interface Retention {
  /** Whether the agent deletes sessions; null if unknown. */
  readonly deletes: boolean | null;
  /** Age when sessions are deleted, as written in the setting; null if unknown, or if deletion is not based on age. */
  readonly after: string | null;
  /** Name of the setting; null if the agent has no such setting. */
  readonly setting: string | null;
  /** Whether the setting is absent, so that its default applies. */
  readonly isDefault: boolean;
  /** Description that follows the agent's name. */
  readonly text: string;
}

/** Rule for reading an agent's retention. */
export interface RetentionRule {
  /** File that contains the setting, relative to the agent's own folder; absent if the retention is fixed. */
  readonly file?: string;
  /** Returns the retention for the settings in the file, which are empty if the file is missing. */
  read(settings: JsonRecord): Retention;
}

/**
 * Reads an agent's retention.
 *
 * @param path - Path of the file that contains the setting; undefined if the agent has no such setting.
 */
export function readRetention({ read }: RetentionRule, path: string | undefined): Retention {
  if (path === undefined) return read({});
  try {
    const { bytes, text } = readSettingsFile(path);
    return read(bytes === undefined ? {} : parseSettings(text));
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const { setting } = read({});
    return makeUnknown(
      `may delete sessions: ${setting} is unknown, because its settings cannot be read`,
      setting,
    );
  }
}

/** Retention of an agent that does not delete sessions automatically. */
export const KEEPS: RetentionRule = {
  read: () => ({
    deletes: false,
    after: null,
    setting: null,
    isDefault: true,
    text: "keeps sessions until you delete them",
  }),
};

/** Retention of programs whose settings cannot be read. */
export const UNKNOWN: RetentionRule = {
  read: () =>
    makeUnknown("may delete tasks, depending on an editor setting that sessiontree cannot read", null),
};

/** Retention of Claude Code, which deletes sessions by age at each start. */
export const CLAUDE_RETENTION: RetentionRule = {
  file: "settings.json",
  read: ({ cleanupPeriodDays: days }) => {
    const setting = "cleanupPeriodDays";
    const isDefault = days === undefined;
    if (!isDefault && !(typeof days === "number" && days > 0))
      return makeUnknown(`may delete sessions: ${setting} has no number of days`, setting);
    const after = `${isDefault ? 30 : days} days`;
    const text = `deletes sessions ${after} after their last use (${setting}${isDefault ? ", default" : ""})`;
    return { deletes: true, after, setting, isDefault, text };
  },
};

/** Retention of Gemini CLI, which deletes sessions by age, number, or both at each start. */
export const GEMINI_RETENTION: RetentionRule = {
  file: "settings.json",
  read: (settings) => {
    const name = "general.sessionRetention";
    const { enabled = true, maxAge, maxCount } = toRecord(toRecord(settings["general"])["sessionRetention"]);
    if (enabled === false) {
      const text = `keeps sessions until you delete them (${name}.enabled is false)`;
      return { deletes: false, after: null, setting: `${name}.enabled`, isDefault: false, text };
    }
    const setting = `${name}.maxAge`;
    const isDefault = maxAge === undefined;
    const after = isDefault ? "30d" : toSafeString(maxAge);
    const others =
      maxCount === undefined ? "" : `, and all but the latest ${toSafeString(maxCount)} of a project`;
    const text = `deletes sessions after ${after} (${setting}${isDefault ? ", default" : ""})${others}`;
    return { deletes: true, after, setting, isDefault, text };
  },
};

/** Retention of OpenClaw, which deletes or archives sessions by age, number, and size, depending on the version. */
export const OPENCLAW_RETENTION: RetentionRule = {
  file: "openclaw.json",
  read: (settings) => {
    const name = "session.maintenance";
    const { mode, pruneAfter } = toRecord(toRecord(settings["session"])["maintenance"]);
    if (mode === "warn") {
      const text = `keeps sessions until you delete them (${name}.mode is "warn")`;
      return { deletes: false, after: null, setting: `${name}.mode`, isDefault: false, text };
    }
    const setting = `${name}.pruneAfter`;
    const isDefault = pruneAfter === undefined;
    const after = isDefault ? "30d" : toSafeString(pruneAfter);
    const text = `archives or deletes sessions after ${after} (${setting}${isDefault ? ", default" : ""})`;
    return { deletes: true, after, setting, isDefault, text };
  },
};

function makeUnknown(text: string, setting: string | null): Retention {
  return { deletes: null, after: null, setting, isDefault: false, text };
}
