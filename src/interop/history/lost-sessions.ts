import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { isDeletedImport } from "../../catalog/list/deleted-imports.ts";
import { addTo } from "../../core/format/group-by.ts";
import { makeSourceKey } from "../../core/format/import-origin.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { makeCustom } from "../import/entry-bodies.ts";
import type { ImportedSession } from "../import/imported-session.ts";
import { makeSessionId, SessionBuilder } from "../import/session-builder.ts";
import { readSourceText, type SourceRecord, toIsoTime, toNonemptyText } from "../import/source-text.ts";
import { cacheFor, findFound, type ImportSessionsOptions } from "./import-sessions.ts";
import { importTarget } from "./import-target.ts";
import { SideFiles } from "./source-file.ts";
import { reportTo } from "./source-query.ts";
import { findProgram } from "./source-table.ts";
import { syncSession } from "./sync-session.ts";

/** A Claude Code session of which only the prompts remain. */
export interface LostSession {
  readonly sessionId: string;
  readonly cwd: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Path of the file that contains the prompts. */
  readonly path: string;
  readonly prompts: readonly SourceRecord[];
  readonly firstPrompt: string;
}

/**
 * Finds sessions that exist only in Claude Code's `history.jsonl` and were neither imported nor deleted from the target,
 * earliest first.
 */
export async function findLost(options: ImportSessionsOptions): Promise<LostSession[]> {
  const { env = process.env, project } = options;
  const cache = cacheFor(options);
  const found = await findFound(options, cache);
  const known = new Set(found.map(({ sourceId }) => sourceId));
  const target = importTarget(options);
  const beside = new SideFiles(reportTo(options));
  const homes = (findProgram("claude-code")?.folders(env, env["HOME"] || homedir()) ?? []).map(dirname);
  return homes
    .map((home) => join(home, "history.jsonl"))
    .flatMap((path) => parseLostSessions(beside.getText(path), path))
    .filter(({ sessionId, cwd }) => {
      const isHere = target.find(makeSessionId(sessionId)) !== undefined;
      const origin = { source: "claude-code", sourceId: sessionId };
      const isDeleted = isDeletedImport(origin);
      // If a session continues a sessiontree session, its messages are in that session.
      const [last] = cache.getLastImports(makeSourceKey(origin));
      if (last?.continuedId !== undefined) return false;
      return !known.has(sessionId) && !isHere && !isDeleted && (project === undefined || cwd === project);
    })
    .sort((one, other) => (one.startedAt < other.startedAt ? -1 : 1));
}

function parseLostSessions(text: string, path: string): LostSession[] {
  const groups = new Map<string, SourceRecord[]>();
  for (const record of readSourceText(text).records) {
    const id = toNonemptyText(record.value["sessionId"]) ?? toNonemptyText(record.value["session_id"]);
    if (id !== undefined && getPromptText(record) !== "") addTo(groups, id, record);
  }
  return Array.from(groups, ([sessionId, prompts]) => ({
    sessionId,
    cwd: toNonemptyText(prompts[0]?.value["project"]) ?? "",
    startedAt: (prompts[0] && toIsoTime(getPromptTime(prompts[0]))) ?? "",
    path,
    prompts,
    firstPrompt: prompts[0] === undefined ? "" : getPromptText(prompts[0]),
  }));
}

/**
 * Imports a session's remaining prompts. Returns the path of the new session, or its id in a store. Returns null if the session
 * has been deleted from the target since it was found.
 */
export async function keepLost(lost: LostSession, options: ImportSessionsOptions): Promise<string | null> {
  const { now = Date.now } = options;
  const target = importTarget(options);
  const imported = importPrompts({ ...lost, importedAt: new Date(now()).toISOString() });
  const location = target.getLocation(imported.header);
  const mayMake = () => !isDeletedImport(imported);
  const status = await syncSession(target, location, imported.header, imported, mayMake);
  return status === "deleted" ? null : location;
}

/** Remaining data of a session whose transcript was deleted. */
interface PromptsInput {
  readonly sessionId: string;
  /** The session's records in Claude Code's prompt history. */
  readonly prompts: readonly SourceRecord[];
  readonly path: string;
  readonly cwd: string;
  /** ISO 8601. */
  readonly importedAt: string;
}

const WHAT_IT_IS =
  "Only the prompts of this session are left: Claude Code has deleted its transcript, and still had these in its history of prompts.";

/** Converts the prompts of a deleted session to a session that begins with a note about its origin. */
function importPrompts(input: PromptsInput): ImportedSession {
  const { sessionId, prompts } = input;
  const startedAt = prompts[0] && getPromptTime(prompts[0]);
  const builder = new SessionBuilder(input, { source: "claude-code", sourceId: sessionId, startedAt });
  const note = makeCustom("claude-code.prompts-only", { content: WHAT_IT_IS });
  let last = builder.add(`${sessionId} prompts only`, undefined, startedAt, note);
  for (const [number, prompt] of prompts.entries()) {
    const [key, time] = [`${sessionId} prompt ${number}`, getPromptTime(prompt)];
    builder.counts.records++;
    last = builder.addMessage(key, last, time, { role: "user", content: getPromptText(prompt) });
    const { pastedContents } = prompt.value;
    if (!isJsonRecord(pastedContents) || Object.keys(pastedContents).length === 0) continue;
    last = builder.add(`${key} pasted`, last, time, makeCustom("claude-code.pasted", { pastedContents }));
  }
  return builder.finish();
}

/** Returns the text that the user typed. */
function getPromptText({ value }: SourceRecord): string {
  return toNonemptyText(value["display"]) ?? toNonemptyText(value["text"]) ?? "";
}

/** Returns the time of a prompt, as Unix milliseconds or a string. */
function getPromptTime({ value }: SourceRecord): unknown {
  return value["timestamp"] ?? value["ts"];
}
