import { readHeaderSettings } from "../../core/context/path-settings.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { CURRENT_SESSION_VERSION } from "../../core/format/version.ts";
import { encodeParsed } from "../../core/jsonl/encode.ts";
import { joinProjectFolder, makeSessionFileName } from "../../session/log/session-paths.ts";
import type { ReadonlySessionManager } from "../../session/manager/session-manager.ts";
import { listBranchLosses } from "./branch-losses.ts";
import type { ExportIssue } from "./exported-session.ts";
import { toPiEntries } from "./pi-entry.ts";
import type { SessionWriter, WriteTarget } from "./session-writer.ts";

/**
 * Continues a session in pi. If the session's file ends at the leaf, pi continues the file itself, because pi always continues at
 * the last entry. Otherwise, the path is written to a new file as a fork, with the same entry ids.
 */
export const writePi: SessionWriter = (session, target) => {
  const own = findOwnFile(session, target);
  if (own !== undefined)
    return {
      id: session.getSessionId(),
      files: [],
      commands: [["pi", "--session", own]],
      issues: [],
    };
  const { id, cwd, now } = target;
  const entries = listForkEntries(session, target.leafId);
  const records = [makeForkHeader(session, target), ...entries];
  const text = records.map((record) => `${encodeParsed(record)}\n`).join("");
  const folder = joinProjectFolder("sessions", cwd).replaceAll("\\", "/");
  const path = `${folder}/${makeSessionFileName(new Date(now).toISOString(), id)}`;
  return {
    files: [{ path, bytes: new TextEncoder().encode(text) }],
    commands: [["pi", "--session", "{}"]],
    issues: [...listBranchLosses(session, target.leafId), ...listDropped(session, target.leafId)],
  };
};

/** Reports the entries on a path that pi cannot read. */
function listDropped(session: ReadonlySessionManager, leafId: string): ExportIssue[] {
  return session.getBranch(leafId).flatMap((entry, index): ExportIssue[] => {
    if (toPiEntries(entry, new Set()).length > 0) return [];
    const message = "Dropped an entry that pi cannot read.";
    return [{ code: "MESSAGE_DROPPED", index, message, entryId: entry.id }];
  });
}

/** Returns the session's file if pi would continue it at the leaf and in the working directory; undefined otherwise. */
function findOwnFile(session: ReadonlySessionManager, { leafId, cwd }: WriteTarget): string | undefined {
  const isLast = session.getEntries().at(-1)?.id === leafId;
  if (!isLast || cwd !== session.getCwd()) return undefined;
  const taken = new Set<string>();
  for (const entry of session.getBranch(leafId)) {
    if (toPiEntries(entry, taken)[0] !== entry) return undefined;
    taken.add(entry.id);
  }
  return session.getSessionFile();
}

function makeForkHeader(session: ReadonlySessionManager, { id, cwd, now }: WriteTarget): SessionHeader {
  const { thinkingLevel, model } = readHeaderSettings(session.getHeader() ?? undefined);
  const parentSession = session.getSessionFile();
  return {
    type: "session",
    version: CURRENT_SESSION_VERSION,
    id,
    timestamp: new Date(now).toISOString(),
    cwd,
    ...(parentSession !== undefined && { parentSession }),
    ...model,
    ...(thinkingLevel !== undefined && { thinkingLevel }),
  };
}

/** Returns the entries on a path in the form that pi reads, each as a child of the previous entry. */
function listForkEntries(session: ReadonlySessionManager, leafId: string): object[] {
  const taken = new Set<string>();
  let parentId: string | null = null;
  return session.getBranch(leafId).flatMap((entry) =>
    toPiEntries(entry, taken).map((one): object => {
      const placed = { ...one, parentId };
      parentId = one.id;
      taken.add(one.id);
      return placed;
    }),
  );
}
