import { posix } from "node:path";
import { readAnchors, readCodeSpans, readLinks } from "./markdown.ts";

/** Where a document or a comment points. */
interface Reference {
  /** The file that points. */
  readonly from: string;
  readonly line: number;
  /** Path from the checkout's folder, with `#anchor` or without. */
  readonly to: string;
}

/** Lists the links of a document that lead to files of the checkout. */
export function localLinks(path: string, markdown: string): Reference[] {
  return readLinks(markdown)
    .filter(({ target }) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
    .map(({ line, target }) => ({
      from: path,
      line,
      to: target.startsWith("#") ? `${path}${target}` : posix.join(posix.dirname(path), target),
    }));
}

/** Lists the places of the documents that a source file's comments name, such as docs/format.md#header. */
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
 * Checks that every reference leads to something.
 *
 * @param references - What points where.
 * @param read - Gives a file's text, or undefined if there is none at the path; a folder may give "".
 * @returns One line for each reference that leads nowhere.
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

/** What the sources may be named without, where a document speaks of files: `log/file-log` is src/session/log/file-log.ts. */
const COMPLETIONS = ["", ".ts", ".tsx"];

/**
 * Lists the files that a document names in inline code and that are not there.
 *
 * @param isRoom - Whether a folder lies in the checkout or in its src: what begins otherwise is no path of ours.
 * @param exists - Whether a file or folder of the checkout stands at a path.
 */
export function missingPaths(
  path: string,
  markdown: string,
  isRoom: (folder: string) => boolean,
  exists: (path: string) => boolean,
): string[] {
  return readCodeSpans(markdown)
    .filter(({ code }) => /^[\w-][\w.-]*(?:\/[\w.-]+)+\/?$/.test(code) && isRoom(code.split("/")[0] ?? ""))
    .filter(({ code }) => !["", "src/"].some((root) => COMPLETIONS.some((end) => exists(root + code + end))))
    .map(({ line, code }) => `${path}:${line} names ${code}, which is not there`);
}
