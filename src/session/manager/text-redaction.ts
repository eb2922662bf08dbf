import { assertKnownOptions, FLAG, TEXT } from "../../core/format/options.ts";
import { decodeText } from "../../core/jsonl/decode.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { encodeCurrentLine } from "../../core/jsonl/entry-body.ts";
import type { TextRedactor } from "../../core/jsonl/text-redactor.ts";
import { forgetSession, partialAnswersNextTo } from "../files/forget-session.ts";
import { realFileSystem } from "../fs/file-system.ts";
import { eachRawLine } from "../log/raw-lines.ts";
import { isThere } from "../log/replace-file.ts";
import type { SessionLog } from "../log/session-log.ts";
import { makeRedactionRecord } from "./entry-draft.ts";
import { makeRedactor } from "./redactor.ts";
import type { SessionState } from "./session-state.ts";

/** Options for redacting a string in a session. */
export interface RedactTextOptions {
  /** Replacement text. Default: `[redacted]`. */
  readonly replacement?: string;
  /** Whether to only report matches without changing anything. Default: false. */
  readonly dryRun?: boolean;
}

/** Result of redacting a string in a session. */
export interface SessionTextRedaction {
  /** Whether the string was found in an entry, the header, or a damaged line. */
  readonly isFound: boolean;
  /** Ids of the entries that contained the string. */
  readonly entryIds: readonly string[];
  /** Names of fields that still contain the string, because changing them would break the session. */
  readonly standing: readonly string[];
  /** Id of the record; absent if nothing was changed. */
  readonly recordId?: string;
}

/** Redacts a string in a session. See `SessionManager.redactText`. */
export function redactTextOfSession(
  state: SessionState,
  matching: string | RegExp,
  options: RedactTextOptions,
): SessionTextRedaction {
  assertKnownOptions<RedactTextOptions>(options, { dryRun: FLAG, replacement: TEXT });
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
  const partials = log.path === undefined ? [] : partialAnswersNextTo(log.path);
  isFound ||= entryIds.length > 0 || [log.path, ...partials].some((path) => isInFile(path, look));
  return { entryIds, standing: [...standing], isFound };
}

/** Returns whether any line of a file contains the string, including lines that are not entries. */
function isInFile(path: string | undefined, look: (line: string) => boolean): boolean {
  let isFound = false;
  if (path === undefined || !isThere(path)) return isFound;
  eachRawLine(realFileSystem, path, (line) => {
    isFound ||= line !== undefined && look(line);
  });
  return isFound;
}
