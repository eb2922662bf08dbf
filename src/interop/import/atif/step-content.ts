import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import type { ImageContent } from "../../../core/format/content.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import type { UserBlock } from "../../convert/dialect.ts";
import { makePlaceholder, parseDataUrl, toImage } from "../../convert/images.ts";

/**
 * Reads a file that a document refers to and returns its content as base64. Returns undefined if the file does not exist or may
 * not be read.
 */
export type ReadAsset = (path: string, mediaType: unknown) => string | undefined;

/** Content of a message or a tool result. */
export interface StepContent {
  readonly blocks: UserBlock[];
  /** Parts that a message cannot contain and that were replaced with text. */
  readonly replaced: JsonRecord[];
}

/** Converts a string or an array of parts. Other values yield no content. */
export function convertContent(content: unknown, readAsset: ReadAsset | undefined): StepContent {
  if (typeof content === "string")
    return { blocks: content === "" ? [] : [{ type: "text", text: content }], replaced: [] };
  const blocks: UserBlock[] = [];
  const replaced: JsonRecord[] = [];
  for (const value of toArray(content)) {
    const part = toRecord(value);
    const block = convertPart(part, readAsset);
    blocks.push(block ?? makePlaceholder(toText(part["type"]) || "part", toRecord(part["source"])["path"]));
    if (block === undefined) replaced.push(part);
  }
  return { blocks, replaced };
}

function convertPart(part: JsonRecord, readAsset: ReadAsset | undefined): UserBlock | undefined {
  const { type, text, source } = part;
  if (type === "text" && typeof text === "string") return { type, text };
  return type === "image" ? convertImage(toRecord(source), readAsset) : undefined;
}

function convertImage(source: JsonRecord, readAsset: ReadAsset | undefined): ImageContent | undefined {
  const { media_type: mediaType, path } = source;
  if (typeof path !== "string") return undefined;
  return parseDataUrl(path) ?? toImage(mediaType, readAsset?.(path, mediaType));
}
