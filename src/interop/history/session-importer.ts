import { isDeletedImport, unmarkDeletedImport } from "../../catalog/list/deleted-imports.ts";
import type { UnknownEntry } from "../../core/format/entry.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { inventEntryId } from "../../core/format/ids.ts";
import { type ImportOrigin, sourceKeyOf } from "../../core/format/import-origin.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import { REDACTED_TEXT, redactEntry } from "../../core/format/redact-entry.ts";
import { REDACTION_CUSTOM_TYPE } from "../../core/format/redaction.ts";
import { CURRENT_SESSION_VERSION } from "../../core/format/version.ts";
import { sourceOf } from "../../core/jsonl/line-source.ts";
import { INHERITED_COST_TYPE } from "../import/claude-code/cost-state.ts";
import type { ImportedSession } from "../import/imported-session.ts";
import { NO_TIME, sessionIdOf } from "../import/session-builder.ts";
import { leftOut } from "../import/source-text.ts";
import { isoTimeOf } from "../import/source-values.ts";
import type { KnownImport } from "./import-cache.ts";
import type { ImportTarget } from "./import-target.ts";
import { readOn } from "./incremental-import.ts";
import { RedactedCopies } from "./redacted-copies.ts";
import type { RunFacts } from "./run-summary.ts";
import { SessionIds } from "./session-ids.ts";
import type { KnownFile, ReadOptions, SourceSession } from "./source-program.ts";
import { programOf } from "./source-table.ts";
import { type ImportStatus, redactedAmong } from "./sync-plan.ts";
import { compareSession, entriesAt, syncSession } from "./sync-session.ts";

/** The result for one session. */
export interface MadeSession {
  readonly known: KnownImport;
  readonly status: ImportStatus;
  /** Whether nothing but an append was done to it. */
  readonly isAppended?: true;
  readonly issues: readonly SessionIssue[];
}

/** Imports sessions of other programs into one target, one at a time. */
export class SessionImporter {
  readonly #target: ImportTarget;
  readonly #facts: RunFacts;
  readonly #ids: SessionIds;

  constructor(target: ImportTarget, facts: RunFacts) {
    this.#target = target;
    this.#facts = facts;
    this.#ids = new SessionIds(target, facts);
  }

  /** Imports what was appended to a session since the last import, if that can be told without reading all of it. */
  async readOn(
    session: SourceSession,
    before: readonly KnownImport[],
  ): Promise<readonly MadeSession[] | undefined> {
    const { isFresh, isDryRun, isAgain, importedAt, cacheDir } = this.#facts;
    const own = before.find(({ sourceId }) => sourceId === session.sourceId);
    const program = programOf(session.source);
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

  /** Imports a session and its subagents, except those that were made before a failure. */
  async *import(
    session: SourceSession,
    made: readonly MadeSession[] = [],
  ): AsyncGenerator<MadeSession, void, undefined> {
    const path = session.files[0]?.path ?? "";
    const id = await this.#ids.baseOf(session, headerOf(session, session));
    const read = await this.#read(session, id);
    const beside = await this.#besideOf(read, { ...session, id });
    for (const [number, imported] of read.entries()) {
      yield made[number] ?? (await this.#importOne(imported, beside, path));
    }
  }

  /** Returns the start of an existing session, ISO 8601; undefined if there is none. */
  async #begunAt(id: string): Promise<string | undefined> {
    const location = this.#target.find(id);
    const front = location === undefined ? undefined : await this.#target.readFront(location);
    return front && sourceOf(front).index.header?.timestamp;
  }

  /** @param id - Of the session here, without what marks one that is imported anew. */
  async #read(session: SourceSession, id: string): Promise<ImportedSession[]> {
    const { importedAt, cacheDir } = this.#facts;
    const isTimeless = session.files.every(({ facts }) => facts.startedAt === undefined);
    const begunAt = isTimeless ? await this.#begunAt(id) : undefined;
    const ownId = id === sessionIdOf(session.sourceId) ? undefined : id;
    const isNeeded = programOf(session.source)?.needsKnown?.(session) === true;
    const known = isNeeded ? await this.#knownOf(session, id) : [];
    return readSourceSession(session, { begunAt, importedAt, cacheDir, known, ownId });
  }

