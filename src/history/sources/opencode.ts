import { fieldsOf } from "../../context/entry-fields.ts";
import { importOpenCode } from "../../import/opencode/import-opencode.ts";
import { isoTimeOf, member, textOf } from "../../import/source-values.ts";
import { parseJson } from "../../jsonl/decode.ts";
import type { JsonRecord } from "../../schema/json.ts";
import { readSourceAsText } from "../source-file.ts";
import type { FileFacts, SourceProgram } from "../source-program.ts";

/** Sessions of OpenCode, in documents that it exports. */
export const OPENCODE: SourceProgram = {
  name: "opencode",
  folders: () => [],
  factsIn: (text) => factsOf(member(fieldsOf(parseJson(text)?.value), "info")),
  keyOf: ({ path }) => path,
  read: ({ files }, { importedAt }) =>
    files.flatMap(({ path }) => {
      const document = parseJson(readSourceAsText(path))?.value;
      return importOpenCode({ document, path, importedAt }) ?? [];
    }),
};

function factsOf(info: JsonRecord): FileFacts[] {
  const { id, directory, parentID } = info;
  const sessionId = textOf(id);
  if (sessionId === undefined) return [];
  const startedAt = isoTimeOf(member(info, "time")["created"]);
  return [
    { source: "opencode", sessionId, cwd: textOf(directory) ?? "", startedAt, parentId: textOf(parentID) },
  ];
}
