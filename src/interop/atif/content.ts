import { toContentBlocks, toRecord } from "../../core/context/entry-fields.ts";
import { toText } from "../../core/context/message-parts.ts";
import type { ImageContent } from "../../core/format/content.ts";
import { toWellFormedText } from "../../core/format/well-formed-text.ts";
import { hashSha256 } from "../../session/fs/digest.ts";
import type { ConversionIssues } from "../convert/conversion-issue.ts";
import { makePlaceholder, toDataUrl, toImage } from "../convert/images.ts";
import type { AtifPart } from "./trajectory.ts";

/** A file to write next to a trajectory. */
export interface AtifAsset {
  /** Path relative to the document, with `/` as the separator. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** File extensions of the image types that ATIF allows. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["image/jpeg", "jpg"],
  ["image/png", "png"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
]);

/** Converts the content of messages and results and collects the images as files. */
export class ContentWriter {
  readonly #folder: string | undefined;
  readonly #issues: ConversionIssues;
  readonly #assets = new Map<string, AtifAsset>();

  /** @param folder - Folder for images, relative to the document; undefined to use `data:` URLs. */
  constructor(folder: string | undefined, issues: ConversionIssues) {
    this.#folder = folder?.replace(/\/+$/, "");
    this.#issues = issues;
  }

  /** Files to write, without duplicates. */
  get assets(): AtifAsset[] {
    return [...this.#assets.values()];
  }

  /** Returns a string if the content is a single text part, or its parts otherwise; undefined if there is no content. */
  write(content: unknown, entryId: string): string | AtifPart[] | undefined {
    const parts = toContentBlocks(content).flatMap((block) => this.#writeBlock(block, entryId));
    const [first] = parts;
    if (first === undefined) return undefined;
    return parts.length === 1 && first.type === "text" ? first.text : parts;
  }

  #writeBlock(block: unknown, entryId: string): AtifPart[] {
    const { type, text, mimeType, data } = toRecord(block);
    if (type === "text") return [{ type: "text", text: toWellFormedText(toText(text)) }];
    if (type === "image") return [this.#writeImage(mimeType, data, entryId)];
    this.#issues.report("BLOCK_DROPPED", -1, `A ${toText(type) || "block"} has no counterpart in ATIF.`, {
      entryId,
    });
    return [];
  }

  #writeImage(mimeType: unknown, data: unknown, entryId: string): AtifPart {
    const image = toImage(mimeType, data);
    const extension = EXTENSIONS.get(image?.mimeType ?? "");
    const path = image === undefined || extension === undefined ? undefined : this.#toPath(image, extension);
    if (image !== undefined && path !== undefined)
      return { type: "image", source: { media_type: image.mimeType, path } };
    const kind = toText(mimeType) || "image of unknown type";
    const message = `An ${kind} was replaced with text: it is damaged, or is not a JPEG, PNG, GIF, or WebP.`;
    this.#issues.report("CONTENT_REPLACED", -1, message, { entryId });
    return makePlaceholder("image", toWellFormedText(toText(mimeType)));
  }

  /** Returns the URL or path of an image; undefined if it must be a file but cannot be decoded. */
  #toPath(image: ImageContent, extension: string): string | undefined {
    if (this.#folder === undefined) return toDataUrl(image);
    const bytes = decodeImage(image.data);
    return bytes === undefined ? undefined : this.#addAsset(this.#folder, extension, bytes);
  }

  #addAsset(folder: string, extension: string, bytes: Uint8Array): string {
    const name = `${hashSha256(bytes)}.${extension}`;
    const path = folder === "" ? name : `${folder}/${name}`;
    this.#assets.set(path, { path, bytes });
    return path;
  }
}

/** Decodes an image's base64 data; undefined if it is damaged. */
function decodeImage(data: string): Uint8Array | undefined {
  const digits = data.replace(/\s+/g, "").replace(/=+$/, "");
  if (digits === "" || digits.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(digits)) return undefined;
  return Uint8Array.from(atob(digits), (char) => char.charCodeAt(0));
}
