import { isJsonRecord } from "../../core/format/json.ts";
import { parseRecord } from "../../core/jsonl/decode.ts";
import type { History } from "./message-history.ts";

/** Matches a string or a number in JSON. */
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/**
 * Returns the arguments of a tool call from an object or from the model's JSON; undefined if the value is not an
 * object.
 */
export function parseArguments(value: unknown): Record<string, unknown> | undefined {
  if (typeof value === "string") return parseRecord(value);
  return isJsonRecord(value) ? value : undefined;
}

/**
 * Parses the JSON of arguments. Returns the JSON unchanged if it is not an object or contains numbers that parsing would
 * round.
 */
export function normalizeArguments(json: unknown): unknown {
  return isRounded(json) ? json : (parseArguments(json) ?? json);
}

/** Reports arguments whose numbers were rounded. */
export function reportRounded(history: History, index: number, args: readonly unknown[]): void {
  if (!args.some(isRounded)) return;
  history.report(
    "CONTENT_REPLACED",
    index,
    "Rounded numbers in the arguments of a tool call: integers beyond 2^53 lose digits. Pass such ids as strings.",
  );
}

/** Returns whether parsing changes numbers in arguments, such as integers beyond 2^53 or values too large for a number. */
function isRounded(json: unknown): boolean {
  if (typeof json !== "string" || parseRecord(json) === undefined) return false;
  return (json.match(TEXT_OR_NUMBER) ?? []).some((token) => !token.startsWith('"') && !isHeld(token));
}

function isHeld(token: string): boolean {
  const number = Number(token);
  if (!Number.isFinite(number)) return false;
  return !/^-?\d+$/.test(token) || String(number) === token || BigInt(number) === BigInt(token);
}
