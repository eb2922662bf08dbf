import { isDeletedImport, parseFirstEntry, unmarkDeletedImport } from "../../catalog/list/deleted-imports.ts";
import type { UnknownEntry } from "../../core/format/entry.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { hashText, inventEntryId } from "../../core/format/ids.ts";
import {
  findImportOrigin,
  type ImportOrigin,
  makeOwnOrigin,
  makeSourceKey,
} from "../../core/format/import-origin.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import { REDACTED_TEXT, redactEntry } from "../../core/format/redact-entry.ts";
import { REDACTION_CUSTOM_TYPE } from "../../core/format/redaction.ts";
import { CURRENT_SESSION_VERSION } from "../../core/format/version.ts";
import { makeLineSource } from "../../core/jsonl/line-source.ts";
import { INHERITED_COST_TYPE } from "../import/claude-code/cost-state.ts";
import { IMPORT_MAPPING, type ImportedSession } from "../import/imported-session.ts";
import { makeEntryId, makeSessionId, NO_TIME } from "../import/session-builder.ts";
import { toIsoTime } from "../import/source-text.ts";
import type { KnownImport } from "./import-cache.ts";
import type { ImportTarget } from "./import-target.ts";
import { readOn } from "./incremental-import.ts";
import type { SourceSession } from "./source-program.ts";
import type { SourceReader } from "./source-reader.ts";
import { findProgram } from "./source-table.ts";
import { findRedacted, type ImportStatus, RedactedCopies } from "./sync-plan.ts";
import { compareSession, findContinuedHeader, readEntriesAt, syncSession } from "./sync-session.ts";

/** Result of importing one session. */
export interface MadeSession {
  readonly known: KnownImport;
  readonly status: ImportStatus;
  /** Whether the import only appended entries. */
  readonly isAppended?: true;
  readonly issues: readonly SessionIssue[];
}

/** Imports other programs' sessions to one target, one at a time. */
export class SessionImporter {
  readonly #target: ImportTarget;
  readonly #facts: RunFacts;
  readonly #ids: SessionIds;
  readonly #reader: Pick<SourceReader, "readSession">;
  /** Headers of the sessiontree sessions that sessions in this run continue, by `makeSourceKey`. */
  readonly #joined = new Map<string, SessionHeader>();

  constructor(target: ImportTarget, facts: RunFacts, reader: Pick<SourceReader, "readSession">) {
    this.#reader = reader;
    this.#target = target;
    this.#facts = facts;
    this.#ids = new SessionIds(target, facts);
  }

