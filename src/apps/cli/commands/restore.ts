import { dirname } from "node:path";
import { fittingName, onlyOne } from "../../../catalog/list/resolve-session.ts";
import { listTrashed, restoreSession, type TrashedSession } from "../../../catalog/trash/restore.ts";
import { plainLine } from "../../../core/facts/plain-text.ts";
import { titleOf } from "../../../core/facts/session-title.ts";
import { shortIdLength, WHOLE_ID } from "../../../core/facts/short-id-length.ts";
import { ago } from "../../../core/facts/times.ts";
import { importedRoot } from "../../../session/files/user-folders.ts";
import { sessionsRoot } from "../../../session/log/session-paths.ts";
import type { Command, CommandCall } from "../command.ts";
import { optionalArgument, textOption } from "../parameters.ts";
import { LATEST, pathOf, sessionScope } from "../session-argument.ts";
import { sessionJson } from "../session-json.ts";
import { column } from "../text/width.ts";
import { shortId, textBehind } from "../view/entry-line.ts";

const NAME = optionalArgument(
  "[trashed]",
  "its id, its name or words of it, its old path, or @last for the one deleted last",
);
const TO = textOption("--to <file>", "restore it to this path instead of the old one");

const AGE_WIDTH = 10;

/** `sessiontree restore`: shows what is in the trash, and brings a session back. */
export const command: Command = {
  details: `Without a name: the sessions in the trash, the last deleted first. With --dir: only those from this folder. Nothing is overwritten. On macOS and Windows it explains how to restore by hand.`,
  filesOnly: "A database has no trash.",
  parameters: [NAME, TO],
  examples: [
    ["restore", "what is in the trash"],
    ["restore @last", "restore what was deleted last"],
    ["restore 1a2b3c4d --to ./old.jsonl", "to another place"],
  ],
  run: async (call) => {
    const name = call.get(NAME);
    const trashed = await trashedSessions(call);
    if (name === undefined) writeList(call, trashed);
    else {
      const one = findTrashed(name, trashed, call);
      const to = call.get(TO);
      const path = await restoreSession(one, to === undefined ? {} : { to: pathOf(call.io.cwd, to) });
      if (call.json) call.out.json({ ...trashedJson(one), path });
      else call.out.line(`Restored: ${plainLine(path)}`);
    }
  },
};

async function trashedSessions(call: CommandCall): Promise<TrashedSession[]> {
  const { dir, io } = call;
  // A folder may be gone together with its sessions.
  const { sessionDir } = dir === undefined ? sessionScope(call, true) : { sessionDir: pathOf(io.cwd, dir) };
  const folders = [io.cwd, sessionsRoot(), importedRoot(), ...(sessionDir === undefined ? [] : [sessionDir])];
  const trashed = await listTrashed({ folders });
  return dir === undefined ? trashed : trashed.filter(({ path }) => dirname(path) === sessionDir);
}

/** Finds the one that is meant; of several with one path, it is named by its path in the trash. */
function findTrashed(name: string, trashed: readonly TrashedSession[], { io }: CommandCall): TrashedSession {
  const [latest] = trashed;
  if (name === LATEST && latest !== undefined) return latest;
  const path = pathOf(io.cwd, name);
  const atPath = trashed.filter((one) => one.path === path || one.trashPath === path);
  const candidates = trashed.map((one) => ({ ...one.session, path: one.trashPath, one }));
  const found = candidates.filter(({ one }) => atPath.length === 0 || atPath.includes(one));
  const notFound = `No session ${JSON.stringify(name)} is in the trash. "sessiontree restore" lists those that are.`;
  const copiesAdvice = "Name one by its path in the trash.";
  const choice = { known: candidates, notFound, copiesAdvice };
  return onlyOne(atPath.length > 0 ? found : fittingName(found, name.trim()), name, choice).one;
}

function trashedJson({ path, trashPath, deleted, size, session }: TrashedSession): object {
  return { ...sessionJson(session), path, trashPath, deleted: deleted ?? null, bytes: size };
}

/** One line for each session: short id, when it was deleted, name or first message, and where it was. */
function writeList({ out, io, json }: CommandCall, trashed: readonly TrashedSession[]): void {
  const { colors } = out;
  if (json) {
    for (const one of trashed) out.json(trashedJson(one));
    return;
  }
  if (trashed.length === 0) out.line("No sessions in the trash.");
  const now = io.now();
  const idLength = shortIdLength(
    trashed.map(({ session }) => session.id),
    WHOLE_ID,
  );
  for (const { path, deleted, session } of trashed) {
    const facts = [
      colors.dim(column(shortId(session.id, idLength), idLength)),
      column(deleted === undefined ? "" : ago(deleted.getTime(), now), AGE_WIDTH),
    ].join("  ");
    out.line(textBehind(facts, titleOf(session), out));
    out.line(colors.dim(`${" ".repeat(idLength)}  ${plainLine(path)}`));
  }
}
