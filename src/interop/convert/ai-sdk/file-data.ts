import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { imageOfDataUrl } from "../images.ts";

/** First base64 characters of images. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  iVBORw0KGgo: "image/png",
  "/9j/": "image/jpeg",
  R0lGOD: "image/gif",
  UklGR: "image/webp",
};

/** Bytes per call: argument lists are bounded. */
const PIECE = 0x8000;

/**
 * Returns the data of a file as base64.
 *
 * @param data - Base64, a `data:` URL, bytes, or one of these in `{ type: "data", data }`.
 * @returns Undefined for an address or a reference.
 */
export function base64Of(data: unknown): string | undefined {
  if (data instanceof URL) return imageOfDataUrl(data.href)?.data;
  if (data instanceof Uint8Array) return encode(data);
  if (data instanceof ArrayBuffer) return encode(new Uint8Array(data));
  const { type, data: inner } = fieldsOf(data);
  if (type === "data") return base64Of(inner);
  if (typeof data !== "string") return undefined;
  if (data.startsWith("data:")) return imageOfDataUrl(data)?.data;
  return /^[a-z]+:\/\//i.test(data) ? undefined : data;
}

function encode(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += PIECE)
    binary += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(binary);
}

/** Returns the type of a file: from its part, or from an image's first bytes. */
export function mediaTypeOf(part: unknown, base64: string): unknown {
  const { mediaType, type, image, data = image } = fieldsOf(part);
  if (typeof mediaType === "string" && /^[^*]+\/[^*]+$/.test(mediaType)) return mediaType;
  const url = data instanceof URL ? data.href : data;
  const known = Object.entries(BEGINNINGS).find(([beginning]) => base64.startsWith(beginning));
  return imageOfDataUrl(url)?.mimeType ?? known?.[1] ?? (type === "image" ? "image/png" : mediaType);
}
