import { listTrashed } from "../catalog/restore.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import { isSessionError } from "../schema/errors.ts";
import { redactEntry } from "../schema/redact-entry.ts";
import type { CommandCall } from "./command.ts";
import { knownSessions } from "./known-sessions.ts";
import { leftoversOf } from "./leftovers.ts";
import { SessionView } from "./session-view.ts";

/** A session file of which some entries repeat a text. */
export interface SameText {
  readonly path: string;
  readonly entryIds: readonly string[];
}

/** Shorter texts stand in many sessions by chance. */
const SHORTEST = 8;

/** A text as JSON spells it, without its quotes. */
const STRING = /"((?:[^"\\]|\\.)*)"/g;

/** Lists the texts that redacting an entry takes away, spelled as in JSON; those of a few characters are left out. */
export function redactedTexts(entry: AnySessionEntry): string[] {
  const kept = new Set(stringsOf(redactEntry(entry, "")));
  return [...new Set(stringsOf(entry))].filter((text) => text.length >= SHORTEST && !kept.has(text));
}

/**
 * Finds sessions that hold one of the texts: those that can be listed, their backups, and those in the trash.
 *
 * @param path - Of the session in which the texts stood; it is looked at, too.
 * @remarks Cost: every entry of every session is read.
 */
export async function findSameText(
  call: CommandCall,
  path: string,
  texts: readonly string[],
): Promise<SameText[]> {
  if (texts.length === 0) return [];
  const known = (await knownSessions(call, [path])).map((session) => session.path);
  const files = [...new Set([path, ...known])].flatMap((file) => [file, ...leftoversOf(file)]);
  return [...files, ...(await trashedFiles())].flatMap((file) => {
    const entryIds = entriesWith(file, texts);
    return entryIds.length === 0 ? [] : [{ path: file, entryIds }];
  });
}

function stringsOf(entry: AnySessionEntry): string[] {
  return [...encodeRecord(entry).matchAll(STRING)].map(([, text = ""]) => text);
}

function entriesWith(path: string, texts: readonly string[]): string[] {
  try {
    const view = new SessionView(path);
    const found: string[] = [];
    for (const ordinal of view.tree.ordinals()) {
      const entry = view.entryAt(ordinal);
      const line = entry === undefined ? "" : encodeRecord(entry);
      if (texts.some((text) => line.includes(text))) found.push(view.tree.idAt(ordinal));
    }
    return found;
  } catch (error) {
    // A leftover may be no session, and a file may have gone meanwhile; the leftovers are named in any case.
    if (isSessionError(error)) return [];
    throw error;
  }
}

/** Systems whose trash no program can look into have none to look through. */
async function trashedFiles(): Promise<string[]> {
  try {
    return (await listTrashed()).map(({ trashPath }) => trashPath);
  } catch (error) {
    if (isSessionError(error, "SESSION_NOT_FOUND")) return [];
    throw error;
  }
}
