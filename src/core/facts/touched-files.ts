import { fieldsOf, listOf } from "../context/entry-fields.ts";
import { textOf } from "../context/message-parts.ts";
import type { StoredCall } from "./tool-calls.ts";

/** A file that a call of a tool names. */
export interface TouchedFile {
  readonly path: string;
  /** Whether the tool writes to files, by its name. */
  readonly isChanged: boolean;
}

const PATH_ARGUMENTS = [
  ...["path", "file_path", "filePath", "file", "filename", "absolute_path"],
  ...["notebook_path", "target_file", "relative_path"],
];

const LIST_ARGUMENTS = ["paths", "file_paths", "filePaths", "files"];
const WRITES = /write|edit|patch|replace|create|delete|remove|move|rename|insert|update/i;

/** Lines of a patch that name the file that it changes. */
const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm;

const MOST_FILES = 1000;

/**
 * Returns the files that a call of a tool names: read, written or searched; those that a shell command names are not told apart
 * from its other words, and left out, but for patches.
 */
export function filesOfCall({ name, input }: Pick<StoredCall, "name" | "input">): TouchedFile[] {
  const fields = fieldsOf(input);
  const named = [
    ...PATH_ARGUMENTS.map((key) => fields[key]),
    ...LIST_ARGUMENTS.flatMap((key) => listOf(fields[key])),
  ];
  const isChanged = WRITES.test(name);
  const files = named.flatMap((value) =>
    textOf(value).trim() === "" ? [] : { path: textOf(value), isChanged },
  );
  return [...files, ...patchedFiles(input)].slice(0, MOST_FILES);
}

function patchedFiles(input: unknown): TouchedFile[] {
  const { input: patch, patch: other, command } = fieldsOf(input);
  const texts = [input, patch, other, ...(Array.isArray(command) ? listOf(command) : [command])];
  return texts
    .map(textOf)
    .filter((text) => text.includes("*** "))
    .flatMap((text) =>
      Array.from(text.matchAll(PATCHED), ([, changed, moved]) => ({
        path: (changed ?? moved ?? "").trim(),
        isChanged: true,
      })),
    );
}
