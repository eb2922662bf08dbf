import { toContentBlocks, toRecord } from "../../core/context/entry-fields.ts";
import { toText } from "../../core/context/message-parts.ts";
import { toWellFormedText } from "../../core/format/well-formed-text.ts";
import { hashSha256 } from "../../session/fs/digest.ts";
import type { ConversionIssues } from "../convert/conversion-issue.ts";
import { makePlaceholder, toDataUrl, toImage } from "../convert/images.ts";
import type { AtifPart } from "./trajectory.ts";

/** A file to write next to a trajectory. */
export interface AtifAsset {
  /** Path relative to the document, with `/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Extensions of the image types that ATIF allows. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["image/jpeg", "jpg"],
  ["image/png", "png"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
]);

/** Converts content to messages and results of a trajectory, and collects the images as files. */
export class ContentWriter {
  readonly #folder: string | undefined;
  readonly #issues: ConversionIssues;
  readonly #assets = new Map<string, AtifAsset>();

  /** @param folder - Folder of the images, relative to the document; undefined for `data:` URLs. */
  constructor(folder: string | undefined, issues: ConversionIssues) {
    this.#folder = folder?.replace(/\/+$/, "");
    this.#issues = issues;
  }

  /** The files to write, each once. */
  get assets(): AtifAsset[] {
    return [...this.#assets.values()];
  }

  /** Returns content as a string if it is at most one text, else as parts; undefined if there is none. */
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
    const bytes = image === undefined ? undefined : decodeBase64(image.data);
    if (image === undefined || extension === undefined || bytes === undefined) {
      const message = `An image of the type ${toText(mimeType) || "unknown"} is replaced by a text: ATIF has JPEG, PNG, GIF, and WebP.`;
      this.#issues.report("CONTENT_REPLACED", -1, message, { entryId });
      return makePlaceholder("image", toWellFormedText(toText(mimeType)));
    }
    const path =
      this.#folder === undefined ? toDataUrl(image) : this.#addAsset(this.#folder, extension, bytes);
    return { type: "image", source: { media_type: image.mimeType, path } };
  }

  #addAsset(folder: string, extension: string, bytes: Uint8Array): string {
    const name = `${hashSha256(bytes)}.${extension}`;
    const path = folder === "" ? name : `${folder}/${name}`;
    this.#assets.set(path, { path, bytes });
    return path;
  }
}

/** Decodes base64; undefined if it is damaged. */
function decodeBase64(data: string): Uint8Array | undefined {
  const digits = data.replace(/\s+/g, "").replace(/=+$/, "");
  if (digits === "" || digits.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(digits)) return undefined;
  return Uint8Array.from(atob(digits), (char) => char.charCodeAt(0));
}
