import type { AnySessionEntry } from "../format/entry.ts";
import type { JsonRecord } from "../format/json.ts";
import { fieldsOf } from "./entry-fields.ts";
import type { EntryPath } from "./entry-path.ts";

/** A model and its provider. */
export interface ModelChoice {
  provider: string;
  modelId: string;
}

/** The settings that a path names; undefined if it names none. */
export interface PathSettings {
  readonly thinkingLevel: string | undefined;
  readonly model: ModelChoice | undefined;
}

const LEVEL_TYPES = ["thinking_level_change"];
const MODEL_TYPES = ["model_change", "message"];

/**
 * Finds the settings in force at the end of a path: the latest of each on the whole path.
 *
 * @remarks Cost: O(path) in heads at worst; parses bodies from the leaf back until one names the setting.
 */
export function findSettings(path: EntryPath): PathSettings {
  return {
    thinkingLevel: findLast(path, LEVEL_TYPES, thinkingLevelSetBy),
    model: findLast(path, MODEL_TYPES, modelSetBy),
  };
}

/** Returns the thinking level that an entry sets, or undefined if it sets none. */
export function thinkingLevelSetBy(entry: AnySessionEntry): string | undefined {
  if (!LEVEL_TYPES.includes(entry.type)) return undefined;
  const { thinkingLevel } = fieldsOf(entry);
  return typeof thinkingLevel === "string" ? thinkingLevel : undefined;
}

/**
 * Returns the model that an entry sets, as a model change or an answer; undefined if it does not name provider and
 * model.
 */
export function modelSetBy(entry: AnySessionEntry): ModelChoice | undefined {
  const fields = fieldsOf(entry);
  if (entry.type === "model_change") {
    return modelChoice(fields["provider"], fields["modelId"]) ?? mainModelIn(fields);
  }
  if (entry.type !== "message") return undefined;
  const message = fieldsOf(fields["message"]);
  return message["role"] === "assistant" ? modelChoice(message["provider"], message["model"]) : undefined;
}

/** Returns a model in oh-my-pi's form, `provider/model`, if it is for the main role. */
function mainModelIn({ model, role = "default" }: JsonRecord): ModelChoice | undefined {
  const [, provider, modelId] = (typeof model === "string" && /^([^/]+)\/(.+)$/s.exec(model)) || [];
  return role === "default" ? modelChoice(provider, modelId) : undefined;
}

function modelChoice(provider: unknown, modelId: unknown): ModelChoice | undefined {
  return typeof provider === "string" && typeof modelId === "string" ? { provider, modelId } : undefined;
}

function findLast<T>(
  path: EntryPath,
  types: readonly string[],
  read: (entry: AnySessionEntry) => T | undefined,
): T | undefined {
  if (!types.some((type) => path.mayHold(type))) return undefined;
  for (let index = path.length - 1; index >= 0; index--) {
    if (!types.includes(path.typeAt(index))) continue;
    const entry = path.entryAt(index);
    const value = entry === undefined ? undefined : read(entry);
    if (value !== undefined) return value;
  }
  return undefined;
}