  /** Imports the entries appended to a session since the last import; undefined if the whole session must be read. */
  async readOn(
    session: SourceSession,
    before: readonly KnownImport[],
  ): Promise<readonly MadeSession[] | undefined> {
    const { isFresh, isDryRun, isAgain, importedAt, cacheDir } = this.#facts;
    const own = before.find(({ sourceId }) => sourceId === session.sourceId);
    const program = findProgram(session.source);
    if (isFresh || isDryRun || isAgain || own === undefined || program === undefined) return undefined;
    for (const one of before) {
      if (one.isDeleted === true || !(await this.#target.has(one.location, one))) return undefined;
    }
    const options = { importedAt, cacheDir, begunAt: undefined, known: [], ownId: undefined };
    const known = await readOn(session, program, own, this.#target, options);
    return (
      known &&
      before.map(
        (one): MadeSession =>
          one === own
            ? { known, status: "grown", isAppended: true, issues: [] }
            : { known: one, status: "unchanged", issues: [] },
      )
    );
  }

  /** Imports a session and its subagents. */
  async *import(session: SourceSession): AsyncGenerator<MadeSession, void, undefined> {
    const path = session.files[0]?.path ?? "";
    const id = await this.#ids.getBaseId(session, makeHeader(session, session));
    const read = await this.#read(session, id);
    const beside = await this.#chooseBeside(read, { ...session, id });
    for (const imported of read) yield await this.#importOne(imported, beside, path);
  }

  /** Returns the start time of an existing session, ISO 8601; undefined if the session does not exist. */
  async #begunAt(id: string): Promise<string | undefined> {
    const location = this.#target.find(id);
    const front = location === undefined ? undefined : await this.#target.readFront(location);
    return front && makeLineSource(front).index.header?.timestamp;
  }

  /** @param id - Id of the session in the target, without the suffix of a re-import. */
  async #read(session: SourceSession, id: string): Promise<ImportedSession[]> {
    const { importedAt, cacheDir } = this.#facts;
    const isTimeless = session.files.every(({ facts }) => facts.startedAt === undefined);
    const begunAt = isTimeless ? await this.#begunAt(id) : undefined;
    const ownId = id === makeSessionId(session.sourceId) ? undefined : id;
    const isNeeded = findProgram(session.source)?.needsKnown?.(session) === true;
    const known = isNeeded ? await this.#readKnown(session, id) : [];
    return this.#reader.readSession(session, { begunAt, importedAt, cacheDir, known, ownId });
  }

  /** Returns a session's existing entries. For a re-import, returns the older session's entries that record inherited costs. */
  async #readKnown(session: SourceSession, id: string): Promise<readonly UnknownEntry[]> {
    const base = { ...makeHeader(session, session), id };
    const header = { ...base, id: await this.#ids.getVersionId(base) };
    const known = await readEntriesAt(this.#target, this.#target.getLocation(header));
    if (known.length > 0 || header.id === id) return known;
    const older = await readEntriesAt(this.#target, this.#target.getLocation(base));
    return older.filter(({ customType }) => customType === INHERITED_COST_TYPE);
  }

  /** Chooses the ids for a session's subagents. The id of the session itself is given. */
  async #chooseBeside(
    read: readonly ImportedSession[],
    { sourceId, id }: { readonly sourceId: string; readonly id: string },
  ): Promise<SessionsBeside> {
    const beside = new Map<string, SessionBeside>();
    const taken = new Set([id]);
    for (const imported of read) {
      const isMain = imported.sourceId === sourceId;
      const baseId = isMain ? id : await this.#ids.getBaseId(imported, imported.header, taken);
      const base = { ...imported.header, id: baseId };
      const version = { ...base, id: await this.#ids.getVersionId(base) };
      const header = (await this.#findContinued(imported, [base, version])) ?? version;
      taken.add(baseId);
      beside.set(imported.sourceId, { imported, base, header });
    }
    return beside;
  }

  /** Finds the sessiontree session that a session continues, unless that continuation is already a separate session. */
  async #findContinued(
    imported: ImportedSession,
    own: readonly SessionHeader[],
  ): Promise<SessionHeader | undefined> {
    if (imported.continued === undefined) return undefined;
    for (const header of own) if (await this.#ids.has(header)) return undefined;
    const header = await findContinuedHeader(this.#target, imported);
    if (header !== undefined) this.#joined.set(makeSourceKey(imported), header);
    return header;
  }

  async #importOne(imported: ImportedSession, beside: SessionsBeside, path: string): Promise<MadeSession> {
    const header = await this.#makeHeader(imported, beside);
    const location = this.#target.getLocation(header);
    const { sourceId, sourcePath = path, counts, dropped, issues } = imported;
    const isJoined = this.#joined.has(makeSourceKey(imported));
    const continuedId = imported.continued?.sessionId;
    const known = { sourceId, sourcePath, id: header.id, location, counts, dropped, continuedId };
    if (await this.#isLeftOut(imported, beside))
      return { known: { ...known, isDeleted: true }, status: "deleted", issues };
    const base = beside.get(imported.sourceId)?.base ?? header;
    const session = await this.#withoutRedacted(imported, header, base);
    if (this.#facts.isDryRun)
      return { known, status: await compareSession(this.#target, location, session), issues };
    const { isAgain } = this.#facts;
    // Do this before the session is written, because a later deletion marks it again.
    if (isAgain) unmarkDeletedImport(imported);
    const mayMake = () => !isJoined && (isAgain || !isDeleted(imported));
    const status = await syncSession(this.#target, location, header, session, mayMake);
    if (status === "deleted") return { known: { ...known, isDeleted: true }, status, issues };
    const written = { size: this.#target.getSize(location), writtenMs: Date.now() };
    return { known: { ...known, ...written }, status, issues };
  }

  /** Redacts entries that were redacted in the sessions that this session repeats. */
  async #withoutRedacted(
    imported: ImportedSession,
    header: SessionHeader,
    base: SessionHeader,
  ): Promise<ImportedSession> {
    const [first, ...rest] = imported.entries;
    const redactedIds = new Set<string>();
    for (const location of await this.#repeatedBy(imported, header, base))
      for (const id of findRedacted(await readEntriesAt(this.#target, location), rest)) redactedIds.add(id);
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
    const copies = new RedactedCopies(rest.filter(({ id }) => redactedIds.has(id)));
    const entries = rest.map((one) =>
      redactedIds.has(one.id) ? redactEntry(one, REDACTED_TEXT) : copies.without(one),
    );
    return { ...imported, entries: [first, record, ...entries] };
  }

  /** Returns the locations of the sessions that a session repeats: its earlier import and, for a new fork, its parent. */
  async #repeatedBy(
    { parent }: ImportedSession,
    header: SessionHeader,
    base: SessionHeader,
  ): Promise<string[]> {
    const earlier = header.id === base.id ? [] : [this.#target.getLocation(base)];
    const { parentSession } = header;
    if (parent?.relation !== "fork" || typeof parentSession !== "string") return earlier;
    const isNew = !(await this.#target.has(this.#target.getLocation(header)));
    return isNew ? [...earlier, parentSession] : earlier;
  }

  /**
   * Returns whether a session, or a session that started it as a subagent, was deleted from the target and has not been
   * recreated.
   */
  async #isLeftOut(imported: ImportedSession, beside: SessionsBeside): Promise<boolean> {
    const { header } = beside.get(imported.sourceId) ?? imported;
    if (this.#facts.isAgain || (await this.#ids.has(header))) return false;
    const seen = new Set<string>();
    for (let at: SourceLink | undefined = imported; at !== undefined && !seen.has(at.sourceId); ) {
      if (isDeleted(at)) return true;
      seen.add(at.sourceId);
      at = await this.#findAgent(at, beside);
    }
    return false;
  }

  /** Returns the session that started another session as a subagent, unless the former exists in the target. */
  async #findAgent({ source, parent }: SourceLink, beside: SessionsBeside): Promise<SourceLink | undefined> {
    if (parent?.relation !== "subagent") return undefined;
    const { sourceId } = parent;
    const next = beside.get(sourceId);
    const header = next?.header ?? (await this.#headerOfOther({ source, sourceId }));
    if (await this.#ids.has(header)) return undefined;
    return next?.imported ?? { source, sourceId, parent: undefined };
  }

  /** Adds the location of the parent session, whether it already exists or is yet to be created. */
  async #makeHeader(imported: ImportedSession, beside: SessionsBeside): Promise<SessionHeader> {
    const { parent } = imported;
    const header = beside.get(imported.sourceId)?.header ?? imported.header;
    if (parent === undefined) return header;
    const own = beside.get(parent.sourceId);
    if (own !== undefined) return { ...header, parentSession: this.#target.getLocation(own.header) };
    const origin = { source: imported.source, sourceId: parent.sourceId };
    const its = await this.#headerOfOther(origin);
    const isFound = toIsoTime(this.#facts.beginnings.get(makeSourceKey(origin))?.startedAt) !== undefined;
    const parentSession = isFound ? this.#target.getLocation(its) : this.#target.find(its.id);
    return parentSession === undefined ? header : { ...header, parentSession };
  }

  /** Returns the header of a session that is not being imported, based on the facts known to the run. */
  async #headerOfOther(origin: ImportOrigin): Promise<SessionHeader> {
    const joined = this.#joined.get(makeSourceKey(origin));
    if (joined !== undefined) return joined;
    const header = makeHeader(origin, this.#facts.beginnings.get(makeSourceKey(origin)));
    const base = { ...header, id: await this.#ids.getBaseId(origin, header) };
    return { ...base, id: await this.#ids.getVersionId(base) };
  }
}

/** Creates the header of an imported session. The session's id is derived from the source id. */
function makeHeader(
  { sourceId }: ImportOrigin,
  { startedAt, cwd }: Pick<SourceSession, "startedAt" | "cwd"> = { startedAt: "", cwd: "" },
): SessionHeader {
  const timestamp = toIsoTime(startedAt) ?? NO_TIME;
  return { type: "session", version: CURRENT_SESSION_VERSION, id: makeSessionId(sourceId), timestamp, cwd };
}

type SourceLink = Pick<ImportedSession, "source" | "sourceId" | "parent" | "continued">;

/** Returns whether a session, or the exported session that it continues, was deleted from the target. */
function isDeleted({ source, sourceId, continued }: SourceLink): boolean {
  const origins = [{ source, sourceId }, ...(continued ? [makeOwnOrigin(continued.sessionId)] : [])];
  return origins.some(isDeletedImport);
}

/** A session with its headers. `base` is its header without the suffix of a re-import. */
interface SessionBeside {
  readonly imported: ImportedSession;
  readonly base: SessionHeader;
  readonly header: SessionHeader;
}

/** Sessions from one source, keyed by source id. */
type SessionsBeside = ReadonlyMap<string, SessionBeside>;

/**
 * Chooses the ids of imported sessions: the session's existing id, or an id that no other session uses.
 *
 * Different source ids may become equal when they are made safe for file names. The session that was imported first keeps the
 * plain id; if no session has been imported, the earliest session gets it. The ids of the other sessions begin with a hash.
 */
export class SessionIds {
  readonly #target: ImportTarget;
  readonly #facts: RunFacts;

  constructor(target: ImportTarget, facts: RunFacts) {
    this.#target = target;
    this.#facts = facts;
  }

  /**
   * Returns the id of a session, without the suffix of a re-import.
   *
   * @param header - Header with the id derived from the source id.
   * @param taken - Ids that this run has assigned to other sessions of the same source.
   */
  async getBaseId(
    origin: ImportOrigin,
    header: SessionHeader,
    taken: ReadonlySet<string> = new Set(),
  ): Promise<string> {
    const { id: plain } = header;
    const derived = `${hashText(makeSourceKey(origin)).slice(0, 8)}.${plain}`;
    for (const id of [plain, derived]) {
      for (const version of [id, ...listFreshIds(id)]) {
        if (await this.#isFrom(origin, { ...header, id: version })) return id;
      }
    }
    if (taken.has(plain) || this.#facts.beginnings.get(makeSourceKey(origin))?.isNameTaken === true)
      return derived;
    // Another import may have created the session in the meantime.
    return !(await this.has(header)) || (await this.#isFrom(origin, header)) ? plain : derived;
  }

  /** Returns the id under which to import a session: the id of its newest re-import, or a new id for a new re-import. */
  async getVersionId(header: SessionHeader): Promise<string> {
    if (this.#facts.isFresh) return makeFreshId(header.id, IMPORT_MAPPING);
    for (const id of listFreshIds(header.id)) if (await this.has({ ...header, id })) return id;
    return header.id;
  }

  /** Returns whether a session exists in the target. */
  async has(header: SessionHeader): Promise<boolean> {
    return this.#target.has(this.#target.getLocation(header));
  }

  /** Returns whether a session exists in the target and comes from the given source, even if a power failure damaged it. */
  async #isFrom(origin: ImportOrigin, header: SessionHeader): Promise<boolean> {
    if (!(await this.has(header))) return false;
    const front = await this.#target.readFront(this.#target.getLocation(header));
    // The session was deleted in the meantime. It may have come from another source.
    if (front === undefined) return false;
    const first = parseFirstEntry(front);
    if (first === undefined) return true;
    const told = findImportOrigin(first);
    const key = makeSourceKey(origin);
    // A redacted entry has no origin, but still has its id.
    return told === undefined ? first["id"] === makeEntryId(key) : makeSourceKey(told) === key;
  }
}

/** Returns the possible ids of a session's re-imports, newest first. */
function listFreshIds(id: string): string[] {
  return Array.from({ length: IMPORT_MAPPING - 1 }, (_, back) => makeFreshId(id, IMPORT_MAPPING - back));
}

/** Returns the id for a re-import of the session with the given id. */
function makeFreshId(id: string, mapping: number): string {
  return `${id}.m${mapping}`;
}

/** Facts about a session found by a run. */
export interface SourceBeginning extends Pick<SourceSession, "startedAt" | "cwd"> {
  /** Whether an earlier session has the same id in file names. */
  readonly isNameTaken: boolean;
}

/** Facts about a whole run that are needed to import each session. */
export interface RunFacts {
  /** ISO 8601. */
  readonly importedAt: string;
  /** Folder in the user's cache where copies of databases are stored. */
  readonly cacheDir: string;
  /** Whether to report results without writing anything. */
  readonly isDryRun: boolean;
  /** Whether to re-import sessions, leaving existing sessions unchanged. */
  readonly isFresh: boolean;
  /** Whether sessions that were deleted from the target are imported again. */
  readonly isAgain: boolean;
  /** Beginnings of all sessions found, by `makeSourceKey`. */
  readonly beginnings: ReadonlyMap<string, SourceBeginning>;
}
