import { bytes } from "../../core/facts/number-text.ts";

/** Writes a stored value as indented JSON; empty for what JSON leaves out. One nested deeper than the stack is not shown. */
export function prettyJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? "";
  } catch (error) {
    if (error instanceof RangeError) return "(nested too deeply to show)";
    throw error;
  }
}

interface StoredImage {
  readonly mimeType: string;
  /** In base64. */
  readonly data: string;
}

/** Kinds of images that a browser draws and that hold nothing but pixels. */
const SHOWN_TYPES = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/** Returns an image as a `data:` address; undefined if it holds anything but pixels, or cannot be decoded. */
export function imageAddress({ mimeType, data }: StoredImage): string | undefined {
  return SHOWN_TYPES.test(mimeType) && isBase64(data) ? `data:${mimeType};base64,${data}` : undefined;
}

/** Tells whether a browser can decode a text: padding may be left out, and lines may be broken. */
function isBase64(text: string): boolean {
  const joined = text.replace(/[\r\n]+/g, "");
  const digits = joined.length % 4 === 0 ? joined.replace(/={1,2}$/, "") : joined;
  return digits !== "" && digits.length % 4 !== 1 && !NOT_BASE64.test(digits);
}

/** Writes of what type an image is, and how large. */
export function imageText({ mimeType, data }: StoredImage): string {
  return `${mimeType || "of no known type"}, ${bytes(Math.floor((data.length * 3) / 4))}`;
}
