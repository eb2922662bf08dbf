import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { imageAddress } from "../../../core/facts/images.ts";
import { wellFormedText } from "../../../core/format/well-formed-text.ts";
import type { UserBlock } from "../../convert/dialect.ts";
import { imageOf, placeholder } from "../../convert/images.ts";
import type { AcpContentBlock, AcpResource } from "./acp-types.ts";

/** Reads a block of content, without what only a user interface needs; undefined if it is none of the protocol. */
export function readBlock(value: unknown): AcpContentBlock | undefined {
  const { type, text, data, mimeType, uri, name, title, description, resource } = fieldsOf(value);
  switch (type) {
    case "text":
      return typeof text === "string" ? { type, text: wellFormedText(text) } : undefined;
    case "image":
      return typeof data === "string" && typeof mimeType === "string"
        ? { type, data: wellFormedText(data), mimeType: wellFormedText(mimeType), ...texts({ uri }) }
        : undefined;
    case "audio":
      return typeof data === "string" && typeof mimeType === "string" ? { type, data, mimeType } : undefined;
    case "resource_link":
      return typeof name === "string" && typeof uri === "string"
        ? { type, name, uri, ...texts({ title, description, mimeType }) }
        : undefined;
    case "resource": {
      const embedded = readResource(fieldsOf(resource));
      return embedded && { type, resource: embedded };
    }
    default:
      return undefined;
  }
}

function readResource({ uri, text, blob, mimeType }: ReturnType<typeof fieldsOf>): AcpResource | undefined {
  if (typeof uri !== "string") return undefined;
  if (typeof text === "string") return { uri, text, ...texts({ mimeType }) };
  return typeof blob === "string" ? { uri, blob, ...texts({ mimeType }) } : undefined;
}

function texts<Name extends string>(
  fields: { readonly [Field in Name]: unknown },
): { [Field in Name]?: string } {
  const kept: { [Field in Name]?: string } = {};
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === "string") kept[name] = wellFormedText(value);
  }
  return kept;
}

/** Makes a block of a message from one of the protocol; what a message cannot hold becomes a text. */
export function fromBlock(block: AcpContentBlock): UserBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image": {
      const image = imageOf(block.mimeType, block.data);
      const isImage = image !== undefined && imageAddress(image) !== undefined;
      return isImage ? image : placeholder("image", block.uri || block.mimeType);
    }
    case "audio":
      return placeholder("audio", block.mimeType);
    case "resource_link":
      return placeholder(block.name, block.uri);
    case "resource":
      return "text" in block.resource
        ? { type: "text", text: `[resource: ${block.resource.uri}]\n${block.resource.text}` }
        : placeholder("resource", block.resource.uri);
  }
}

/** Makes a block of the protocol from a stored one; undefined for blocks that say nothing. */
export function toBlock(stored: unknown): AcpContentBlock | undefined {
  const { type, text, data, mimeType } = fieldsOf(stored);
  if (type === "text") return typeof text === "string" && text !== "" ? { type, text } : undefined;
  if (type !== "image") return undefined;
  const image = imageOf(mimeType, data);
  return image !== undefined && imageAddress(image) !== undefined
    ? { type, data: image.data, mimeType: image.mimeType }
    : placeholder("image", mimeType);
}

/** Tells whether the block of a message is all that one of the protocol says. */
export function isWholeBlock(block: AcpContentBlock): boolean {
  const again = toBlock(fromBlock(block));
  return again?.type === block.type && !("uri" in block);
}