  /** Returns the entries of a session here; of one that is imported anew, those of the older one that say what was copied. */
  async #knownOf(session: SourceSession, id: string): Promise<readonly UnknownEntry[]> {
    const base = { ...headerOf(session, session), id };
    const header = { ...base, id: await this.#ids.versionOf(base) };
    const known = await entriesAt(this.#target, this.#target.locationOf(header));
    if (known.length > 0 || header.id === id) return known;
    const older = await entriesAt(this.#target, this.#target.locationOf(base));
    return older.filter(({ customType }) => customType === INHERITED_COST_TYPE);
  }

  /** Chooses the ids of a session's subagents; that of the session is known. */
  async #besideOf(
    read: readonly ImportedSession[],
    { sourceId, id }: { readonly sourceId: string; readonly id: string },
  ): Promise<SessionsBeside> {
    const beside = new Map<string, SessionBeside>();
    const taken = new Set([id]);
    for (const imported of read) {
      const isMain = imported.sourceId === sourceId;
      const baseId = isMain ? id : await this.#ids.baseOf(imported, imported.header, taken);
      const base = { ...imported.header, id: baseId };
      const header = { ...base, id: await this.#ids.versionOf(base) };
      taken.add(baseId);
      beside.set(imported.sourceId, { imported, base, header });
    }
    return beside;
  }

  async #importOne(imported: ImportedSession, beside: SessionsBeside, path: string): Promise<MadeSession> {
    const header = await this.#headerOf(imported, beside);
    const location = this.#target.locationOf(header);
    const { sourceId, sourcePath = path, counts, dropped, issues } = imported;
    const known = { sourceId, sourcePath, id: header.id, location, counts, dropped };
    if (await this.#isLeftOut(imported, beside))
      return { known: { ...known, isDeleted: true }, status: "deleted", issues };
    const base = beside.get(imported.sourceId)?.base ?? header;
    const session = await this.#withoutRedacted(imported, header, base);
    if (this.#facts.isDryRun)
      return { known, status: await compareSession(this.#target, location, session), issues };
    const { isAgain } = this.#facts;
    // Before it is there: whoever deletes it from then on marks it.
    if (isAgain) unmarkDeletedImport(imported);
    const mayMake = () => isAgain || !isDeletedImport(imported);
    const status = await syncSession(this.#target, location, header, session, mayMake);
    if (status === "deleted") return { known: { ...known, isDeleted: true }, status, issues };
    const written = { size: this.#target.sizeOf(location), writtenMs: Date.now() };
    return { known: { ...known, ...written }, status, issues };
  }

  /** Redacts in a session what was redacted in the ones that it repeats. */
  async #withoutRedacted(
    imported: ImportedSession,
    header: SessionHeader,
    base: SessionHeader,
  ): Promise<ImportedSession> {
    const [first, ...rest] = imported.entries;
    const redactedIds = new Set<string>();
    for (const location of await this.#repeatedBy(imported, header, base))
      for (const id of redactedAmong(await entriesAt(this.#target, location), rest)) redactedIds.add(id);
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

  /** Returns the paths or ids of the sessions that one repeats: an earlier import of it and, for a new fork, its parent. */
  async #repeatedBy(
    { parent }: ImportedSession,
    header: SessionHeader,
    base: SessionHeader,
  ): Promise<string[]> {
    const earlier = header.id === base.id ? [] : [this.#target.locationOf(base)];
    const { parentSession } = header;
    if (parent?.relation !== "fork" || typeof parentSession !== "string") return earlier;
    const isNew = !(await this.#target.has(this.#target.locationOf(header)));
    return isNew ? [...earlier, parentSession] : earlier;
  }

  /** Tells whether a session, or the one whose subagent it is of, was deleted here, and is not there again. */
  async #isLeftOut(imported: ImportedSession, beside: SessionsBeside): Promise<boolean> {
    const { header } = beside.get(imported.sourceId) ?? imported;
    if (this.#facts.isAgain || (await this.#ids.has(header))) return false;
    const seen = new Set<string>();
    for (let at: SourceLink | undefined = imported; at !== undefined && !seen.has(at.sourceId); ) {
      if (isDeletedImport(at)) return true;
      seen.add(at.sourceId);
      at = await this.#agentOf(at, beside);
    }
    return false;
  }

  /** Returns the session whose subagent a session is of, unless that session is here. */
  async #agentOf({ source, parent }: SourceLink, beside: SessionsBeside): Promise<SourceLink | undefined> {
    if (parent?.relation !== "subagent") return undefined;
    const { sourceId } = parent;
    const next = beside.get(sourceId);
    const header = next?.header ?? (await this.#headerOfOther({ source, sourceId }));
    if (await this.#ids.has(header)) return undefined;
    return next?.imported ?? { source, sourceId, parent: undefined };
  }

  /** Adds the path or id of the parent session, whether it exists or will exist. */
  async #headerOf(imported: ImportedSession, beside: SessionsBeside): Promise<SessionHeader> {
    const { parent } = imported;
    const header = beside.get(imported.sourceId)?.header ?? imported.header;
    if (parent === undefined) return header;
    const own = beside.get(parent.sourceId);
    if (own !== undefined) return { ...header, parentSession: this.#target.locationOf(own.header) };
    const origin = { source: imported.source, sourceId: parent.sourceId };
    const its = await this.#headerOfOther(origin);
    const isFound = isoTimeOf(this.#facts.beginnings.get(sourceKeyOf(origin))?.startedAt) !== undefined;
    const parentSession = isFound ? this.#target.locationOf(its) : this.#target.find(its.id);
    return parentSession === undefined ? header : { ...header, parentSession };
  }

  /** Returns the header of a session that is not imported now, as far as the run knows it. */
  async #headerOfOther(origin: ImportOrigin): Promise<SessionHeader> {
    const header = headerOf(origin, this.#facts.beginnings.get(sourceKeyOf(origin)));
    const base = { ...header, id: await this.#ids.baseOf(origin, header) };
    return { ...base, id: await this.#ids.versionOf(base) };
  }
}

/** Makes the header that a session gets, with the id made from the one in its source. */
function headerOf(
  { sourceId }: ImportOrigin,
  { startedAt, cwd }: Pick<SourceSession, "startedAt" | "cwd"> = { startedAt: "", cwd: "" },
): SessionHeader {
  const timestamp = isoTimeOf(startedAt) ?? NO_TIME;
  return { type: "session", version: CURRENT_SESSION_VERSION, id: sessionIdOf(sourceId), timestamp, cwd };
}

type SourceLink = Pick<ImportedSession, "source" | "sourceId" | "parent">;

/** A session with the headers that it gets: `base` without what marks one that is imported anew. */
interface SessionBeside {
  readonly imported: ImportedSession;
  readonly base: SessionHeader;
  readonly header: SessionHeader;
}

/** Sessions of one source, by their ids there. */
type SessionsBeside = ReadonlyMap<string, SessionBeside>;

/** Converts the files of another program's session to sessions, the main one first; none if they hold no conversation. */
function readSourceSession(session: SourceSession, options: ReadOptions): ImportedSession[] {
  const [main, ...others] = programOf(session.source)?.read(session, options) ?? [];
  if (main === undefined) return [];
  const issues = session.copies.flatMap((copy) => leftOutOf(copy, session));
  return [issues.length === 0 ? main : { ...main, issues: [...main.issues, ...issues] }, ...others];
}

/** Returns an issue if a copy of a session holds what the session does not. */
function leftOutOf(copy: KnownFile, session: SourceSession): SessionIssue[] {
  const { path, facts } = copy;
  const lost = programOf(session.source)?.countMissing?.(copy, session);
  if (lost === 0) return [];
  const what = lost === undefined ? path : `${lost} ${lost === 1 ? "record" : "records"} of ${path}`;
  return [
    leftOut(`Left out ${what}: it has the id ${facts.sessionId}, too, and is not the largest file that has.`),
  ];
}
