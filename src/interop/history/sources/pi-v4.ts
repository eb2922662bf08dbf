import { basename } from "node:path";
import { headerOf, importPi4, readPi4Text } from "../../import/pi-v4/import-pi4.ts";
import { firstFolder, isoTimeOf, textOf } from "../../import/source-text.ts";
import { readSource } from "../source-file.ts";
import type { SourceProgram } from "../source-program.ts";

/** Sessions of pi's version 4, in files that the caller names; of one that has lost its header, the file's name has the id. */
export const PI4: SourceProgram = {
  name: "pi-v4",
  folders: () => [],
  factsIn: (text, path) => {
    const { id, cwd, createdAt, parentSessionId } = headerOf(readPi4Text(text).records)?.value ?? {};
    return [
      {
        source: "pi-v4",
        sessionId: textOf(id) ?? basename(path, ".jsonl").replace(/^[^_]*_/, ""),
        parentId: textOf(parentSessionId),
        cwd: firstFolder([cwd]).cwd,
        startedAt: isoTimeOf(createdAt),
      },
    ];
  },
  keyOf: ({ path }) => path,
  read: ({ files, sourceId }, { importedAt }) =>
    files.flatMap(({ path }) => {
      const imported = importPi4({ ...readPi4Text(readSource(path)), path, sourceId, importedAt });
      return imported === undefined ? [] : [imported];
    }),
};
