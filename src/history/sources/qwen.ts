import { basename, join } from "node:path";
import { importQwen } from "../../import/qwen/import-qwen.ts";
import { fieldOf, firstFolder, firstText, readSourceText } from "../../import/source-text.ts";
import { textOfFile } from "../source-file.ts";
import type { SourceProgram } from "../source-program.ts";

/** Chats of Qwen Code. */
export const QWEN: SourceProgram = {
  name: "qwen",
  folders: (_, home) => [join(home, ".qwen", "projects")],
  factsIn: (text, path) => {
    const { records } = readSourceText(text);
    return [
      {
        source: "qwen",
        sessionId: firstText(records, "sessionId") ?? basename(path, ".jsonl"),
        cwd: firstFolder(fieldOf(records, "cwd")).cwd,
        startedAt: firstText(records, "timestamp"),
      },
    ];
  },
  read: ({ files, sourceId }, { importedAt, ownId }) =>
    files.flatMap((file) =>
      importQwen({
        ...textOfFile(file),
        sourceId,
        ...(ownId !== undefined && { ownId }),
        importedAt,
      }),
    ),
};
