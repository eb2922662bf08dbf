import { basename, dirname } from "node:path";
import { SessionError } from "../../../core/format/errors.ts";
import { hashText } from "../../../core/format/ids.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { findConversationId, importMessages } from "../../import/messages/import-messages.ts";
import { readSourceAsText } from "../source-file.ts";
import type { SourceProgram } from "../source-program.ts";

/** Arrays of messages, in files that the caller names; a file's folder is the working directory. */
export const MESSAGES: SourceProgram = {
  name: "messages",
  folders: () => [],
  // Those in a program's folder are not its sessions.
  isOnlyNamed: true,
  readFacts: (text, path) => {
    const name = basename(path).replace(/\.[^.]*$/, "");
    const sessionId = findConversationId(parseJson(text)?.value) ?? `${name}-${hashText(path).slice(0, 8)}`;
    return [{ source: "messages", sessionId, cwd: dirname(path) }];
  },
  makeKey: ({ path }) => path,
  beside: () => {
    return ({ mtimeMs }) => ({ startedAt: new Date(mtimeMs).toISOString() });
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
      const message = `${path} holds an array that is none of messages: ${error.message} Take that out, or import the rest.`;
      throw new SessionError("NOT_A_SESSION", message, { details: { path }, cause: error });
    }
  },
};
