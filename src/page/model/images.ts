import { textOf } from "./fields.ts";

/** Kinds of images that a browser draws and that hold nothing but pixels. */
const SHOWN_TYPES = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/bmp",
]);

const NOT_BASE64 = /[^A-Za-z0-9+/=\r\n]/;

/** Tells whether a stored image can be put into a `data:` address as it stands. */
export function isShownImage(mimeType: unknown, data: unknown): boolean {
  const text = textOf(data);
  return SHOWN_TYPES.has(textOf(mimeType)) && text !== "" && !NOT_BASE64.test(text);
}
