import { basename } from "node:path";
import { findHeader, importPi4, readPi4Text } from "../../import/pi-v4/import-pi4.ts";
import { findFirstFolder, toIsoTime, toNonemptyText } from "../../import/source-text.ts";
import { readSource } from "../source-file.ts";
import type { SourceProgram } from "../source-program.ts";

/** Sessions in pi's version 4 format, in files specified by the caller. Without a header, the id is taken from the file name. */
export const PI4: SourceProgram = {
  name: "pi-v4",
  folders: () => [],
  readFacts: (text, path) => {
    const { id, cwd, createdAt, parentSessionId } = findHeader(readPi4Text(text).records)?.value ?? {};
    return [
      {
        source: "pi-v4",
        sessionId: toNonemptyText(id) ?? basename(path, ".jsonl").replace(/^[^_]*_/, ""),
        parentId: toNonemptyText(parentSessionId),
        cwd: findFirstFolder([cwd]).cwd,
        startedAt: toIsoTime(createdAt),
      },
    ];
  },
  makeKey: ({ path }) => path,
  read: ({ files, sourceId }, { importedAt }) =>
    files.flatMap(({ path }) => {
      const imported = importPi4({ ...readPi4Text(readSource(path)), path, sourceId, importedAt });
      return imported === undefined ? [] : [imported];
    }),
};
