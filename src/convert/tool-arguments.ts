import { parseRecord } from "../jsonl/decode.ts";

/**
 * Reads the arguments of a tool call that a model wrote as JSON.
 *
 * @returns Undefined if they are no JSON object; models make such mistakes.
 */
export function parseArguments(json: unknown): Record<string, unknown> | undefined {
  return typeof json === "string" ? parseRecord(json) : undefined;
}
