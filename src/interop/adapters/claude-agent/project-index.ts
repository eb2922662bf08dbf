import { toRecord } from "../../../core/context/entry-fields.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import { hashText } from "../../../core/format/ids.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import type { EntryTaker } from "../session-pool.ts";
import { loadData } from "../stored-data.ts";

/** Facts about a session in the index. */
interface IndexedSession {
  /** Time of the last write to the main transcript, in Unix milliseconds; undefined if it was never written. */
  mtimeMs: number | undefined;
  /** The SDK's summary. */
  summary: JsonRecord | undefined;
  readonly subpaths: Set<string>;
}

/** A change to a project's index. */
export type IndexChange =
  /** A write to the main transcript. */
  | { readonly kind: "written"; readonly sessionId: string; readonly summary?: object }
  | { readonly kind: "deleted"; readonly sessionId: string }
  | { readonly kind: "subpath"; readonly sessionId: string; readonly subpath: string }
  | { readonly kind: "subpath-deleted"; readonly sessionId: string; readonly subpath: string };

const INDEX_CUSTOM_TYPE = "claude-code.index";

/** Sessions in a project, with facts that are available without reading a transcript. */
export class ProjectIndex implements EntryTaker {
  readonly #sessions = new Map<string, IndexedSession>();
  /** Former subpaths of each deleted session. */
  readonly #dropped = new Map<string, readonly string[]>();

  take(entry: AnySessionEntry): void {
    const { customType, data } = toRecord(entry);
    const { kind, sessionId, subpath, summary } = toRecord(data);
    if (entry.type !== "custom" || customType !== INDEX_CUSTOM_TYPE || typeof sessionId !== "string") return;
    if (kind === "deleted") {
      this.#dropped.set(sessionId, [...(this.#sessions.get(sessionId)?.subpaths ?? [])]);
      this.#sessions.delete(sessionId);
      return;
    }
    const session = this.#sessions.get(sessionId) ?? {
      mtimeMs: undefined,
      summary: undefined,
      subpaths: new Set(),
    };
    this.#sessions.set(sessionId, session);
    if (kind === "written") {
      session.mtimeMs = Date.parse(entry.timestamp);
      session.summary = isJsonRecord(summary) ? summary : undefined;
    } else if (typeof subpath === "string") {
      if (kind === "subpath") session.subpaths.add(subpath);
      else session.subpaths.delete(subpath);
    }
  }

  /** Returns the facts about a session; undefined if it was never written or was deleted. */
  get(sessionId: string): IndexedSession | undefined {
    return this.#sessions.get(sessionId);
  }

  /** Returns the subpaths that a session had when it was last deleted. */
  droppedSubpaths(sessionId: string): readonly string[] {
    return this.#dropped.get(sessionId) ?? [];
  }

  /** Returns the sessions that have a main transcript. */
  written(): { readonly sessionId: string; readonly mtime: number; readonly summary: unknown }[] {
    return Array.from(this.#sessions, ([sessionId, { mtimeMs, summary }]) =>
      mtimeMs === undefined ? [] : [{ sessionId, mtime: mtimeMs, summary: loadData(summary) }],
    ).flat();
  }
}

/** Records a change in the session that stores a project's index. */
export function noteChange(session: SessionManager, change: IndexChange): void {
  session.appendCustomEntry(INDEX_CUSTOM_TYPE, change);
}

/** Key of a transcript: a session's main transcript or, with a `subpath`, the transcript of a subagent. */
export interface ClaudeSessionKey {
  projectKey: string;
  sessionId: string;
  /** Opaque; absent for the main transcript. */
  subpath?: string;
}

/** Returns the id of the session that contains a transcript. Keys may contain any characters, but session ids may not. */
export function makeTranscriptId({ projectKey, sessionId, subpath }: ClaudeSessionKey): string {
  for (const [name, value] of Object.entries({ projectKey, sessionId, subpath: subpath ?? "main" })) {
    if (typeof value === "string" && value !== "") continue;
    throw new TypeError(`${name} must be a nonempty string; omit subpath for the main transcript.`);
  }
  return makeId([projectKey, sessionId, ...(subpath === undefined ? [] : [subpath])]);
}

/** Returns the id of the session that contains a project's index. */
export function makeIndexId(projectKey: string): string {
  return makeId([projectKey]);
}

function makeId(parts: readonly string[]): string {
  return `claude-${hashText(JSON.stringify(parts))}`;
}
