import type { JsonRecord } from "../format/json.ts";
import { decodeText, parseJson } from "./decode.ts";

const STRING = `"(?:[^"\\\\]|\\\\.)*"`;
const SCALAR = `${STRING}|null|true|false|-?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?(?=[\\s,}])`;

/** Matches a field with a scalar value, and the comma after it. A number is complete only if another character follows. */
const FIELD = new RegExp(`\\s*(${STRING})\\s*:\\s*(${SCALAR})\\s*(,?)`, "y");
const OPENING = /\s*\{/y;
const TYPE_IN_FRONT = new RegExp(`^\\s*\\{\\s*"type"\\s*:\\s*(${STRING})`);
const FIRST_BEHIND = /,\s*"(?:id|parentId|timestamp)"\s*:/;

/** Maximum number of bytes to search for a head. A head is shorter than this. */
const WINDOW_BYTES = 1024;

/**
 * Reads the head of a line that does not parse, at its start or, as some writers place it, around its body.
 *
 * @param mayStandBehind - Whether a head at the end of the line may belong to this entry.
 * @returns The four head fields as a record, or undefined if they are not legible.
 */
export function readLegibleHead(bytes: Uint8Array, mayStandBehind: boolean): JsonRecord | undefined {
  const front = decodeText(bytes.subarray(0, WINDOW_BYTES));
  OPENING.lastIndex = 0;
  const inFront = OPENING.test(front) ? makeHead(readFields(front, OPENING.lastIndex)) : undefined;
  if (inFront !== undefined || !mayStandBehind) return inFront;
  const type = TYPE_IN_FRONT.exec(front)?.[1];
  if (type === undefined) return undefined;
  const behind = getEndAfterBody(decodeText(bytes.subarray(Math.max(0, bytes.length - WINDOW_BYTES))));
  const first = FIRST_BEHIND.exec(behind);
  if (first === null) return undefined;
  return makeHead(new Map([...readFields(behind, first.index + 1), ["type", parseJson(type)?.value]]));
}

/**
 * Returns the end of a line, starting after the last bracket other than the closing one.
 *
 * Searches manually, because a regular expression tried at each comma would read the same end repeatedly.
 */
function getEndAfterBody(text: string): string {
  const filled = text.trimEnd().length;
  let start = text[filled - 1] === "}" ? filled - 1 : filled;
  while (start > 0 && !"{}[]".includes(text.charAt(start - 1))) start--;
  return text.slice(start);
}

/** Returns the legible fields that follow an index without a gap. If several fields have the same name, the first one is used. */
function readFields(text: string, start: number): Map<unknown, unknown> {
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

function makeHead(fields: ReadonlyMap<unknown, unknown>): JsonRecord | undefined {
  const [type, id, parentId, timestamp] = ["type", "id", "parentId", "timestamp"].map((name) =>
    fields.get(name),
  );
  if (typeof type !== "string" || type === "session" || typeof id !== "string") return undefined;
  if (parentId !== null && typeof parentId !== "string") return undefined;
  if (typeof timestamp !== "string" && typeof timestamp !== "number") return undefined;
  return { type, id, parentId, timestamp };
}
