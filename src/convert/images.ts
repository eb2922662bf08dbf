import type { ImageContent, TextContent } from "../schema/content.ts";

const DATA_URL = /^data:([^;,]+)(?:;[^;,]*)*;base64,(.*)$/s;

/** Writes an image as a `data:` URL. */
export function dataUrlOf(image: ImageContent): string {
  return `data:${image.mimeType};base64,${image.data}`;
}

/** Reads an image out of a `data:` URL; undefined if it is another address, or no image. */
export function imageOfDataUrl(url: unknown): ImageContent | undefined {
  const [, mimeType, data] = typeof url === "string" ? (DATA_URL.exec(url) ?? []) : [];
  return imageOf(mimeType, data);
}

/** Makes an image of base64; undefined if it is none. */
export function imageOf(mimeType: unknown, data: unknown): ImageContent | undefined {
  if (typeof mimeType !== "string" || typeof data !== "string" || data === "") return undefined;
  return mimeType.startsWith("image/") ? { type: "image", data, mimeType } : undefined;
}

/** Stands for content that a message of ours cannot hold, such as a document or an image at an address. */
export function placeholder(kind: string, name: unknown): TextContent {
  return { type: "text", text: typeof name === "string" && name !== "" ? `[${kind}: ${name}]` : `[${kind}]` };
}
