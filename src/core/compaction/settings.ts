import type { ModelChoice } from "../context/path-settings.ts";
import { assertArgument } from "../format/arguments.ts";
import { assertOptions, FLAG, makeNumberRule, OBJECT, type OptionRules } from "../format/options.ts";

/** Settings that can differ by model. */
export interface CompactionLimits {
  /** Whether to compact automatically. */
  enabled: boolean;
  /** Number of tokens in the context window to reserve for the next reply and for a summary. */
  reserveTokens: number;
  /** Number of tokens in the recent messages that a compaction keeps. */
  keepRecentTokens: number;
}

/** Settings that control when to compact and how much to keep. */
export interface CompactionSettings extends CompactionLimits {
  /** Overrides by `provider/modelId`. */
  models?: { [providerAndModelId: string]: Partial<CompactionLimits> };
}

const LIMIT_RULES: OptionRules<CompactionLimits> = {
  enabled: FLAG,
  reserveTokens: makeNumberRule(0, "tokens"),
  keepRecentTokens: makeNumberRule(0, "tokens"),
};

/** Throws if settings are invalid. For example, comparisons with NaN are always false. */
export function assertSettings(settings: CompactionSettings): void {
  assertOptions<CompactionSettings>(settings, { ...LIMIT_RULES, models: OBJECT });
  for (const own of Object.values(settings.models ?? {})) assertOptions(own, LIMIT_RULES);
}

/** Default settings; frozen. */
export const DEFAULT_COMPACTION_SETTINGS: CompactionSettings = Object.freeze({
  enabled: true,
  reserveTokens: 16384,
  keepRecentTokens: 20000,
});

/**
 * Returns the settings for a context window.
 *
 * @param settings - The host's settings, which are returned unchanged. If undefined, the defaults are used; if the default
 *   `reserveTokens` and `keepRecentTokens` together exceed half of the window, each is set to a quarter of it.
 * @param contextWindow - Size in tokens; undefined if unknown.
 */
export function fitSettingsToWindow(
  settings: CompactionSettings | undefined,
  contextWindow: number | undefined,
): CompactionSettings {
  if (settings !== undefined) return settings;
  const { reserveTokens, keepRecentTokens } = DEFAULT_COMPACTION_SETTINGS;
  if (contextWindow === undefined || reserveTokens + keepRecentTokens <= contextWindow / 2)
    return DEFAULT_COMPACTION_SETTINGS;
  const quarter = Math.floor(contextWindow / 4);
  return { ...DEFAULT_COMPACTION_SETTINGS, reserveTokens: quarter, keepRecentTokens: quarter };
}

/**
 * Returns the settings for one model.
 *
 * @param settings - Settings, which may contain overrides by model.
 * @param model - Current model; null or undefined if unknown.
 * @returns A copy without `models`, or the same object if it has no overrides.
 */
export function settingsForModel(
  settings: CompactionSettings,
  model: ModelChoice | null | undefined,
): CompactionSettings {
  assertArgument("settings", settings, OBJECT);
  const { models, ...general } = settings;
  if (models === undefined) return settings;
  const name = model ? `${model.provider}/${model.modelId}` : undefined;
  const own = name !== undefined && Object.hasOwn(models, name) ? models[name] : undefined;
  return {
    enabled: own?.enabled ?? general.enabled,
    reserveTokens: own?.reserveTokens ?? general.reserveTokens,
    keepRecentTokens: own?.keepRecentTokens ?? general.keepRecentTokens,
  };
}
