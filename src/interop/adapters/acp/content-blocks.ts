import { toRecord } from "../../../core/context/entry-fields.ts";
import { toImageAddress } from "../../../core/facts/images.ts";
import { ARRAY, assertArgument } from "../../../core/format/arguments.ts";
import type { JsonObject } from "../../../core/format/json.ts";
import type { UserMessage } from "../../../core/format/message.ts";
import { toWellFormedText } from "../../../core/format/well-formed-text.ts";
import type { UserBlock } from "../../convert/dialect.ts";
import { makePlaceholder, toImage } from "../../convert/images.ts";
import { toStoredData } from "../stored-data.ts";
import { ACP_DETAIL, type AcpContentBlock, type AcpResource } from "./acp-types.ts";

/**
 * Reads a content block, without fields that only a user interface needs; undefined if it is not a valid protocol block.
 */
export function readBlock(value: unknown): AcpContentBlock | undefined {
  const { type, text, data, mimeType, uri, name, title, description, resource } = toRecord(value);
  switch (type) {
    case "text":
      return typeof text === "string" ? { type, text: toWellFormedText(text) } : undefined;
    case "image":
      return typeof data === "string" && typeof mimeType === "string"
        ? { type, data: toWellFormedText(data), mimeType: toWellFormedText(mimeType), ...pickTexts({ uri }) }
        : undefined;
    case "audio":
      return typeof data === "string" && typeof mimeType === "string" ? { type, data, mimeType } : undefined;
    case "resource_link":
      return typeof name === "string" && typeof uri === "string"
        ? { type, name, uri, ...pickTexts({ title, description, mimeType }) }
        : undefined;
    case "resource": {
      const embedded = readResource(toRecord(resource));
      return embedded && { type, resource: embedded };
    }
    default:
      return undefined;
  }
}

function readResource({ uri, text, blob, mimeType }: ReturnType<typeof toRecord>): AcpResource | undefined {
  if (typeof uri !== "string") return undefined;
  if (typeof text === "string") return { uri, text, ...pickTexts({ mimeType }) };
  return typeof blob === "string" ? { uri, blob, ...pickTexts({ mimeType }) } : undefined;
}

function pickTexts<Name extends string>(
  fields: { readonly [Field in Name]: unknown },
): { [Field in Name]?: string } {
  const kept: { [Field in Name]?: string } = {};
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === "string") kept[name] = toWellFormedText(value);
  }
  return kept;
}

/** Converts a protocol block to a message block. Content that a message cannot contain is converted to text. */
export function fromBlock(block: AcpContentBlock): UserBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image": {
      const image = toImage(block.mimeType, block.data);
      const isImage = image !== undefined && toImageAddress(image) !== undefined;
      return isImage ? image : makePlaceholder("image", block.uri || block.mimeType);
    }
    case "audio":
      return makePlaceholder("audio", block.mimeType);
    case "resource_link":
      return makePlaceholder(block.name, block.uri);
    case "resource":
      return "text" in block.resource
        ? { type: "text", text: `[resource: ${block.resource.uri}]\n${block.resource.text}` }
        : makePlaceholder("resource", block.resource.uri);
  }
}

/** Converts a stored block to a protocol block; undefined if the block has no content. */
export function toBlock(stored: unknown): AcpContentBlock | undefined {
  const { type, text, data, mimeType } = toRecord(stored);
  if (type === "text") return typeof text === "string" && text !== "" ? { type, text } : undefined;
  if (type !== "image") return undefined;
  const image = toImage(mimeType, data);
  return image !== undefined && toImageAddress(image) !== undefined
    ? { type, data: image.data, mimeType: image.mimeType }
    : makePlaceholder("image", mimeType);
}

/** Returns whether a message block can represent everything in a protocol block. */
export function isWholeBlock(block: AcpContentBlock): boolean {
  const again = toBlock(fromBlock(block));
  return again?.type === block.type && !("uri" in block);
}

/** User message without a timestamp. */
type Question = Pick<UserMessage, "role" | "content"> & { details?: JsonObject };

/**
 * Creates a user message from an Agent Client Protocol prompt, for use with `appendMessage`.
 *
 * The text of embedded resources is converted to text blocks. Links, audio, and invalid images are replaced with bracketed notes.
 * The original blocks are kept in `details`, and `toAcpUpdates` sends them again.
 *
 * @throws {TypeError} If a block is not a valid protocol block.
 */
export function fromAcpPrompt(prompt: readonly object[]): Question {
  assertArgument("prompt", prompt, ARRAY);
  return makeQuestion(
    prompt.map((part, at) => {
      const block = readBlock(part);
      if (block !== undefined) return block;
      throw new TypeError(
        `Block ${at} of the prompt is not valid: it needs a known type and the fields of that type.`,
      );
    }),
  );
}

/** Creates a user message from parsed blocks. */
export function makeQuestion(blocks: readonly AcpContentBlock[]): Question {
  const isWhole = blocks.every(isWholeBlock);
  return {
    role: "user",
    content: blocks.map(fromBlock),
    ...(!isWhole && { details: { [ACP_DETAIL]: toStoredData({ content: blocks }, "a prompt") } }),
  };
}
