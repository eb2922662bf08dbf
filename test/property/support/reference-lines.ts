/** JSON object. */
export type Fields = { readonly [name: string]: unknown };

/** Content of a line. */
export type Finding =
  | { readonly kind: "record"; readonly fields: Fields; readonly text: string }
  /** The head is legible, the body is not. */
  | { readonly kind: "head"; readonly fields: Fields; readonly text: string }
  /** A value that is no record. */
  | { readonly kind: "value" }
  /** Could not be read; `countsAs` records were lost. */
  | { readonly kind: "damage"; readonly countsAs: 0 | 1 };

/** Line of a file that is not blank. */
export interface ReferenceLine {
  /** 1-based. */
  readonly line: number;
  readonly findings: readonly Finding[];
  /** Whether it is an unfinished last line. */
  readonly isTorn: boolean;
  /**
   * Result of a reader of heads, if it differs. To that reader, a line that begins with a head in the usual spelling, ends as a
   * record does, and has no second timestamp is one entry: damage of the body is found when the body is read. This is the only
   * intended difference.
   */
  readonly asOne: Finding | undefined;
  /** Whether it would do so even after reading lines in other spellings. */
  readonly isOneInAnySpelling: boolean;
}

const BLANK = /^[ \t\r]*$/;
const BLOCKS = ["text", "image", "thinking", "toolCall"];
const KNOWN =
  "message|custom_message|custom|compaction|model_change|thinking_level_change|label|branch_summary|session_info|usage|context_edit";

const USUAL_HEAD = new RegExp(
  `^\\{"type":"(${KNOWN})","id":"([ !#-[\\]-~]{1,255})","parentId":(null|"[ !#-[\\]-~]{0,255}"),"timestamp":"([ !#-[\\]-~]{0,255})"(,.*)?\\}$`,
  "s",
);

/** Splits a file into lines and returns the content of each: parses everything, without shortcuts. */
export function referenceLines(bytes: Uint8Array): ReferenceLine[] {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const pieces = splitAtLineBreaks(hasMark ? bytes.subarray(3) : bytes);
  return pieces.flatMap((piece, i) => {
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(piece);
    if (BLANK.test(text)) return [];
    const isLast = i === pieces.length - 1;
    const whole = text.replace(/\r$/, "");
    const one = isLast ? undefined : asOne(whole);
    return [
      { line: i + 1, ...readLine(text, isLast), asOne: one, isOneInAnySpelling: namesNoSecondTime(whole) },
    ];
  });
}

function splitAtLineBreaks(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let start = 0;
  for (let i = 0; i <= bytes.length; i++) {
    if (i < bytes.length && bytes[i] !== 0x0a) continue;
    pieces.push(bytes.subarray(start, i));
    start = i + 1;
  }
  return pieces;
}

function readLine(whole: string, isUnterminated: boolean): { findings: Finding[]; isTorn: boolean } {
  const [, content = whole, zeros = ""] = /^(.*?)([\0 \t\r]*\0[ \t\r]*)?$/s.exec(whole) ?? [];
  const text = content.replace(/\r$/, "");
  const zeroDamage: Finding[] = zeros === "" ? [] : [{ kind: "damage", countsAs: text === "" ? 1 : 0 }];
  if (isUnterminated) return readUnterminated(text, zeroDamage);
  if (text === "") return { findings: zeroDamage, isTorn: false };
  const value = parsed(text);
  const found = value === undefined ? splitParts(text) : [asFinding(value, text)];
  return { findings: [...found, ...zeroDamage], isTorn: false };
}

/** Reads a line that may still be in the middle of a write: its complete first records exist, the rest does not yet. */
function readUnterminated(text: string, zeroDamage: Finding[]): { findings: Finding[]; isTorn: boolean } {
  const findings: Finding[] = [];
  let border = 0;
  for (;;) {
    const start = border + (/^[ \t\r\0]*/.exec(text.slice(border))?.[0].length ?? 0);
    const end = text[start] === "{" ? endOfRecord(text, start, true) : -1;
    if (end === -1) break;
    const isBehindZeros = text.slice(border, start).includes("\0");
    const from = border === 0 && !isBehindZeros ? 0 : start;
    if (isBehindZeros) findings.push({ kind: "damage", countsAs: 0 });
    findings.push(asFinding(parsed(text.slice(start, end)), text.slice(from, end)));
    border = end;
  }
  const isDone = findings.length > 0 && BLANK.test(text.slice(border));
  return { findings: isDone ? [...findings, ...zeroDamage] : findings, isTorn: !isDone };
}

function asFinding(value: unknown, text: string): Finding {
  return isFields(value) && typeof value["type"] === "string"
    ? { kind: "record", fields: value, text: text.replace(/[ \t\r]*$/, "") }
    : { kind: "value" };
}

/** Splits a line that does not parse. */
function splitParts(text: string): Finding[] {
  const findings: Finding[] = [];
  let border = 0;
  let hasRecord = false;
  for (let at = 0; at < text.length; at++) {
    const end = text[at] === "{" ? endOfRecord(text, at, /^[ \t\r\0]*$/.test(text.slice(border, at))) : -1;
    if (end === -1) continue;
    findings.push(
      ...findDamage(text.slice(border, at), false),
      asFinding(parsed(text.slice(at, end)), text.slice(at, end)),
    );
    hasRecord = true;
    border = end;
    at = end - 1;
  }
  return [...findings, ...findDamage(text.slice(border), !hasRecord)];
}

