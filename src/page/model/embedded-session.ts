import { fieldsOf } from "../../context/entry-fields.ts";
import { textOf } from "../../context/message-parts.ts";
import type { LinkedSession } from "./linked-sessions.ts";

/** What the page was made from. */
export interface EmbeddedSession {
  /** The file, byte by byte. */
  readonly bytes: Uint8Array;
  /** Name of the file, without its folder. */
  readonly fileName: string;
  /** The entry at whose path the page opens; undefined for the session's leaf. */
  readonly leafId: string | undefined;
  /** Other sessions that exist, by the path or id by which this one names them. */
  readonly known: ReadonlyMap<string, LinkedSession>;
  /** Address at which a server tells what is appended; undefined in a file. */
  readonly liveUrl: string | undefined;
  /** Address of the list of sessions that this one was opened from. */
  readonly indexUrl: string | undefined;
}

/**
 * Reads what the command line put into the page: an object with the file's text, or with its bytes in base64 where they
 * are no valid UTF-8, so that line numbers and offsets are those of the file.
 *
 * @param json - Text of the block.
 */
export function readEmbedded(json: string): EmbeddedSession {
  const fields = fieldsOf(JSON.parse(json));
  const base64 = textOf(fields["base64"]);
  const bytes = base64 === "" ? new TextEncoder().encode(textOf(fields["text"])) : bytesOf(base64);
  return {
    bytes,
    fileName: textOf(fields["fileName"]),
    leafId: textOf(fields["leafId"]) || undefined,
    known: new Map(Object.entries(fieldsOf(fields["known"])).map(([name, one]) => [name, linkOf(one)])),
    liveUrl: textOf(fields["liveUrl"]) || undefined,
    indexUrl: textOf(fields["indexUrl"]) || undefined,
  };
}

function linkOf(value: unknown): LinkedSession {
  const { path, href } = fieldsOf(value);
  return { path: textOf(path), href: textOf(href) || undefined };
}

/** Decodes bytes as the command line writes them. */
export function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
