/** Decoded string, and the start of each of its characters in the encoded string. */
export interface SpelledText {
  readonly text: string;
  /** One element more than characters; undefined if the string contains no escapes. */
  readonly starts: Uint32Array | undefined;
}

/** JSON escape sequence. */
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;

const LETTERS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Decodes every JSON escape in a string, even if the string is not valid JSON; undefined if it contains none. */
export function unescapeText(text: string): string | undefined {
  if (!text.includes("\\")) return undefined;
  const decoded = text.replace(ESCAPE, (_, code?: string, letter?: string) => decodeEscape(code, letter));
  return decoded === text ? undefined : decoded;
}

/** Decodes a string a number of times, and records the origin of each character; undefined if a step finds no escapes. */
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
