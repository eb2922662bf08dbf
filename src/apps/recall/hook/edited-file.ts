import { isAbsolute, relative, resolve } from "node:path";
import type { SearchHit } from "../../../catalog/search/search.ts";
import type { Answer } from "../answer.ts";
import { type FileCall, findCallsAt } from "../file-history.ts";
import type { Recall } from "../recall.ts";
import type { SessionOpener } from "../session-opener.ts";

/** Maximum number of sessions shown per file. */
const MAX_SESSIONS = 3;

/** Maximum number of calls per session that are searched for a change, last first. */
const MAX_HITS = 8;

/** Adds the sessions that touched the files to be edited; adds nothing if there are no such sessions. */
export async function writeEditedFiles(
  recall: Recall,
  sessions: SessionOpener,
  paths: readonly string[],
  answer: Answer,
): Promise<void> {
  for (const path of paths) {
    for await (const { block } of findTouchingCalls(recall, sessions, path)) {
      if (!answer.addBlock(block)) return;
    }
  }
}

/** Yields one call per session that touched a file, latest session first. */
async function* findTouchingCalls(
  recall: Recall,
  sessions: SessionOpener,
  path: string,
): AsyncGenerator<FileCall, void, undefined> {
  const { cwd, project } = recall.settings;
  const file = resolve(cwd, path);
  const query = { text: quoteSteps(file, cwd), cwd: project, path: file, roles: ["assistant"] };
  const seen = new Set<string>();
  let ofSession: SearchHit[] = [];
  let shown = 0;
  for await (const hit of sessions.search(query)) {
    const [first] = ofSession;
    if (first !== undefined && first.session.id !== hit.session.id) {
      const call = await findLastCall(recall, sessions, file, ofSession);
      ofSession = [];
      if (call !== undefined) yield call;
      if (call !== undefined && ++shown >= MAX_SESSIONS) return;
    }
    // A fork has the entries of its parent.
    if (!seen.has(hit.entryId)) ofSession.push(hit);
    seen.add(hit.entryId);
  }
  const call = await findLastCall(recall, sessions, file, ofSession);
  if (call !== undefined) yield call;
}

/** Returns the last change of a file among the hits of one session or, without a change, the last call that names the file. */
async function findLastCall(
  recall: Recall,
  sessions: SessionOpener,
  file: string,
  hits: readonly SearchHit[],
): Promise<FileCall | undefined> {
  let last: FileCall | undefined;
  for (const hit of hits.slice(-MAX_HITS).reverse()) {
    const found = await sessions.openEntry(hit);
    if (found === undefined) continue;
    const calls = findCallsAt(found, file, await recall.formatRow(hit.session));
    const change = calls.findLast(({ isChanged }) => isChanged);
    if (change !== undefined) return change;
    last ??= calls.at(-1);
  }
  return last;
}

/**
 * Converts each component of a path to a phrase, because calls specify the path relative to the root or to the project, with
 * either separator.
 */
function quoteSteps(path: string, cwd: string): string {
  const below = relative(cwd, path);
  const isBelow = !isAbsolute(below) && !below.startsWith("..");
  const steps = (isBelow ? below : path).replaceAll('"', " ").split(/[/\\]/);
  return steps.flatMap((step) => (step.trim() === "" ? [] : `"${step}"`)).join(" ");
}
