import type { JsonRecord } from "../schema/json.ts";
import { decodeText, parseJson } from "./decode.ts";

const STRING = `"(?:[^"\\\\]|\\\\.)*"`;
const SCALAR = `${STRING}|null|true|false|-?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?(?=[\\s,}])`;

/** One field whose value is no object or list, and the comma behind it. Only what follows shows where a number ends. */
const FIELD = new RegExp(`\\s*(${STRING})\\s*:\\s*(${SCALAR})\\s*(,?)`, "y");
const OPENING = /\s*\{/y;
const TYPE_IN_FRONT = new RegExp(`^\\s*\\{\\s*"type"\\s*:\\s*(${STRING})`);
const FIRST_BEHIND = /,\s*"(?:id|parentId|timestamp)"\s*:/;

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
  OPENING.lastIndex = 0;
  const inFront = OPENING.test(front) ? headOf(fieldsAt(front, OPENING.lastIndex)) : undefined;
  if (inFront !== undefined || !mayStandBehind) return inFront;
  const type = TYPE_IN_FRONT.exec(front)?.[1];
  if (type === undefined) return undefined;
  const behind = endBehindBody(decodeText(bytes.subarray(Math.max(0, bytes.length - WINDOW_BYTES))));
  const first = FIRST_BEHIND.exec(behind);
  if (first === null) return undefined;
  return headOf(new Map([...fieldsAt(behind, first.index + 1), ["type", parseJson(type)?.value]]));
}

/**
 * The end of a line, from behind the last bracket but the one that closes the line.
 *
 * Looked for by hand: an expression that is tried at each comma would read the same end again and again.
 */
function endBehindBody(text: string): string {
  const filled = text.trimEnd().length;
  let start = text[filled - 1] === "}" ? filled - 1 : filled;
  while (start > 0 && !"{}[]".includes(text.charAt(start - 1))) start--;
  return text.slice(start);
}

/** The fields that stand one behind the other from a place on, as far as they are legible; the first of each name. */
function fieldsAt(text: string, start: number): Map<unknown, unknown> {
  const fields = new Map<unknown, unknown>();
  FIELD.lastIndex = start;
  for (let found = FIELD.exec(text); found !== null; found = FIELD.exec(text)) {
    const [name, value] = [parseJson(found[1] ?? ""), parseJson(found[2] ?? "")];
    if (name === undefined || value === undefined) break;
    if (!fields.has(name.value)) fields.set(name.value, value.value);
    if (found[3] === "") break;
  }
  return fields;
}

/** The head that fields make, if they are all there. */
function headOf(fields: ReadonlyMap<unknown, unknown>): JsonRecord | undefined {
  const [type, id, parentId, timestamp] = ["type", "id", "parentId", "timestamp"].map((name) =>
    fields.get(name),
  );
  if (typeof type !== "string" || type === "session" || typeof id !== "string") return undefined;
  if (parentId !== null && typeof parentId !== "string") return undefined;
  if (typeof timestamp !== "string" && typeof timestamp !== "number") return undefined;
  return { type, id, parentId, timestamp };
}
