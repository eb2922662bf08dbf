/** An image as an entry holds it. */
export interface StoredImage {
  readonly mimeType: string;
  /** In base64. */
  readonly data: string;
}

/** Kinds of images that a browser draws and that hold nothing but pixels. */
const SHOWN_TYPES = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/** Returns an image as a `data:` address; undefined if it holds anything but pixels, or cannot be decoded. */
export function toImageAddress({ mimeType, data }: StoredImage): string | undefined {
  return SHOWN_TYPES.test(mimeType) && isBase64Data(data) ? `data:${mimeType};base64,${data}` : undefined;
}

/** Tells whether a browser can decode a text: padding may be left out, and lines may be broken. */
function isBase64Data(text: string): boolean {
  const joined = text.replace(/[\r\n]+/g, "");
  const digits = joined.length % 4 === 0 ? joined.replace(/={1,2}$/, "") : joined;
  return digits !== "" && digits.length % 4 !== 1 && !NOT_BASE64.test(digits);
}
