import { basename, join } from "node:path";
import { importQwen } from "../../import/qwen/import-qwen.ts";
import { fieldOf, firstFolder, firstText, readSourceText, textOf } from "../../import/source-text.ts";
import { textOfFile } from "../source-file.ts";
import type { SourceProgram } from "../source-program.ts";

/** Chats of Qwen Code; newer versions may have those of subagents in files of their own, which name the same session. */
export const QWEN: SourceProgram = {
  name: "qwen",
  folders: (_, home) => [join(home, ".qwen", "projects")],
  factsIn: (text, path) => {
    const { records } = readSourceText(text);
    const said = records.find(({ value }) => textOf(value["uuid"]) !== undefined)?.value ?? {};
    return [
      {
        source: "qwen",
        sessionId: firstText(records, "sessionId") ?? basename(path, ".jsonl"),
        agentId: said["isSidechain"] === true ? textOf(said["agentId"]) : undefined,
        cwd: firstFolder(fieldOf(records, "cwd")).cwd,
        startedAt: firstText(records, "timestamp"),
      },
    ];
  },
  read: ({ files, sourceId }, { importedAt, ownId }) => {
    const mains = files.filter(({ facts }) => facts.agentId === undefined);
    const texts = [...mains, ...files.filter((file) => !mains.includes(file))].map(textOfFile);
    const [main] = texts;
    return importQwen({
      ...(main !== undefined && { path: main.path }),
      records: texts.flatMap(({ records }) => records),
      issues: texts.flatMap(({ issues }) => issues),
      sourceId,
      ...(ownId !== undefined && { ownId }),
      importedAt,
    });
  },
};
