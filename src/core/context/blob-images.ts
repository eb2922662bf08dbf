import type { ImageContent, TextContent } from "../format/content.ts";
import type { AgentMessage, Message } from "../format/message.ts";
import { toRecord } from "./entry-fields.ts";

/** Reference to an image that oh-my-pi stores next to the sessions, identified by the digest of its bytes. */
const BLOB = /^blob:sha256:([0-9a-f]{64})$/i;

const BLOB_PREFIX = "blob:";

/**
 * Returns an image as Base64.
 *
 * @param digest - SHA-256 of its bytes, 64 lower-case hex characters.
 * @returns Undefined if the image does not exist.
 */
export type ReadBlob = (digest: string) => string | undefined;

/**
 * Replaces references with the images, or with a note if an image is missing.
 *
 * @returns The same object if it contains no references.
 * @remarks Cost: O(blocks), plus reading the images.
 */
export function withBlobImages(message: Message, readBlob?: ReadBlob): Message;
export function withBlobImages(message: AgentMessage, readBlob?: ReadBlob): AgentMessage;
export function withBlobImages(message: AgentMessage, readBlob?: ReadBlob): AgentMessage {
  switch (message.role) {
    case "user":
    case "toolResult":
    case "custom": {
      const { content } = message;
      if (!Array.isArray(content) || !content.some(isBlobImage)) return message;
      return { ...message, content: content.map((block) => resolveBlock(block, readBlob)) };
    }
    default:
      return message;
  }
}

/**
 * Returns the digests of the images that content references; undefined for a damaged reference.
 *
 * @returns Empty for content without references.
 */
export function listBlobDigests(content: unknown): (string | undefined)[] {
  return Array.isArray(content) ? content.filter(isBlobImage).map(({ data }) => findDigest(data)) : [];
}

function findDigest(data: string): string | undefined {
  return BLOB.exec(data)?.[1]?.toLowerCase();
}

function isBlobImage(block: unknown): block is ImageContent {
  const { type, data } = toRecord(block);
  return type === "image" && typeof data === "string" && data.startsWith(BLOB_PREFIX);
}

function resolveBlock(
  block: TextContent | ImageContent,
  readBlob: ReadBlob | undefined,
): TextContent | ImageContent {
  if (!isBlobImage(block)) return block;
  const digest = findDigest(block.data);
  const data = digest === undefined ? undefined : readBlob?.(digest);
  if (data !== undefined) return { ...block, data };
  return { type: "text", text: `[An image is missing here: ${digest ?? "its name is damaged"}]` };
}
