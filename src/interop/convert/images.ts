import type { ImageContent, TextContent } from "../../core/format/content.ts";

const DATA_URL = /^data:([^;,]+)(?:;[^;,]*)*;base64,(.*)$/s;

/** Writes an image as a `data:` URL. */
export function toDataUrl(image: ImageContent): string {
  return `data:${image.mimeType};base64,${image.data}`;
}

/** Reads an image from a `data:` URL; undefined for other URLs and types. */
export function parseDataUrl(url: unknown): ImageContent | undefined {
  const [, mimeType, data] = typeof url === "string" ? (DATA_URL.exec(url) ?? []) : [];
  return toImage(mimeType, data);
}

/** Creates an image from base64 data; undefined if the data is not an image. */
export function toImage(mimeType: unknown, data: unknown): ImageContent | undefined {
  if (typeof mimeType !== "string" || typeof data !== "string" || data === "") return undefined;
  return mimeType.startsWith("image/") ? { type: "image", data, mimeType } : undefined;
}

/** Creates placeholder text for content that a message cannot contain, such as a document or an image at a URL. */
export function makePlaceholder(kind: string, name?: unknown): TextContent {
  return { type: "text", text: typeof name === "string" && name !== "" ? `[${kind}: ${name}]` : `[${kind}]` };
}
