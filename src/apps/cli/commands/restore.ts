import { dirname } from "node:path";
import { findByName, getOnlyOne } from "../../../catalog/list/resolve-session.ts";
import { listTrashed, restoreSession, type TrashedSession } from "../../../catalog/trash/restore.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { getShortIdLength, WHOLE_ID } from "../../../core/facts/short-id-length.ts";
import { formatAgo } from "../../../core/facts/times.ts";
import { getImportedRoot } from "../../../session/files/user-folders.ts";
import { getSessionsRoot } from "../../../session/log/session-paths.ts";
import type { Command, CommandCall } from "../command.ts";
import { optionalArgument, textOption } from "../parameters.ts";
import { getScope, LATEST, resolvePath } from "../session-argument.ts";
import { toSessionJson } from "../session-json.ts";
import { fitColumn } from "../text/width.ts";
import { formatTextAfter, takeShortId } from "../view/entry-line.ts";

const NAME = optionalArgument(
  "[trashed]",
  "its id, its name or words of it, its old path, or @last for the one deleted most recently",
);
const TO = textOption("--to <file>", "restore it to this path instead of the old one");

const AGE_WIDTH = 10;

/** `sessiontree restore`: lists the trash, and restores sessions from it. */
export const command: Command = {
  details: `Without a name, it lists the sessions in the trash, the most recently deleted first. With --dir, it lists only those from this folder. Nothing is overwritten. On macOS and Windows it explains how to restore by hand.`,
  filesOnly: "A database has no trash.",
  parameters: [NAME, TO],
  examples: [
    ["restore", "what is in the trash"],
    ["restore @last", "restore the session deleted most recently"],
    ["restore 1a2b3c4d --to ./old.jsonl", "to another place"],
  ],
  run: async (call) => {
    const name = call.get(NAME);
    const trashed = await listTrashedSessions(call);
    if (name === undefined) writeList(call, trashed);
    else {
      const one = findTrashed(name, trashed, call);
      const to = call.get(TO);
      const path = await restoreSession(one, to === undefined ? {} : { to: resolvePath(call.io.cwd, to) });
      if (call.json) call.out.json({ ...toTrashedJson(one), path });
      else call.out.line(`Restored: ${toPlainLine(path)}`);
    }
  },
};

async function listTrashedSessions(call: CommandCall): Promise<TrashedSession[]> {
  const { dir, io } = call;
  // A folder may have been deleted together with its sessions.
  const { sessionDir } = dir === undefined ? getScope(call, true) : { sessionDir: resolvePath(io.cwd, dir) };
  const folders = [
    io.cwd,
    getSessionsRoot(),
    getImportedRoot(),
    ...(sessionDir === undefined ? [] : [sessionDir]),
  ];
  const trashed = await listTrashed({ folders });
  return dir === undefined ? trashed : trashed.filter(({ path }) => dirname(path) === sessionDir);
}

/** Finds the named session; if several have the same path, their paths in the trash distinguish them. */
function findTrashed(name: string, trashed: readonly TrashedSession[], { io }: CommandCall): TrashedSession {
  const [latest] = trashed;
  if (name === LATEST && latest !== undefined) return latest;
  const path = resolvePath(io.cwd, name);
  const atPath = trashed.filter((one) => one.path === path || one.trashPath === path);
  const candidates = trashed.map((one) => ({ ...one.session, path: one.trashPath, one }));
  const found = candidates.filter(({ one }) => atPath.length === 0 || atPath.includes(one));
  const notFound = `The trash contains no session ${JSON.stringify(name)}. "sessiontree restore" lists its sessions.`;
  const copiesAdvice = "Name one by its path in the trash.";
  const choice = { known: candidates, notFound, copiesAdvice };
  return getOnlyOne(atPath.length > 0 ? found : findByName(found, name.trim()), name, choice).one;
}

function toTrashedJson({ path, trashPath, deleted, size, session }: TrashedSession): object {
  return { ...toSessionJson(session), path, trashPath, deleted: deleted ?? null, bytes: size };
}

/** Writes two lines per session: short id, time since deletion, and title; then the original path. */
function writeList({ out, io, json }: CommandCall, trashed: readonly TrashedSession[]): void {
  const { colors } = out;
  if (json) {
    for (const one of trashed) out.json(toTrashedJson(one));
    return;
  }
  if (trashed.length === 0) out.line("No sessions in the trash.");
  const now = io.now();
  const idLength = getShortIdLength(
    trashed.map(({ session }) => session.id),
    WHOLE_ID,
  );
  for (const { path, deleted, session } of trashed) {
    const facts = [
      colors.dim(fitColumn(takeShortId(session.id, idLength), idLength)),
      fitColumn(deleted === undefined ? "" : formatAgo(deleted.getTime(), now), AGE_WIDTH),
    ].join("  ");
    out.line(formatTextAfter(facts, session.title, out));
    out.line(colors.dim(`${" ".repeat(idLength)}  ${toPlainLine(path)}`));
  }
}
