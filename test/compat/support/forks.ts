import { existsSync, readFileSync } from "node:fs";
import { readSession, type SessionContext, type SessionEntry, SessionManager } from "sessiontree";
import { expect } from "vitest";
import { contextAt } from "./sessions.ts";

/**
 * Creates a session of the branch that ends at a leaf, and checks the guarantees of a fork: a new id, the source as its parent,
 * every parent in the file, and the same context, immediately and after reopening.
 *
 * @param folder - Folder of the new session.
 */
export async function expectBranchedSession(
  source: string,
  folder: string,
  leafId: string,
  context: SessionContext,
): Promise<void> {
  const session = SessionManager.open(source, { sessionDir: folder });
  const sourceId = session.getSessionId();
  const labels = getLabels(session, session.getBranch(leafId));
  const path = session.createBranchedSession(leafId) ?? "";
  expect(session.buildSessionContext()).toEqual(context);
  expect(session.getHeader()).toMatchObject({ version: 3, parentSession: source });
  expect(session.getSessionId()).not.toBe(sourceId);
  const hasBegun = session.getBranch().some(isSpoken);
  expect(existsSync(path)).toBe(hasBegun);
  const first = { role: "user" as const, content: "To begin with.", timestamp: 1 };
  if (!hasBegun) session.appendMessage(first);
  await session.close();
  expectWholeTree(path);
  const again = SessionManager.open(path, { mode: "read-only" });
  const messages = hasBegun ? context.messages : [...context.messages, first];
  expect(again.buildSessionContext()).toEqual({ ...context, messages });
  expect(getLabels(again, again.getEntries())).toEqual(labels);
}

/** Returns whether an entry is part of a conversation, before which a session has no file. */
function isSpoken(entry: SessionEntry): boolean {
  return entry.type === "message" && ["user", "assistant"].includes(entry.message?.role);
}

/** Returns the current labels of these entries, without those of labels: in a branched session they are other entries. */
function getLabels(session: SessionManager, entries: readonly SessionEntry[]): (string | undefined)[][] {
  return entries
    .filter(({ id, type }) => type !== "label" && session.getLabel(id) !== undefined)
    .map(({ id }) => [id, session.getLabel(id)]);
}

/** Copies a session to another project, and checks the guarantees of a fork, at every leaf. */
export async function expectForkedSession(
  source: string,
  folder: string,
  contexts: ReadonlyMap<string, SessionContext>,
): Promise<void> {
  const session = SessionManager.forkFrom(source, "/elsewhere", { sessionDir: folder });
  const path = session.getSessionFile() ?? "";
  expect(session.getHeader()).toMatchObject({ version: 3, parentSession: source, cwd: "/elsewhere" });
  await session.close();
  expectWholeTree(path);
  const again = SessionManager.open(path, { mode: "read-only" });
  expect(again.getLeaves().map(({ id }) => id)).toEqual([...contexts.keys()]);
  for (const [leafId, context] of contexts) expect(contextAt(again, leafId)).toEqual(context);
}

/** Checks that a file has no issues and every parent is on a separate line. */
function expectWholeTree(path: string): void {
  const [, ...lines] = readFileSync(path, "utf8").trimEnd().split("\n");
  const entries: { id: string; parentId: string | null }[] = lines.map((line) => JSON.parse(line));
  const ids = new Set<string | null>(entries.map(({ id }) => id)).add(null);
  expect(entries.filter(({ parentId }) => !ids.has(parentId))).toEqual([]);
  expect(readSession(readFileSync(path))).toMatchObject({ version: 3, issues: [] });
}
