import { basename, dirname, join } from "node:path";
import { toRecord } from "../../../core/context/entry-fields.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { hashSha256 } from "../../../session/fs/digest.ts";
import { importGemini, readGeminiText } from "../../import/gemini/import-gemini.ts";
import { isFolderName, readSourceText, toNonemptyText } from "../../import/source-text.ts";
import { readSourceAsText, type SideFiles } from "../source-file.ts";
import type { FileFacts, SourceProgram } from "../source-program.ts";

/** Gemini CLI logs, and the single JSON objects written by older versions. */
export const GEMINI: SourceProgram = {
  name: "gemini",
  folders: (_, home) => [join(home, ".gemini", "tmp")],
  readFacts,
  beside: ({ folders, beside }) => {
    return ({ path }) => ({ cwd: findCwd(path, folders, beside) });
  },
  read: ({ files, cwd }, { importedAt }) => {
    const [file] = files;
    const [text, ...others] = files.map(({ path }) => readGeminiText(readSourceAsText(path)));
    if (file === undefined || text === undefined) return [];
    const { path, facts } = file;
    const parent = facts.parentId === undefined ? {} : { parentId: facts.parentId };
    const imported = importGemini({ ...text, others, path, cwd, ...parent, importedAt });
    return imported === undefined ? [] : [imported];
  },
};

function readFacts(text: string, path: string): FileFacts[] {
  const whole = toRecord(parseJson(text)?.value);
  const record =
    "sessionId" in whole
      ? whole
      : readSourceText(text).records.find(({ value }) => "sessionId" in value)?.value;
  const sessionId = toNonemptyText(record?.["sessionId"]);
  if (record === undefined || sessionId === undefined) return [];
  const parentId = record["kind"] === "subagent" ? basename(dirname(path)) : undefined;
  return [{ source: "gemini", sessionId, parentId, cwd: "", startedAt: toNonemptyText(record["startTime"]) }];
}

/**
 * Finds the working directory whose name or hash is the name of a session's folder. Also searches known directories. Empty if
 * there is none.
 */
function findCwd(path: string, known: Iterable<string>, beside: SideFiles): string {
  const [, home, folder] = /^(.*)[/\\]tmp[/\\]([^/\\]+)[/\\]/.exec(path) ?? [];
  if (home === undefined || folder === undefined) return "";
  const list = beside.getJson(join(home, "projects.json"));
  const names = { ...list, ...toRecord(list["projects"]) };
  const folders = Object.keys(names).filter(isFolderName);
  const named = folders.find((cwd) => names[cwd] === folder);
  if (named !== undefined) return named;
  return [...folders, ...known].find((cwd) => hashSha256(cwd) === folder) ?? "";
}
