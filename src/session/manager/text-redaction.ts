import { assertOptions, FLAG, TEXT } from "../../core/format/options.ts";
import { decodeText } from "../../core/jsonl/decode.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { encodeCurrentLine } from "../../core/jsonl/entry-body.ts";
import type { TextRedactor } from "../../core/jsonl/text-redactor.ts";
import { forgetSession } from "../files/forget-session.ts";
import { realFileSystem } from "../fs/file-system.ts";
import { eachRawLine } from "../log/raw-lines.ts";
import { isThere } from "../log/replace-file.ts";
import type { SessionLog } from "../log/session-log.ts";
import { makeRedactionRecord } from "./entry-draft.ts";
import { makeRedactor } from "./redactor.ts";
import type { SessionState } from "./session-state.ts";

/** How a text is redacted in a session. */
export interface RedactTextOptions {
  /** Text to put in its place. Default `[redacted]`. */
  readonly replacement?: string;
  /** Whether to change nothing. Default false. */
  readonly dryRun?: boolean;
}

/** What a redaction of a text did in a session. */
export interface SessionTextRedaction {
  /** Whether the text was there, in an entry, the header or a damaged line. */
  readonly isFound: boolean;
  /** Entries that held the text. */
  readonly entryIds: readonly string[];
  /** Where it still stands, since changing that would break the session: names of fields. */
  readonly standing: readonly string[];
  /** Id of the record; absent if nothing changed. */
  readonly recordId?: string;
}

/** Redacts a text in a session: see `SessionManager.redactText`. */
export function redactTextOfSession(
  state: SessionState,
  matching: string | RegExp,
  options: RedactTextOptions,
): SessionTextRedaction {
  assertOptions<RedactTextOptions>(options, { dryRun: FLAG, replacement: TEXT });
  const { dryRun = false, replacement } = options;
  const redactor = makeRedactor(matching, replacement);
  if (!dryRun) state.assertWritable();
  const found = findText(state.log, redactor);
  if (dryRun || !found.isFound) return found;
  const { record, ids } = state.rewrite(
    (line) => redactor.ofLine(line).text,
    (targetIds) => makeRedactionRecord({ targetIds }),
    false,
  );
  if (state.log.path !== undefined) forgetSession(state.log.path);
  return { ...found, entryIds: ids, ...(record && { recordId: record.id }) };
}

function findText(log: SessionLog, redactor: TextRedactor): SessionTextRedaction {
  log.refresh();
  const { index } = log;
  const standing = new Set<string>();
  const entryIds: string[] = [];
  const look = (line: string) => {
    const found = redactor.ofLine(line);
    for (const name of found.standing) standing.add(name);
    return found.text !== line;
  };
  let isFound = look(encodeRecord({ ...index.header }));
  log.readLines(index.tree.ordinals(), (ordinal, bytes) => {
    const line = encodeCurrentLine(bytes, index.tree.headAt(ordinal), index);
    if (look(typeof line === "string" ? line : decodeText(line))) entryIds.push(index.tree.idAt(ordinal));
  });
  isFound ||= entryIds.length > 0 || isInFile(log.path, look);
  return { entryIds, standing: [...standing], isFound };
}

/** Tells whether any line of a file holds the text, also lines that are no entries. */
function isInFile(path: string | undefined, look: (line: string) => boolean): boolean {
  let isFound = false;
  if (path === undefined || !isThere(path)) return isFound;
  eachRawLine(realFileSystem, path, (line) => {
    isFound ||= line !== undefined && look(line);
  });
  return isFound;
}
