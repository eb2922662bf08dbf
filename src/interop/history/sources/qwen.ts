import { basename, join } from "node:path";
import { importQwen } from "../../import/qwen/import-qwen.ts";
import {
  findFirstFolder,
  findFirstText,
  pluckField,
  readSourceText,
  toNonemptyText,
} from "../../import/source-text.ts";
import { parseSourceFile } from "../source-file.ts";
import type { SourceProgram } from "../source-program.ts";

/** Chats of Qwen Code. Newer versions may store subagent chats in separate files with the same session id. */
export const QWEN: SourceProgram = {
  name: "qwen",
  folders: (_, home) => [join(home, ".qwen", "projects")],
  readFacts: (text, path) => {
    const { records } = readSourceText(text);
    const said = records.find(({ value }) => toNonemptyText(value["uuid"]) !== undefined)?.value ?? {};
    return [
      {
        source: "qwen",
        sessionId: findFirstText(records, "sessionId") ?? basename(path, ".jsonl"),
        agentId: said["isSidechain"] === true ? toNonemptyText(said["agentId"]) : undefined,
        cwd: findFirstFolder(pluckField(records, "cwd")).cwd,
        startedAt: findFirstText(records, "timestamp"),
      },
    ];
  },
  read: ({ files, sourceId }, { importedAt, ownId }) => {
    const mains = files.filter(({ facts }) => facts.agentId === undefined);
    const texts = [...mains, ...files.filter((file) => !mains.includes(file))].map(parseSourceFile);
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
