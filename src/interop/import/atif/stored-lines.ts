import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";

/** Name of the `extra` field where sessiontree stores its own data about a trajectory, a step, a call, or a result. */
export const OWN_EXTRA = "sessiontree";

/** Custom type of the entry for trajectory fields that are not part of the conversation. */
export const TRAJECTORY_CUSTOM_TYPE = "atif.trajectory";

/** Custom type of a message for an agent's observation that has no call. */
export const OBSERVATION_CUSTOM_TYPE = "atif.observation";

/** JSON escape of a lone surrogate. Other readers reject it even in values that they pass on without interpreting them. */
const ESCAPED_SURROGATE = /\\ud[89a-f]/i;

/**
 * Splits the text of a session file into values to store. A line is parsed to a JSON object, or remains a string if encoding the
 * object would change any byte.
 */
export function toStoredLines(text: string): unknown[] {
  return text.split("\n").map((line) => {
    const value = ESCAPED_SURROGATE.test(line) ? undefined : parseJson(line)?.value;
    return isJsonRecord(value) && encodeParsed(value) === line ? value : line;
  });
}

/**
 * Returns the session file that a lossless trajectory was created from.
 *
 * @param trajectory - Parsed document that `exportAtif` returned with the `lossless` option.
 * @returns The text, byte for byte; undefined if the document does not store a session.
 * @remarks Cost: O(bytes).
 */
export function findAtifSession(trajectory: unknown): string | undefined {
  const { lines } = getOwnExtra(toRecord(trajectory));
  if (!Array.isArray(lines) || lines.length === 0) return undefined;
  return toArray(lines)
    .map((line) => (typeof line === "string" ? line : encodeParsed(line)))
    .join("\n");
}

/** Returns the data that sessiontree stores in part of a trajectory. */
export function getOwnExtra(part: JsonRecord): JsonRecord {
  return toRecord(toRecord(part["extra"])[OWN_EXTRA]);
}
