import { isDeletedImport, unmarkDeletedImport } from "../catalog/deleted-imports.ts";
import { IMPORT_MAPPING, type ImportedSession } from "../import/imported-session.ts";
import { sessionIdOf } from "../import/session-builder.ts";
import { isoTimeOf } from "../import/source-values.ts";
import type { SessionHeader } from "../schema/header.ts";
import { inventEntryId } from "../schema/ids.ts";
import type { SessionIssue } from "../schema/issue.ts";
import { REDACTED_TEXT, redactEntry } from "../schema/redact-entry.ts";
import { REDACTION_CUSTOM_TYPE } from "../schema/redaction.ts";
import type { KnownImport } from "./import-cache.ts";
import { readSourceSession } from "./read-session.ts";
import type { ImportStatus, SessionTarget } from "./session-target.ts";
import type { SourceSession } from "./source-session.ts";

/** Start time and working directory of another program's session. */
export type SourceBeginning = Pick<SourceSession, "startedAt" | "cwd">;

/** Facts about the whole run that importing one session needs; plain data, to pass to threads. */
export interface RunFacts {
  /** ISO 8601. */
  readonly importedAt: string;
  /** Whether to write nothing. */
  readonly isDryRun: boolean;
  /** Whether to import anew, beside sessions that exist. */
  readonly isFresh: boolean;
  /** Whether to import sessions that were deleted here. */
  readonly isAgain: boolean;
  /** Working directories that Claude Code knows. */
  readonly claudeProjects: readonly string[];
  /** Beginnings of all found sessions, by id. */
  readonly beginnings: ReadonlyMap<string, SourceBeginning>;
}

/** The result for one session. */
export interface MadeSession {
  readonly known: KnownImport;
  readonly status: ImportStatus;
  readonly issues: readonly SessionIssue[];
}

/** Imports sessions of other programs into one target, one at a time. */
export class SessionImporter {
  readonly #target: SessionTarget;
  readonly #facts: RunFacts;

  constructor(target: SessionTarget, facts: RunFacts) {
    this.#target = target;
    this.#facts = facts;
  }

