import { isAbsolute, relative, resolve, sep } from "node:path";
import type { Answer } from "../answer.ts";
import { type FileCall, findCallsAt } from "../file-history.ts";
import type { Recall } from "../recall.ts";
import type { SessionOpener } from "../session-opener.ts";

/** Sessions that are shown of each file. */
const MAX_SESSIONS = 4;

/** Hits of one file that are looked at. */
const MAX_HITS = 200;

/** Adds which sessions touched files that are about to be edited; nothing if none did. */
export async function writeEditedFiles(
  recall: Recall,
  sessions: SessionOpener,
  paths: readonly string[],
  answer: Answer,
): Promise<void> {
  for (const path of paths) {
    for await (const { block } of findTouchingSessions(recall, sessions, path)) {
      if (!answer.addBlock(block)) return;
    }
  }
}

/** Yields one call of each session that touched a file, the latest session first: its last change, else its last reading. */
async function* findTouchingSessions(
  recall: Recall,
  sessions: SessionOpener,
  path: string,
): AsyncGenerator<FileCall, void, undefined> {
  const { cwd, project } = recall.settings;
  const full = resolve(cwd, path);
  const query = { text: quotePath(full, cwd), cwd: project, path: full, roles: ["assistant"] };
  const seen = new Set<string>();
  let last: { readonly id: string; call: FileCall } | undefined;
  let [hits, done] = [0, 0];
  for await (const hit of sessions.search(query)) {
    const { id } = hit.session;
    if (last !== undefined && last.id !== id) {
      yield last.call;
      last = undefined;
      done++;
    }
    hits++;
    if (done >= MAX_SESSIONS || hits > MAX_HITS) return;
    // A fork has the entries of its parent.
    const found = seen.has(hit.entryId) ? undefined : await sessions.openEntry(hit);
    seen.add(hit.entryId);
    if (found === undefined) continue;
    const heading = await recall.formatRow(hit.session);
    for (const call of findCallsAt(found, full, heading)) {
      if (last === undefined) last = { id, call };
      else if (call.isChanged || !last.call.isChanged) last.call = call;
    }
  }
  if (last !== undefined) yield last.call;
}

/** Writes what calls say of a file, whether they name it from the root or from the project, as a phrase to search for. */
function quotePath(path: string, cwd: string): string {
  const below = relative(cwd, path);
  const isBelow = below !== "" && !isAbsolute(below) && below !== ".." && !below.startsWith(`..${sep}`);
  return `"${(isBelow ? below : path).replaceAll('"', " ")}"`;
}
