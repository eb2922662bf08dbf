import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { textOf } from "../../../core/context/message-parts.ts";
import { BytePattern } from "../../../core/jsonl/byte-pattern.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { unlessRefused } from "../../../session/files/skipped-files.ts";
import { namedSessionPath } from "../../../session/log/session-paths.ts";
import { looksLikePath } from "../session-argument.ts";

/** The word in the names of fields that speak of a session. */
const WORD = new BytePattern([..."session"].map((letter) => Buffer.from(letter + letter.toUpperCase())));

/** The rest of such a name, and what JSON writes between it and a text. */
const REST_OF_NAME = /^\w{0,40}"\s{0,20}:\s{0,20}"/;

/** Bytes in which that stands, and bytes of the longest text that is taken for a name. */
const REST_BYTES = 90;
const MOST_BYTES = 4000;

/** Bytes that a field with a name takes at most. */
export const NAME_BYTES = 64 + REST_BYTES + MOST_BYTES;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Of more names than this the rest is not looked up. */
const MOST_NAMES = 1000;

/**
 * Finds the sessions that a session names, such as those of its subagents, and that exist: by path, or by an id in the
 * same folder or in the one that goes by the session's name.
 *
 * @param path - Absolute path of the session; undefined if it has no file, so that only absolute paths lead anywhere.
 * @param pieces - The session, piece by piece; each repeats the last `NAME_BYTES` of the one before.
 * @returns Absolute paths, by the name that the session uses.
 */
export function namedSessions(path: string | undefined, pieces: Iterable<Buffer>): Map<string, string> {
  const names = new Set<string>();
  for (const piece of pieces) addNames(piece, names);
  const found = new Map<string, string>();
  if (names.size === 0) return found;
  const folder = path === undefined ? undefined : dirname(path);
  const files =
    path === undefined || folder === undefined
      ? []
      : [folder, join(folder, basename(path, ".jsonl"))].flatMap(sessionFilesIn);
  for (const name of names) {
    const file = looksLikePath(name) ? fileAt(namedSessionPath(name, path)) : fileWithId(files, name);
    if (file !== undefined && file !== path) found.set(name, file);
  }
  return found;
}

function addNames(bytes: Buffer, names: Set<string>): void {
  let at = WORD.find(bytes, 0, bytes.length);
  while (at !== -1 && names.size < MOST_NAMES) {
    const behind = at + WORD.length;
    const [rest = ""] = REST_OF_NAME.exec(bytes.toString("latin1", behind, behind + REST_BYTES)) ?? [];
    const name = rest === "" ? "" : textAt(bytes, behind + rest.length - 1);
    if (name !== "") names.add(name);
    at = WORD.find(bytes, behind, bytes.length);
  }
}

/** The text that JSON writes from a quotation mark on; empty if it does not end soon. */
function textAt(bytes: Buffer, start: number): string {
  const most = Math.min(bytes.length, start + MOST_BYTES);
  for (let end = start + 1; end < most; end++) {
    if (bytes[end] === BACKSLASH) end++;
    else if (bytes[end] === QUOTE) return textOf(parseJson(bytes.toString("utf8", start, end + 1))?.value);
  }
  return "";
}

function sessionFilesIn(folder: string): string[] {
  const names = unlessRefused(() => readdirSync(folder)) ?? [];
  return names.filter((name) => name.endsWith(".jsonl")).map((name) => join(folder, name));
}

function fileAt(path: string | undefined): string | undefined {
  if (!path?.endsWith(".jsonl")) return undefined;
  // What a session names may be missing, forbidden, or no path at all: then it is no link.
  return unlessRefused(() => statSync(path))?.isFile() ? path : undefined;
}

/** Names of session files end in their id, behind the time of their making. */
function fileWithId(files: readonly string[], id: string): string | undefined {
  return files.find((file) => {
    const name = basename(file, ".jsonl");
    return name === id || name.endsWith(`_${id}`);
  });
}
