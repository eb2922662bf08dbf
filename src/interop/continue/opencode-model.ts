import { readFileSync } from "node:fs";
import { join } from "node:path";
import { toArray, toRecord } from "../../core/context/entry-fields.ts";
import type { JsonRecord } from "../../core/format/json.ts";
import { parseRecord } from "../../core/jsonl/decode.ts";
import { callIfPresent } from "../../session/fs/file-system.ts";
import type { Environment } from "../history/source-program.ts";

/**
 * Finds the model that a user's OpenCode would use for a new session: the model in its settings, or the last model used.
 *
 * A session continues with the model of its last prompt and fails if OpenCode is not configured for that model.
 *
 * @param home - Path of the user's home folder.
 * @returns The provider and the model, such as `anthropic/claude-opus-4-8`; undefined if neither source specifies a model.
 */
export function findOpenCodeModel(env: Environment, home: string): string | undefined {
  const settings = join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "opencode", "opencode.json");
  const { model } = readJsonFile(settings);
  if (typeof model === "string" && MODEL.test(model)) return model;
  const state = join(env["XDG_STATE_HOME"] || join(home, ".local", "state"), "opencode", "model.json");
  const { providerID, modelID } = toRecord(toArray(readJsonFile(state)["recent"])[0]);
  return typeof providerID === "string" && typeof modelID === "string"
    ? `${providerID}/${modelID}`
    : undefined;
}

const MODEL = /^[^/]+\/./;

function readJsonFile(path: string): JsonRecord {
  const text = callIfPresent(() => readFileSync(path, "utf8"));
  return (text === undefined ? undefined : parseRecord(text)) ?? {};
}
