import { firstEntryIn } from "../../catalog/list/deleted-imports.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { digestOf } from "../../core/format/ids.ts";
import { type ImportOrigin, importOriginIn, sourceKeyOf } from "../../core/format/import-origin.ts";
import { IMPORT_MAPPING } from "../import/imported-session.ts";
import { entryIdOf } from "../import/session-builder.ts";
import type { ImportTarget } from "./import-target.ts";
import type { RunFacts } from "./run-summary.ts";

/**
 * Chooses the ids of imported sessions: the one that a session has, else one that no other session has.
 *
 * Ids of several sessions may be equal once they are safe in a file name. The one that was imported first keeps that
 * id, else the earliest one gets it; the others get one with a digest in front.
 */
export class SessionIds {
  readonly #target: ImportTarget;
  readonly #facts: RunFacts;

  constructor(target: ImportTarget, facts: RunFacts) {
    this.#target = target;
    this.#facts = facts;
  }

  /**
   * Returns the id of a session, without what marks one that was imported anew.
   *
   * @param header - With the id made from the one that the session has in its source.
   * @param taken - Ids that other sessions of the same source get in this run.
   */
  async baseOf(
    origin: ImportOrigin,
    header: SessionHeader,
    taken: ReadonlySet<string> = new Set(),
  ): Promise<string> {
    const { id: plain } = header;
    const derived = `${digestOf(sourceKeyOf(origin)).slice(0, 8)}.${plain}`;
    for (const id of [plain, derived]) {
      for (const version of [id, ...freshIds(id)]) {
        if (await this.#isOf(origin, { ...header, id: version })) return id;
      }
    }
    if (taken.has(plain) || this.#facts.beginnings.get(sourceKeyOf(origin))?.isNameTaken === true)
      return derived;
    // Another import may have made it since it was looked for.
    return !(await this.has(header)) || (await this.#isOf(origin, header)) ? plain : derived;
  }

  /** Returns the id that a session is imported under: of the newest one that was imported anew, or a new one for that. */
  async versionOf(header: SessionHeader): Promise<string> {
    if (this.#facts.isFresh) return freshId(header.id, IMPORT_MAPPING);
    for (const id of freshIds(header.id)) if (await this.has({ ...header, id })) return id;
    return header.id;
  }

  /** Tells whether a session exists here. */
  async has(header: SessionHeader): Promise<boolean> {
    return this.#target.has(this.#target.locationOf(header));
  }

  /** Tells whether a session exists here, and is the one of a source; what a power cut left of it counts, too. */
  async #isOf(origin: ImportOrigin, header: SessionHeader): Promise<boolean> {
    if (!(await this.has(header))) return false;
    const front = await this.#target.readFront(this.#target.locationOf(header));
    // Deleted since: it may have been that of another source.
    if (front === undefined) return false;
    const first = firstEntryIn(front);
    if (first === undefined) return true;
    const told = importOriginIn(first);
    const key = sourceKeyOf(origin);
    // One that was redacted says nothing, but keeps its id.
    return told === undefined ? first["id"] === entryIdOf(key) : sourceKeyOf(told) === key;
  }
}

/** Returns the ids under which a session may have been imported anew, the newest first. */
function freshIds(id: string): string[] {
  return Array.from({ length: IMPORT_MAPPING - 1 }, (_, back) => freshId(id, IMPORT_MAPPING - back));
}

/** Returns the id of a session that is imported anew beside one with this id. */
function freshId(id: string, mapping: number): string {
  return `${id}.m${mapping}`;
}
