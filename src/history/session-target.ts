import { readdirSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { importedRoot } from "../catalog/data-folder.ts";
import { firstEntryIn, firstEntryOf } from "../catalog/deleted-imports.ts";
import { readHeaderOf } from "../catalog/read-header.ts";
import { ifPresent, realFileSystem } from "../fs/file-system.ts";
import type { ImportedSession } from "../import/imported-session.ts";
import { sourceOf } from "../jsonl/line-source.ts";
import { projectFolderIn, type SessionPlaces, sessionFileName, sessionsRoot } from "../log/session-paths.ts";
import type { UnknownEntry } from "../schema/entry.ts";
import { isSessionError } from "../schema/errors.ts";
import type { SessionHeader } from "../schema/header.ts";
import type { JsonRecord } from "../schema/json.ts";
import type { SessionStore } from "../stores/session-store.ts";
import { compareFile, entriesInFile, isWholeFile, syncFile } from "./sync-file.ts";
import {
  type ExistingSession,
  entriesOf,
  entryIdsOf,
  type ImportStatus,
  linesOfSession,
  planSync,
  strayLeaf,
} from "./sync-plan.ts";

/** A session as an import left it. */
export interface WrittenSession {
  /** Bytes; absent in a store. */
  readonly size?: number | undefined;
  /** Unix milliseconds at which it was written, or found whole. */
  readonly writtenMs?: number | undefined;
}

/** Target of imported sessions. */
export interface SessionTarget {
  /** Name of the target, for the cache. */
  readonly name: string;
  /** Returns the path or id that a session has or will have. */
  placeOf(header: SessionHeader): string;
  /** Finds an existing session by its id, if that needs no request. */
  find(id: string): string | undefined;
  /**
   * Tells whether a session exists.
   *
   * @param written - What the last import left of it, if known: what a power cut damaged since counts as missing.
   */
  has(place: string, written?: WrittenSession): Promise<boolean>;
  /** Returns the size of a session in bytes, if that needs no request. */
  sizeOf(place: string): number | undefined;
  /** Returns the first entry of a session, which says where it is from; undefined if there is none. */
  firstEntryOf(place: string): Promise<JsonRecord | undefined>;
  /** Returns the start of an existing session, ISO 8601; undefined if there is none. */
  begunAt(id: string): Promise<string | undefined>;
  /**
   * Updates a session to match its source; writes nothing if it matches.
   *
   * @param mayMake - Tells whether a missing one may be made; else it is `deleted`.
   */
  sync(
    place: string,
    header: SessionHeader,
    imported: ImportedSession,
    mayMake: () => boolean,
  ): Promise<ImportStatus>;
  /** Returns the entries of a session, with the bodies of custom entries only; none if it is missing. */
  entriesIn(place: string): Promise<readonly UnknownEntry[]>;
  /** Returns what `sync` would do. */
  compare(place: string, header: SessionHeader, imported: ImportedSession): Promise<ImportStatus>;
  /** Returns what other threads need to import into the same files; undefined if only this thread can. */
  filePlaces(): FilePlaces | undefined;
}

/** Folders of new and of existing session files; plain data, to pass to threads. */
export interface FilePlaces {
  readonly folder: string | undefined;
  readonly places: SessionPlaces;
  /** Paths by session id. */
  readonly byId: ReadonlyMap<string, string>;
}

/**
 * Imports into session files: one flat folder, or a folder of imported sessions with a folder for each project.
 *
 * Sessions that were imported where sessions are kept otherwise stay there and are kept up to date.
 */
export class FileTarget implements SessionTarget {
  readonly name: string;
  readonly #folder: string | undefined;
  readonly #places: SessionPlaces;
  readonly #earlier: readonly string[];
  #byId: ReadonlyMap<string, string> | undefined;

  /**
   * @param folder - One flat folder. Default: `imported` in the user's data folder.
   * @param places - Where sessions are kept otherwise.
   * @param earlier - More flat folders in which imported sessions may be.
   */
  constructor(folder: string | undefined, places: SessionPlaces = {}, earlier: readonly string[] = []) {
    this.#folder = folder;
    this.#places = places;
    this.#earlier = earlier;
    this.name = folder ?? importedRoot();
  }

  /** Makes a target with the same files as another thread's. */
  static at(files: FilePlaces): FileTarget {
    const target = new FileTarget(files.folder, files.places);
    target.#byId = files.byId;
    return target;
  }

  filePlaces(): FilePlaces {
    return { folder: this.#folder, places: this.#places, byId: this.#filesById() };
  }

  placeOf({ id, timestamp, cwd }: SessionHeader): string {
    const known = this.#filesById().get(id);
    if (known !== undefined) return known;
    const folder = this.#folder ?? projectFolderIn(importedRoot(), cwd || "/");
    return join(folder, sessionFileName(timestamp, id));
  }

  find(id: string): string | undefined {
    return this.#filesById().get(id);
  }

  async has(place: string, written: WrittenSession = {}): Promise<boolean> {
    const { size, writtenMs = 0 } = written;
    if (size !== undefined) return isWholeFile(place, size, isOlderThanSystem(writtenMs));
    return realFileSystem.statSync(place, { throwIfNoEntry: false }) !== undefined;
  }

  sizeOf(place: string): number | undefined {
    return realFileSystem.statSync(place, { throwIfNoEntry: false })?.size;
  }

  async firstEntryOf(place: string): Promise<JsonRecord | undefined> {
    return firstEntryOf(place);
  }

  async begunAt(id: string): Promise<string | undefined> {
    const path = this.find(id);
    return path === undefined ? undefined : readHeaderOf(path)?.timestamp;
  }

  async sync(
    place: string,
    header: SessionHeader,
    imported: ImportedSession,
    mayMake: () => boolean,
  ): Promise<ImportStatus> {
    return syncFile(place, header, imported, realFileSystem, mayMake);
  }

  async compare(place: string, _header: SessionHeader, imported: ImportedSession): Promise<ImportStatus> {
    return compareFile(place, imported);
  }

  async entriesIn(place: string): Promise<readonly UnknownEntry[]> {
    return entriesInFile(place);
  }

  /** Finds sessions by the ids in their file names, even if they were moved. */
  #filesById(): ReadonlyMap<string, string> {
    this.#byId ??= new Map(this.#folders().flatMap(sessionsIn));
    return this.#byId;
  }

  /** Lists the folders of imported sessions; the last one counts. */
  #folders(): string[] {
    if (this.#folder !== undefined) return [this.#folder];
    const roots = [sessionsRoot(this.#places), importedRoot()];
    return [...this.#earlier, ...roots.flatMap((root) => namesIn(root).map((name) => join(root, name)))];
  }
}

/** Tells whether the system was started after a time: what was written by then may have been lost in a power cut. */
export function isOlderThanSystem(writtenMs: number): boolean {
  return writtenMs <= Date.now() - uptime() * 1000;
}

function sessionsIn(folder: string): [id: string, path: string][] {
  return namesIn(folder).flatMap((name): [string, string][] => {
    const id = /_([^/\\]+)\.jsonl$/.exec(name)?.[1];
    return id === undefined ? [] : [[id, join(folder, name)]];
  });
}

function namesIn(folder: string): string[] {
  return ifPresent(() => readdirSync(folder)) ?? [];
}

/** Imports into a store. */
export class StoreTarget implements SessionTarget {
  readonly name: string;
  readonly #store: SessionStore;
  /** Ids of the sessions that existed at the first request. */
  #ids: Set<string> | undefined;

  /** @param name - Name of the store in the cache. */
  constructor(store: SessionStore, name: string) {
    this.#store = store;
    this.name = name;
  }

  placeOf({ id }: SessionHeader): string {
    return id;
  }

  find(id: string): string {
    return id;
  }

  async has(place: string): Promise<boolean> {
    if (this.#ids === undefined) {
      this.#ids = new Set();
      for await (const { id } of this.#store.list()) this.#ids.add(id);
    }
    return this.#ids.has(place);
  }

  sizeOf(): undefined {
    return undefined;
  }

  async firstEntryOf(place: string): Promise<JsonRecord | undefined> {
    const pieces: Uint8Array[] = [];
    try {
      for await (const piece of this.#store.exportBytes(place)) {
        pieces.push(Buffer.from(piece));
        const front = Buffer.concat(pieces);
        const entry = firstEntryIn(front);
        if (entry !== undefined || front.length > FRONT_BYTES) return entry;
      }
    } catch (error) {
      if (!isSessionError(error, "SESSION_NOT_FOUND")) throw error;
    }
    return undefined;
  }

  async begunAt(id: string): Promise<string | undefined> {
    return (await this.#read(id))?.index.header?.timestamp;
  }

  async sync(
    place: string,
    header: SessionHeader,
    imported: ImportedSession,
    mayMake: () => boolean,
  ): Promise<ImportStatus> {
    const existing = await this.#read(place);
    if (existing === undefined) {
      if (!mayMake()) return "deleted";
      if (await this.#create(header, imported)) return "new";
      // Another import has made it meanwhile.
      return this.sync(place, header, imported, mayMake);
    }
    const plan = planSync(existing, imported, false);
    if (plan.kind !== "append") return "unchanged";
    await this.#store.appendEntries(place, plan.entries);
    const now = await this.#read(place);
    const stray = now && strayLeaf(now, entryIdsOf(existing), plan.entries);
    if (stray !== undefined) await this.#store.appendEntries(place, [stray]);
    return "grown";
  }

  async compare(place: string, _header: SessionHeader, imported: ImportedSession): Promise<ImportStatus> {
    const existing = await this.#read(place);
    if (existing === undefined) return "new";
    return planSync(existing, imported, false).kind === "unchanged" ? "unchanged" : "grown";
  }

  async entriesIn(place: string): Promise<readonly UnknownEntry[]> {
    const session = await this.#read(place);
    return session === undefined ? [] : entriesOf(session);
  }

  filePlaces(): undefined {
    return undefined;
  }

  /** Returns false if the session exists already. */
  async #create(header: SessionHeader, imported: ImportedSession): Promise<boolean> {
    try {
      await this.#store.importBytes(pieceOf([...linesOfSession(header, imported.entries)].join("")));
      this.#ids?.add(header.id);
      return true;
    } catch (error) {
      if (!isSessionError(error, "SESSION_EXISTS")) throw error;
      return false;
    }
  }

  async #read(id: string): Promise<ExistingSession | undefined> {
    const pieces: Uint8Array[] = [];
    try {
      for await (const piece of this.#store.exportBytes(id)) pieces.push(Buffer.from(piece));
    } catch (error) {
      if (isSessionError(error, "SESSION_NOT_FOUND")) return undefined;
      throw error;
    }
    return { ...sourceOf(Buffer.concat(pieces)), rest: "" };
  }
}

/** Bytes of a session in which its first entry stands. */
const FRONT_BYTES = 64 * 1024;

async function* pieceOf(text: string): AsyncGenerator<Uint8Array, void> {
  yield new TextEncoder().encode(text);
}
