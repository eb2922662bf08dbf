/** Image as stored in an entry. */
export interface StoredImage {
  readonly mimeType: string;
  /** Encoded in Base64. */
  readonly data: string;
}

/** Image types that browsers display and that contain only pixels. */
const SHOWN_TYPES = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/** Returns an image as a `data:` URL; undefined if it may contain more than pixels or cannot be decoded. */
export function toImageAddress({ mimeType, data }: StoredImage): string | undefined {
  return SHOWN_TYPES.test(mimeType) && isBase64Data(data) ? `data:${mimeType};base64,${data}` : undefined;
}

/** Returns whether a browser can decode a string. Padding may be missing, and the string may contain line breaks. */
function isBase64Data(text: string): boolean {
  const joined = text.replace(/[\r\n]+/g, "");
  const digits = joined.length % 4 === 0 ? joined.replace(/={1,2}$/, "") : joined;
  return digits !== "" && digits.length % 4 !== 1 && !NOT_BASE64.test(digits);
}
