/** Decoded string, and the offset of each of its characters in the encoded string. */
export interface SpelledText {
  readonly text: string;
  /** One more element than the string has characters; undefined if the string contains no escapes. */
  readonly starts: Uint32Array | undefined;
}

/** JSON escape sequence. */
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;

const LETTERS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Decodes all JSON escapes in a string, even if the string is not valid JSON. Returns undefined if there are none. */
export function unescapeText(text: string): string | undefined {
  if (!text.includes("\\")) return undefined;
  const decoded = text.replace(ESCAPE, (_, code?: string, letter?: string) => decodeEscape(code, letter));
  return decoded === text ? undefined : decoded;
}

/**
 * Decodes a string repeatedly, and records the original offset of each character. Returns undefined if a step finds no escapes.
 */
export function unescapeTimes(text: string, times: number): SpelledText | undefined {
  let spelled: SpelledText | undefined = { text, starts: undefined };
  for (let i = 0; i < times && spelled !== undefined; i++) spelled = unescapeOnce(spelled);
  return spelled;
}

function unescapeOnce({ text, starts }: SpelledText): SpelledText | undefined {
  const decoded = unescapeText(text);
  if (decoded === undefined) return undefined;
  const next = new Uint32Array(decoded.length + 1);
  const findStart = (at: number) => starts?.[at] ?? at;
  let [at, length] = [0, 0];
  for (const { 0: spelling, index } of text.matchAll(ESCAPE)) {
    while (at < index) next[length++] = findStart(at++);
    next[length++] = findStart(at);
    at += spelling.length;
  }
  while (at <= text.length) next[length++] = findStart(at++);
  return { text: decoded, starts: next };
}

function decodeEscape(code: string | undefined, letter = ""): string {
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return LETTERS[letter] ?? letter;
}
