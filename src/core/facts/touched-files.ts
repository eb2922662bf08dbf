import { toArray, toRecord } from "../context/entry-fields.ts";
import { toText } from "../context/message-parts.ts";
import type { StoredCall } from "./tool-calls.ts";

/** File specified in a tool call. */
export interface TouchedFile {
  readonly path: string;
  /** Whether the tool writes to files, based on its name. */
  readonly isChanged: boolean;
}

const PATH_ARGUMENTS = [
  ...["path", "file_path", "filePath", "file", "filename", "absolute_path"],
  ...["notebook_path", "target_file", "relative_path"],
];

const LIST_ARGUMENTS = ["paths", "file_paths", "filePaths", "files"];
const WRITES = /write|edit|patch|replace|create|delete|remove|move|rename|insert|update/i;

/** Matches lines in a patch that specify the changed file. */
const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm;

const MAX_FILES = 1000;

/**
 * Returns the files that a tool call reads, writes, or searches. Files in shell commands are omitted because they cannot be
 * distinguished from other words, except in patches.
 */
export function findCallFiles({ name, input }: Pick<StoredCall, "name" | "input">): TouchedFile[] {
  const fields = toRecord(input);
  const named = [
    ...PATH_ARGUMENTS.map((key) => fields[key]),
    ...LIST_ARGUMENTS.flatMap((key) => toArray(fields[key])),
  ];
  const isChanged = WRITES.test(name);
  const files = named.flatMap((value) =>
    toText(value).trim() === "" ? [] : { path: toText(value), isChanged },
  );
  return [...files, ...findPatchedFiles(input)].slice(0, MAX_FILES);
}

function findPatchedFiles(input: unknown): TouchedFile[] {
  const { input: patch, patch: other, command } = toRecord(input);
  const texts = [input, patch, other, ...(Array.isArray(command) ? toArray(command) : [command])];
  return texts
    .map(toText)
    .filter((text) => text.includes("*** "))
    .flatMap((text) =>
      Array.from(text.matchAll(PATCHED), ([, changed, moved]) => ({
        path: (changed ?? moved ?? "").trim(),
        isChanged: true,
      })),
    );
}

/** Argument names that tools use for the old and the new text. */
const OLD_NAMES = ["oldText", "old_string", "old_str", "oldString", "old_text", "old"];
const NEW_NAMES = ["newText", "new_string", "new_str", "newString", "new_text", "new"];

/**
 * Returns the changes requested from an edit tool: the old and new text in its arguments, or an `edits` array of such pairs.
 * Empty for other tools.
 */
export function findCallEdits(input: unknown): { readonly before: string; readonly after: string }[] {
  const fields = toRecord(input);
  const edits = Array.isArray(fields["edits"]) ? toArray(fields["edits"]) : [input];
  return edits.flatMap((edit) => {
    const texts = toRecord(edit);
    const pick = (names: readonly string[]) => names.find((name) => typeof texts[name] === "string");
    const [before, after] = [pick(OLD_NAMES), pick(NEW_NAMES)];
    if (before === undefined || after === undefined) return [];
    return [{ before: toText(texts[before]), after: toText(texts[after]) }];
  });
}
