import { parseRecord } from "../jsonl/decode.ts";

/**
 * Parses the arguments of a tool call, which a model wrote as JSON.
 *
 * @returns Undefined if they are not a JSON object; models make such mistakes.
 */
export function parseArguments(json: unknown): Record<string, unknown> | undefined {
  return typeof json === "string" ? parseRecord(json) : undefined;
}