function asOne(text: string): Finding | undefined {
  const usual = USUAL_HEAD.exec(text);
  if (usual === null || parsed(text) !== undefined) return undefined;
  const [, type, id, parentId, timestamp, body = ""] = usual;
  if (body.includes('"timestamp":"')) return undefined;
  return { kind: "head", fields: { type, id, parentId: parsed(parentId ?? ""), timestamp }, text };
}

function namesNoSecondTime(text: string): boolean {
  const [, type, , , , body = ""] = USUAL_HEAD.exec(text) ?? [];
  const times = body.match(/"timestamp"(:\d)?/g) ?? [];
  return times.length <= (type === "message" ? 1 : 0) && times.every((time) => time !== `"timestamp"`);
}

/** Whether a record begins with its head, in the usual spelling. */
export function isUsual(text: string): boolean {
  return USUAL_HEAD.test(text);
}

/** Returns one past the end of the record that begins here, or -1: the shortest text that parses is the record. */
function endOfRecord(text: string, start: number, isAtBorder: boolean): number {
  if (
    !isAtBorder &&
    !/^\{[ \t\r\0]*"(id|parentId|timestamp|customType|message|type)"/.test(text.slice(start))
  )
    return -1;
  for (let end = text.indexOf("}", start) + 1; end > 0; end = text.indexOf("}", end) + 1) {
    const value = parsed(text.slice(start, end));
    if (value !== undefined) return isRecord(value, isAtBorder) ? end : -1;
  }
  return -1;
}

/**
 * Whether a value is a record. At a border it needs a type other than a block's; inside a line it must look like an entry or a
 * header.
 */
function isRecord(value: unknown, isAtBorder: boolean): boolean {
  if (!isFields(value)) return false;
  const { type, id, timestamp } = value;
  if (typeof type !== "string") return false;
  if (isAtBorder && !BLOCKS.includes(type)) return true;
  if (type === "session") return typeof id === "string";
  const hasTime = typeof timestamp === "string" || typeof timestamp === "number";
  const hasPlace = typeof id === "string" && Object.hasOwn(value, "parentId");
  return hasTime && (hasPlace || KNOWN.split("|").includes(type));
}

function findDamage(gap: string, isWholeLine: boolean): Finding[] {
  if (BLANK.test(gap)) return [];
  const [, before = "", text = "", behind = ""] = /^([ \t\r\0]*)(.*?)([ \t\r\0]*)$/s.exec(gap) ?? [];
  if (text === "") return findZeros(before);
  const head = headInFront(text) ?? (isWholeLine ? headAround(text) : undefined);
  if (head === undefined) return [{ kind: "damage", countsAs: isWholeLine || /[{"]/.test(text) ? 1 : 0 }];
  return [...findZeros(before), { kind: "head", fields: head, text }, ...findZeros(behind)];
}

/** Returns zero bytes as damage that is not a record. */
function findZeros(blank: string): Finding[] {
  return blank.includes("\0") ? [{ kind: "damage", countsAs: 0 }] : [];
}

/** Returns the head of a line that, cut off after one of its scalar fields, is an object with the four fields. */
function headInFront(text: string, more: Fields = {}): Fields | undefined {
  for (let end = 1; end <= text.length; end++) {
    const cut = parsed(`${text.slice(0, end)}}`);
    if (!isFields(cut)) continue;
    if (Object.values(cut).some((value) => typeof value === "object" && value !== null)) return undefined;
    // A number at the cut may continue after it.
    const isCutNumber = /\d$/.test(text.slice(0, end)) && !/^[ \t\r,}]/.test(text.slice(end));
    const head = { ...cut, ...more };
    if (isHead(head) && !isCutNumber) return head;
  }
  return undefined;
}

/**
 * Returns the head of a line with its type first and the other fields after all values that are not scalars, as some writers
 * place it.
 */
function headAround(text: string): Fields | undefined {
  const [, spelled = ""] = /^\{\s*"type"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  for (let comma = text.indexOf(","); comma !== -1; comma = text.indexOf(",", comma + 1)) {
    const back = text.slice(comma + 1);
    if (!/^\s*"(id|parentId|timestamp)"\s*:[^{}[\]]*\}?$/.test(back)) continue;
    return headInFront(`{${back}`, { type: parsed(spelled) });
  }
  return undefined;
}

function isHead({ type, id, parentId, timestamp }: Fields): boolean {
  if (typeof type !== "string" || type === "session" || typeof id !== "string") return false;
  if (parentId !== null && typeof parentId !== "string") return false;
  return typeof timestamp === "string" || typeof timestamp === "number";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns whether a line begins with a complete record and is treated as a damaged one, because of the text after it: there it
 * matters whether the record arrived alone.
 */
export function hasHiddenRecord(bytes: Uint8Array): boolean {
  return referenceLines(bytes).some(
    ({ asOne, findings }) => asOne !== undefined && findings[0]?.kind === "record",
  );
}
