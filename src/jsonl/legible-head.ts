import type { JsonRecord } from "../schema/json.ts";
import { decodeText, parseJson } from "./decode.ts";

const STRING = `"(?:[^"\\\\]|\\\\.)*"`;
const REST_OF_HEAD = `"id"\\s*:\\s*(${STRING})\\s*,\\s*"parentId"\\s*:\\s*(null|${STRING})\\s*,\\s*"timestamp"\\s*:\\s*(${STRING})`;
const TYPE = `^\\s*\\{\\s*"type"\\s*:\\s*(${STRING})`;

const HEAD_IN_FRONT = new RegExp(`${TYPE}\\s*,\\s*${REST_OF_HEAD}`);
const TYPE_IN_FRONT = new RegExp(TYPE);
const HEAD_BEHIND = new RegExp(`,\\s*${REST_OF_HEAD}\\s*\\}\\s*$`);

/** More than a head takes up; nothing further is looked at. */
const WINDOW_BYTES = 1024;

/**
 * Reads the head of a line that does not parse, at its front or, as some writers place it, around its body.
 *
 * @param mayStandBehind - Whether a head at the end of the line can be this entry's.
 * @returns The four head fields as a record, or undefined if they are not legible.
 */
export function legibleHead(bytes: Uint8Array, mayStandBehind: boolean): JsonRecord | undefined {
  const front = decodeText(bytes.subarray(0, WINDOW_BYTES));
  const inFront = HEAD_IN_FRONT.exec(front);
  if (inFront !== null) return headOf(inFront[1], inFront[2], inFront[3], inFront[4]);
  const type = mayStandBehind ? TYPE_IN_FRONT.exec(front) : null;
  const behind =
    type && HEAD_BEHIND.exec(decodeText(bytes.subarray(Math.max(0, bytes.length - WINDOW_BYTES))));
  return behind ? headOf(type[1], behind[1], behind[2], behind[3]) : undefined;
}

/** A record of four values that are spelled as JSON. */
function headOf(...spelled: (string | undefined)[]): JsonRecord | undefined {
  const values = spelled.map((text) => parseJson(text ?? "")?.value);
  const [type, id, parentId, timestamp] = values;
  if (typeof type !== "string" || typeof id !== "string" || type === "session") return undefined;
  return { type, id, parentId, timestamp };
}
