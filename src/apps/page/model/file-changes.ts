import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { textOf } from "../../../core/context/message-parts.ts";
import { callsIn } from "../../../core/facts/tool-calls.ts";
import { filesOfCall } from "../../../core/facts/touched-files.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import { type DiffLine, editsIn, writtenLines } from "./edit-diff.ts";
import { hasFailedAt, type SessionModel } from "./session-model.ts";

/** A change that a call of a tool made to a file. */
export interface FileChange {
  readonly path: string;
  /** The entry that holds the call, and the result, if there is one. */
  readonly ordinal: number;
  readonly result: number | undefined;
  readonly tool: string;
  readonly hasFailed: boolean;
  /** What it changed, as far as the call says; a text that was written whole counts as added. */
  readonly edits: readonly (readonly DiffLine[])[];
}

/** A file that was changed, with the changes in their order. */
export interface ChangedFile {
  readonly path: string;
  readonly changes: readonly FileChange[];
}

/**
 * Finds the files that tools changed on a path.
 *
 * @returns In the order of their first changes.
 * @remarks Cost: O(path).
 */
export function changedFiles(session: SessionModel, path: readonly number[]): ChangedFile[] {
  const { facts } = session;
  const results = new Map(path.map((ordinal) => [facts[ordinal]?.callId, ordinal]));
  const calling = path.filter((ordinal) => facts[ordinal]?.calls.length !== 0);
  const changes = calling.flatMap((ordinal) =>
    callsIn(session.entryAt(ordinal)).flatMap(({ id, name, input }): FileChange[] => {
      const files = filesOfCall({ name, input }).filter(({ isChanged }) => isChanged);
      const result = id === "" ? undefined : results.get(id);
      const hasFailed = result !== undefined && hasFailedAt(session, result);
      const common = { ordinal, result, tool: name, hasFailed };
      return files.map((file) => ({ ...common, path: file.path, edits: editsOf(input, file.path) }));
    }),
  );
  return Array.from(
    groupBy(changes, (change) => change.path),
    ([name, some]) => ({ path: name, changes: some }),
  );
}

/** What a call says of its change to a file. */
function editsOf(input: unknown, path: string): DiffLine[][] {
  const edits = editsIn(input, path);
  const { content, file_text } = fieldsOf(input);
  const written = textOf(content) || textOf(file_text);
  return edits.length > 0 || written === "" ? edits : [writtenLines(written)];
}
