/** A text, and where each of its characters begins in the text that spells it. */
export interface SpelledText {
  readonly text: string;
  /** One more than characters; undefined if the text spells itself. */
  readonly starts: Uint32Array | undefined;
}

/** An escape of JSON. */
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;

const LETTERS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Decodes every escape of JSON in a text, whatever else it is; undefined if it holds none. */
export function unescapeText(text: string): string | undefined {
  if (!text.includes("\\")) return undefined;
  const decoded = text.replace(ESCAPE, (_, code?: string, letter?: string) => decodeEscape(code, letter));
  return decoded === text ? undefined : decoded;
}

/** Decodes a text so many times, and keeps where each character comes from; undefined if that goes no further. */
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
