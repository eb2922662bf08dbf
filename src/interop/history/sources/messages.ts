import { dirname } from "node:path";
import { SessionError } from "../../../core/format/errors.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { findConversationId, importMessages } from "../../import/messages/import-messages.ts";
import { readSourceAsText } from "../source-file.ts";
import type { SourceProgram } from "../source-program.ts";
import { makePathId, NAMED_FILES } from "./named-files.ts";

/** Message arrays, in files specified by the caller. A file's folder is the working directory. */
export const MESSAGES: SourceProgram = {
  ...NAMED_FILES,
  name: "messages",
  readFacts: (text, path) => {
    const sessionId = findConversationId(parseJson(text)?.value) ?? makePathId(path);
    return [{ source: "messages", sessionId, cwd: dirname(path) }];
  },
  read: ({ files, sourceId, cwd, startedAt }, { importedAt, begunAt = startedAt }) => {
    const [file] = files;
    if (file === undefined) return [];
    const { path } = file;
    const document = parseJson(readSourceAsText(path))?.value;
    try {
      const imported = importMessages({ document, sourceId, path, cwd, startedAt: begunAt, importedAt });
      return imported === undefined ? [] : [imported];
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      const message = `${path} contains an array that does not consist of messages: ${error.message} Remove it, and import the file again.`;
      throw new SessionError("NOT_A_SESSION", message, { details: { path }, cause: error });
    }
  },
};
