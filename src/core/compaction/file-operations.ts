import { toRecord } from "../context/entry-fields.ts";
import { getMessageParts, toText } from "../context/message-parts.ts";
import { assertArgument, isIterable } from "../format/arguments.ts";
import { type OptionRule, TEXTS } from "../format/options.ts";

/** Paths passed to tools. */
export interface FileOperations {
  read: Set<string>;
  written: Set<string>;
  edited: Set<string>;
}

/** Paths in the form of a summary's `details`. */
export interface FileLists {
  /** Read and never modified; sorted. */
  readFiles: string[];
  /** Written or edited; sorted. */
  modifiedFiles: string[];
}

const READ_TAG = "read-files";
const MODIFIED_TAG = "modified-files";

/** Creates empty file operations. */
export function createFileOps(): FileOperations {
  return { read: new Set(), written: new Set(), edited: new Set() };
}

/**
 * Adds the paths from a message's `read`, `write`, and `edit` tool calls, including nested calls. Ignores malformed values.
 */
export function extractFileOpsFromMessage(message: unknown, fileOps: FileOperations): void {
  for (const part of getMessageParts(message)) if (part.kind === "toolCall") addCall(part, fileOps);
  const { calls } = toRecord(toRecord(message)["nestedCalls"]);
  if (Array.isArray(calls)) for (const call of calls) addCall(toRecord(call), fileOps);
}

function addCall(
  call: { readonly name?: unknown; readonly arguments?: unknown },
  fileOps: FileOperations,
): void {
  const paths = findToolPaths(call.name, fileOps);
  const path = toText(toRecord(call.arguments)["path"]);
  if (path !== "") paths?.add(path);
}

function findToolPaths(name: unknown, fileOps: FileOperations): Set<string> | undefined {
  switch (name) {
    case "read":
      return fileOps.read;
    case "write":
      return fileOps.written;
    case "edit":
      return fileOps.edited;
    default:
      return undefined;
  }
}

/** Adds the file lists of an earlier summary, unless an extension wrote it. Its modified files are treated as edited. */
export function addFilesOfSummary(summary: unknown, fileOps: FileOperations): void {
  const { details, fromHook } = toRecord(summary);
  if (fromHook === true) return;
  const { readFiles, modifiedFiles } = toRecord(details);
  for (const path of readPaths(readFiles)) fileOps.read.add(path);
  for (const path of readPaths(modifiedFiles)) fileOps.edited.add(path);
}

function readPaths(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((path) => typeof path === "string" && path !== "") : [];
}

const FILE_OPERATIONS: OptionRule = {
  fits: (value) => ["read", "written", "edited"].every((name) => isIterable(toRecord(value)[name])),
  words: "an object with sets of paths: read, written, and edited",
};

/** Returns the files that were only read and the files that were modified, each sorted by UTF-16 code unit. */
export function computeFileLists(fileOps: FileOperations): FileLists {
  assertArgument("fileOps", fileOps, FILE_OPERATIONS);
  const modified = new Set([...fileOps.written, ...fileOps.edited]);
  const readFiles = [...fileOps.read].filter((path) => !modified.has(path));
  return { readFiles: readFiles.sort(), modifiedFiles: [...modified].sort() };
}

/**
 * Formats file lists as the end of a summary.
 *
 * @returns `""` if both lists are empty. Otherwise a blank line and the nonempty sections, with one path per line.
 */
export function formatFileOperations(readFiles: readonly string[], modifiedFiles: readonly string[]): string {
  assertArgument("readFiles", readFiles, TEXTS);
  assertArgument("modifiedFiles", modifiedFiles, TEXTS);
  const sections = [formatFileSection(READ_TAG, readFiles), formatFileSection(MODIFIED_TAG, modifiedFiles)];
  return sections
    .filter((text) => text !== "")
    .map((text) => `\n\n${text}`)
    .join("");
}

function formatFileSection(tag: string, paths: readonly string[]): string {
  return paths.length === 0 ? "" : `<${tag}>\n${paths.join("\n")}\n</${tag}>`;
}

/**
 * Removes the file lists from the end of a summary, so that they do not accumulate when they are appended again.
 *
 * @param summary - An earlier summary.
 * @param fileOps - Files that will be listed again. A section that lists any other file is kept.
 */
export function withoutFileOperations(summary: string, fileOps: FileOperations): string {
  return withoutSection(withoutSection(summary, MODIFIED_TAG, fileOps), READ_TAG, fileOps);
}

function withoutSection(summary: string, tag: string, fileOps: FileOperations): string {
  const text = summary.trimEnd();
  const opening = `<${tag}>\n`;
  const closing = `\n</${tag}>`;
  const start = text.lastIndexOf(opening);
  if (start === -1 || !text.endsWith(closing)) return summary;
  const paths = text.slice(start + opening.length, -closing.length).split("\n");
  const isListed = (path: string) =>
    fileOps.read.has(path) || fileOps.written.has(path) || fileOps.edited.has(path);
  return paths.every(isListed) ? text.slice(0, start).trimEnd() : summary;
}
