import type { AnySessionEntry } from "../format/entry.ts";
import type { JsonRecord } from "../format/json.ts";
import { toRecord } from "./entry-fields.ts";
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
    thinkingLevel: findLast(path, LEVEL_TYPES, findThinkingLevel),
    model: findLast(path, MODEL_TYPES, findModel),
  };
}

/** Returns the thinking level that an entry sets, or undefined if it sets none. */
export function findThinkingLevel(entry: AnySessionEntry): string | undefined {
  if (!LEVEL_TYPES.includes(entry.type)) return undefined;
  const { thinkingLevel } = toRecord(entry);
  return typeof thinkingLevel === "string" ? thinkingLevel : undefined;
}

/**
 * Returns the model that an entry sets, as a model change or an answer; undefined if it does not name provider and
 * model.
 */
export function findModel(entry: AnySessionEntry): ModelChoice | undefined {
  const fields = toRecord(entry);
  if (entry.type === "model_change") {
    return toModelChoice(fields["provider"], fields["modelId"]) ?? parseMainModel(fields);
  }
  if (entry.type !== "message") return undefined;
  const message = toRecord(fields["message"]);
  return message["role"] === "assistant" ? toModelChoice(message["provider"], message["model"]) : undefined;
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
  if (!types.some((type) => path.mayHold(type))) return undefined;
  for (let index = path.length - 1; index >= 0; index--) {
    if (!types.includes(path.typeAt(index))) continue;
    const entry = path.entryAt(index);
    const value = entry === undefined ? undefined : read(entry);
    if (value !== undefined) return value;
  }
  return undefined;
}
