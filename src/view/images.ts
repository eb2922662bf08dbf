import { textOf } from "../context/message-parts.ts";

/** Kinds of images that a browser draws and that hold nothing but pixels. */
const SHOWN_TYPES = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/bmp",
]);

const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/** Tells whether a stored image can be put into a `data:` address as it stands. */
export function isShownImage(mimeType: unknown, data: unknown): boolean {
  return SHOWN_TYPES.has(textOf(mimeType)) && isBase64(textOf(data));
}

/** Tells whether a browser can decode a text: padding may be left out, and lines may be broken. */
function isBase64(text: string): boolean {
  const joined = text.replace(/[\r\n]+/g, "");
  const digits = joined.length % 4 === 0 ? joined.replace(/={1,2}$/, "") : joined;
  return digits !== "" && digits.length % 4 !== 1 && !NOT_BASE64.test(digits);
}