  /**
   * Imports a session and its subagents.
   *
   * @param made - Results from before a failure; these sessions are not imported again.
   */
  async *import(
    session: SourceSession,
    made: readonly MadeSession[] = [],
  ): AsyncGenerator<MadeSession, void, undefined> {
    const path = session.files[0]?.path ?? "";
    const read = await this.#read(session);
    const beside: SessionsBeside = new Map(
      await Promise.all(
        read.map(async (one) => {
          const header = { ...one.header, id: await this.#idOf(one.header) };
          return [one.sourceId, { imported: one, header }] as const;
        }),
      ),
    );
    for (const [number, imported] of read.entries()) {
      yield made[number] ?? (await this.#importOne(imported, beside, path));
    }
  }

  async #read(session: SourceSession): Promise<ImportedSession[]> {
    const { importedAt, claudeProjects } = this.#facts;
    const isTimeless = session.source === "messages";
    const begunAt = isTimeless ? await this.#target.begunAt(sessionIdOf(session.sourceId)) : undefined;
    return readSourceSession(session, { begunAt, importedAt, claudeProjects });
  }

  async #importOne(imported: ImportedSession, beside: SessionsBeside, path: string): Promise<MadeSession> {
    const header = await this.#headerOf(imported, beside);
    const place = this.#target.placeOf(header);
    const { sourceId, sourcePath = path, counts, dropped, issues } = imported;
    const known = { sourceId, sourcePath, id: header.id, place, counts, dropped };
    if (await this.#isLeftOut(imported, beside))
      return { known: { ...known, isDeleted: true }, status: "deleted", issues };
    const session = header.id === imported.header.id ? imported : await this.#withoutRedacted(imported);
    if (this.#facts.isDryRun)
      return { known, status: await this.#target.compare(place, header, session), issues };
    const status = await this.#target.sync(place, header, session);
    if (this.#facts.isAgain) unmarkDeletedImport(imported);
    return { known: { ...known, size: this.#target.sizeOf(place) }, status, issues };
  }

  /** Redacts in a session that is imported anew what was redacted in the one that stands beside it. */
  async #withoutRedacted(imported: ImportedSession): Promise<ImportedSession> {
    const redactedIds = await this.#target.redactedIn(this.#target.placeOf(imported.header));
    const [first, ...rest] = imported.entries;
    const targetIds = rest.map(({ id }) => id).filter((id) => redactedIds.has(id));
    if (first === undefined || targetIds.length === 0) return imported;
    const record = {
      type: "custom",
      id: inventEntryId(`redacted ${targetIds.join(" ")}`, 0, 0),
      parentId: first.id,
      timestamp: first.timestamp,
      customType: REDACTION_CUSTOM_TYPE,
      data: { targetIds },
    };
    const entries = rest.map((one) => (redactedIds.has(one.id) ? redactEntry(one, REDACTED_TEXT) : one));
    return { ...imported, entries: [first, record, ...entries] };
  }

  /** Tells whether a session, or the one whose subagent it is of, was deleted here, and is not there again. */
  async #isLeftOut(imported: ImportedSession, beside: SessionsBeside): Promise<boolean> {
    if (this.#facts.isAgain || (await this.#isThere(imported.header))) return false;
    const seen = new Set<string>();
    for (let at: SourceLink | undefined = imported; at !== undefined && !seen.has(at.sourceId); ) {
      if (isDeletedImport(at)) return true;
      seen.add(at.sourceId);
      at = await this.#agentOf(at, imported, beside);
    }
    return false;
  }

  /** Returns the session whose subagent a session is of, unless that session is here. */
  async #agentOf(
    { source, parent }: SourceLink,
    { header }: ImportedSession,
    beside: SessionsBeside,
  ): Promise<SourceLink | undefined> {
    if (parent?.relation !== "subagent") return undefined;
    const { sourceId } = parent;
    const next = beside.get(sourceId)?.imported;
    if (await this.#isThere(next?.header ?? { ...header, id: sessionIdOf(sourceId) })) return undefined;
    return next ?? { source, sourceId, parent: undefined };
  }

  async #isThere(header: SessionHeader): Promise<boolean> {
    return this.#target.has(this.#target.placeOf({ ...header, id: await this.#idOf(header) }));
  }

  /** Returns the id of the session: of the newest one that was imported anew, or a new one for that. */
  async #idOf(header: SessionHeader): Promise<string> {
    if (this.#facts.isFresh) return freshId(header.id, IMPORT_MAPPING);
    for (let mapping = IMPORT_MAPPING; mapping > 1; mapping--) {
      const id = freshId(header.id, mapping);
      if (await this.#target.has(this.#target.placeOf({ ...header, id }))) return id;
    }
    return header.id;
  }

  /**
   * Adds the path or id of the parent session, whether it exists or will exist.
   *
   * @param beside - Sessions of the same source, by their ids there.
   */
  async #headerOf(imported: ImportedSession, beside: SessionsBeside): Promise<SessionHeader> {
    const { parent } = imported;
    const header = beside.get(imported.sourceId)?.header ?? imported.header;
    if (parent === undefined) return header;
    const own = beside.get(parent.sourceId);
    if (own !== undefined) return { ...header, parentSession: this.#target.placeOf(own.header) };
    const beginning = this.#facts.beginnings.get(parent.sourceId);
    const timestamp = isoTimeOf(beginning?.startedAt);
    if (beginning === undefined || timestamp === undefined) {
      const parentSession = this.#target.find(parent.sourceId);
      return parentSession === undefined ? header : { ...header, parentSession };
    }
    const its = { ...imported.header, id: parent.sourceId, timestamp, cwd: beginning.cwd };
    return { ...header, parentSession: this.#target.placeOf({ ...its, id: await this.#idOf(its) }) };
  }
}

/** A session and the one that it descends from. */
type SourceLink = Pick<ImportedSession, "source" | "sourceId" | "parent">;

/** Sessions of one source with the headers that they get, by their ids there. */
type SessionsBeside = ReadonlyMap<
  string,
  { readonly imported: ImportedSession; readonly header: SessionHeader }
>;

/** Returns the id of a session that is imported anew beside one with this id. */
function freshId(id: string, mapping: number): string {
  return `${id}.m${mapping}`;
}
