import type { ImportedSession } from "../import/imported-session.ts";
import { sessionIdOf } from "../import/session-builder.ts";
import { isoTimeOf } from "../import/source-values.ts";
import type { SessionHeader } from "../schema/header.ts";
import type { SessionIssue } from "../schema/issue.ts";
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
    const headers = new Map(read.map(({ sourceId, header }) => [sourceId, header]));
    for (const [number, imported] of read.entries()) {
      yield made[number] ?? (await this.#importOne(imported, this.#headerOf(imported, headers), path));
    }
  }

  async #read(session: SourceSession): Promise<ImportedSession[]> {
    const { importedAt, claudeProjects } = this.#facts;
    const isTimeless = session.source === "messages";
    const begunAt = isTimeless ? await this.#target.begunAt(sessionIdOf(session.sourceId)) : undefined;
    return readSourceSession(session, { begunAt, importedAt, claudeProjects });
  }

  async #importOne(imported: ImportedSession, header: SessionHeader, path: string): Promise<MadeSession> {
    const place = this.#target.placeOf(header);
    const status = this.#facts.isDryRun
      ? await this.#target.compare(place, header, imported)
      : await this.#target.sync(place, header, imported);
    const { sourceId, sourcePath = path, counts, dropped, issues } = imported;
    return { known: { sourceId, sourcePath, id: header.id, place, counts, dropped }, status, issues };
  }

  /**
   * Adds the path or id of the parent session, whether it exists or will exist.
   *
   * @param beside - Headers of sessions from the same source, by their ids there.
   */
  #headerOf({ header, parent }: ImportedSession, beside: ReadonlyMap<string, SessionHeader>): SessionHeader {
    if (parent === undefined) return header;
    const own = beside.get(parent.sourceId);
    if (own !== undefined) return { ...header, parentSession: this.#target.placeOf(own) };
    const beginning = this.#facts.beginnings.get(parent.sourceId);
    const timestamp = isoTimeOf(beginning?.startedAt);
    const parentSession =
      beginning === undefined || timestamp === undefined
        ? this.#target.find(parent.sourceId)
        : this.#target.placeOf({ ...header, id: parent.sourceId, timestamp, cwd: beginning.cwd });
    return parentSession === undefined ? header : { ...header, parentSession };
  }
}
