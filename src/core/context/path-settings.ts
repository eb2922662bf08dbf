import type { AnySessionEntry } from "../format/entry.ts";
import type { JsonRecord } from "../format/json.ts";
import { toRecord } from "./entry-fields.ts";
import type { EntryPath } from "./entry-path.ts";

/** Model and its provider. */
export interface ModelChoice {
  provider: string;
  modelId: string;
}

/** Settings that a path specifies; undefined where it does not. */
export interface PathSettings {
  readonly thinkingLevel: string | undefined;
  readonly model: ModelChoice | undefined;
}

/** Settings to use if a path does not specify any, such as those in a header. */
export interface SettingsFallback {
  readonly thinkingLevel?: string | undefined;
  readonly model?: ModelChoice | null | undefined;
}

const LEVEL_TYPE = "thinking_level_change";
const LEVEL_TYPES = [LEVEL_TYPE];
const MODEL_TYPES = ["model_change", "message"];

/**
 * Finds the settings in effect at the end of a path, which are the last settings on the path.
 *
 * @remarks Cost: O(path) head reads at worst. Parses bodies from the leaf backward until one specifies the setting.
 */
export function findSettings(path: EntryPath): PathSettings {
  const setsLevel = path.mayHold(LEVEL_TYPE);
  return {
    thinkingLevel: setsLevel ? findLast(path, LEVEL_TYPES, findThinkingLevel) : undefined,
    model: findLast(path, MODEL_TYPES, findModel),
  };
}

/** Returns the thinking level that an entry sets, or undefined if it does not set one. */
export function findThinkingLevel(entry: AnySessionEntry): string | undefined {
  if (entry.type !== LEVEL_TYPE) return undefined;
  const { thinkingLevel } = toRecord(entry);
  return typeof thinkingLevel === "string" ? thinkingLevel : undefined;
}

/**
 * Returns the model that an entry sets, as a model change or an assistant message; undefined if it does not specify both a
 * provider and a model.
 */
export function findModel(entry: AnySessionEntry): ModelChoice | undefined {
  if (entry.type === "model_change") {
    const fields = toRecord(entry);
    return toModelChoice(fields["provider"], fields["modelId"]) ?? parseMainModel(fields);
  }
  const message: unknown = entry.type === "message" && "message" in entry ? entry.message : undefined;
  if (typeof message !== "object" || message === null || !("role" in message)) return undefined;
  const isAnswer = message.role === "assistant" && "provider" in message && "model" in message;
  return isAnswer ? toModelChoice(message.provider, message.model) : undefined;
}

/** Returns a model in oh-my-pi's form, `provider/model`, if it is for the main role. */
function parseMainModel({ model, role = "default" }: JsonRecord): ModelChoice | undefined {
  const [, provider, modelId] = (typeof model === "string" && /^([^/]+)\/(.+)$/s.exec(model)) || [];
  return role === "default" ? toModelChoice(provider, modelId) : undefined;
}

function toModelChoice(provider: unknown, modelId: unknown): ModelChoice | undefined {
  return typeof provider === "string" && typeof modelId === "string" ? { provider, modelId } : undefined;
}

function findLast<T>(
  path: EntryPath,
  types: readonly string[],
  read: (entry: AnySessionEntry) => T | undefined,
): T | undefined {
  for (let index = path.length - 1; index >= 0; index--) {
    if (!types.includes(path.typeAt(index))) continue;
    const entry = path.entryAt(index);
    const value = entry === undefined ? undefined : read(entry);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Returns the settings that some headers contain. They apply if no entry on the path sets them. */
export function readHeaderSettings(header: object | undefined): PathSettings {
  const { thinkingLevel, provider, modelId }: JsonRecord = { ...header };
  return {
    thinkingLevel: typeof thinkingLevel === "string" ? thinkingLevel : undefined,
    model: toModelChoice(provider, modelId),
  };
}
