import { isJsonRecord } from "../schema/json.ts";

/**
 * Reads the arguments of a tool call that a model wrote as JSON.
 *
 * @returns Undefined if they are no JSON object; models make such mistakes.
 */
export function parseArguments(json: unknown): Record<string, unknown> | undefined {
  const value = typeof json === "string" ? parseJson(json) : undefined;
  return isJsonRecord(value) ? value : undefined;
}

/** Parses JSON; undefined if it is none. */
export function parseJson(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json);
    return value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
