import { posix } from "node:path";
import { readAnchors, readCodeSpans, readLinks } from "./markdown.ts";

/** Reference in a document or a comment. */
interface Reference {
  /** File that holds the reference. */
  readonly from: string;
  readonly line: number;
  /** Path from the checkout's folder, with `#anchor` or without. */
  readonly to: string;
}

/** Lists the links of a document to files of the checkout. */
export function localLinks(path: string, markdown: string): Reference[] {
  return readLinks(markdown)
    .filter(({ target }) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
    .map(({ line, target }) => ({
      from: path,
      line,
      to: target.startsWith("#") ? `${path}${target}` : posix.join(posix.dirname(path), target),
    }));
}

/** Lists the sections of the documents that a source file's comments name, such as docs/format.md#header. */
export function namedDocuments(path: string, text: string): Reference[] {
  return text.split("\n").flatMap((line, index) =>
    [...line.matchAll(/\bdocs\/[\w/-]+\.md(?:#[\w-]+)?/g)].map(([to]) => ({
      from: path,
      line: index + 1,
      to,
    })),
  );
}

/**
 * Checks that every reference resolves.
 *
 * @param references - References to check.
 * @param read - Returns a file's text, or undefined if there is no file at the path; a folder may return "".
 * @returns One line for each dead reference.
 */
export function checkReferences(
  references: readonly Reference[],
  read: (path: string) => string | undefined,
): string[] {
  return references.flatMap(({ from, line, to }) => {
    const [path = "", anchor] = to.split("#");
    const text = read(path);
    if (text === undefined) return [`${from}:${line} points to ${path}, which is not there`];
    if (anchor === undefined || !path.endsWith(".md") || readAnchors(text).has(anchor)) return [];
    return [`${from}:${line} points to ${path}, which has no heading #${anchor}`];
  });
}

/** Extensions of source files that documents may omit: `session/log/file-log` is src/session/log/file-log.ts. */
const COMPLETIONS = ["", ".ts", ".tsx"];

/**
 * Lists the missing files that a document names in inline code.
 *
 * @param isRoom - Returns whether a folder is in the checkout, or a folder of a wing in its src: other code is not a path of
 *   ours.
 * @param exists - Returns whether there is a file or folder of the checkout at a path.
 */
export function missingPaths(
  path: string,
  markdown: string,
  isRoom: (folder: string) => boolean,
  exists: (path: string) => boolean,
): string[] {
  return readCodeSpans(markdown)
    .filter(({ code }) => /^[\w-][\w.-]*(?:\/[\w.-]+)+\/?$/.test(code) && beginsInRoom(code, isRoom))
    .filter(({ code }) => !["", "src/"].some((root) => COMPLETIONS.some((end) => exists(root + code + end))))
    .map(({ line, code }) => `${path}:${line} names ${code}, which is not there`);
}

/** Returns whether code begins with a folder of the checkout, such as `docs/`, or with a wing and its folder: `session/log/`. */
function beginsInRoom(code: string, isRoom: (folder: string) => boolean): boolean {
  const [first = "", second = ""] = code.split("/");
  return isRoom(first) || isRoom(`${first}/${second}`);
}
