import { constants, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fieldsOf } from "../context/entry-fields.ts";
import type { ImportedSession } from "../import/imported-session.ts";
import { decodeText, parseRecord } from "../jsonl/decode.ts";
import { FileChangedError, fileError } from "../log/file-errors.ts";
import {
  closeQuietly,
  FILE_MODE,
  type FileSystem,
  ifPresent,
  makeFolder,
  openForReading,
  realFileSystem,
  writeFully,
} from "../log/file-system.ts";
import { exclusively, replaceFile } from "../log/replace-file.ts";
import { projectFolder, type SessionPlaces, sessionFileName, sessionsRoot } from "../log/session-paths.ts";
import { writeWhole } from "../log/write-whole.ts";
import { isSessionError } from "../schema/errors.ts";
import type { SessionHeader } from "../schema/header.ts";
import type { SessionStore } from "../stores/session-store.ts";
import { linesOfSession, planSync } from "./sync-plan.ts";

/** What an import did to a session. */
export type ImportStatus = "new" | "grown" | "unchanged";

/** Target of imported sessions. */
export interface SessionTarget {
  /** Name of the target, for the cache. */
  readonly name: string;
  /** Returns the path or id that a session has or will have. */
  placeOf(header: SessionHeader): string;
  /** Finds an existing session by its id, if that needs no request. */
  find(id: string): string | undefined;
  /** Tells whether a session exists. */
  has(place: string): Promise<boolean>;
  /** Returns the start of an existing session, ISO 8601; undefined if there is none. */
  begunAt(id: string): Promise<string | undefined>;
  /** Updates a session to match its source; writes nothing if it matches. */
  sync(place: string, header: SessionHeader, imported: ImportedSession): Promise<ImportStatus>;
  /** Returns what `sync` would do. */
  compare(place: string, header: SessionHeader, imported: ImportedSession): Promise<ImportStatus>;
  /** Returns what other threads need to import into the same files; undefined if only this thread can. */
  filePlaces(): FilePlaces | undefined;
}

/** Folder of new session files, and paths of existing ones; plain data, to pass to threads. */
export interface FilePlaces {
  readonly folder: string | undefined;
  readonly places: SessionPlaces;
  /** Paths by session id. */
  readonly byId: ReadonlyMap<string, string>;
}

/** Imports into session files: one flat folder, or a folder for each project. */
export class FileTarget implements SessionTarget {
  readonly name: string;
  readonly #folder: string | undefined;
  readonly #places: SessionPlaces;
  #byId: ReadonlyMap<string, string> | undefined;

  constructor(folder: string | undefined, places: SessionPlaces = {}) {
    this.#folder = folder;
    this.#places = places;
    this.name = folder ?? sessionsRoot(places);
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
    const folder = this.#folder ?? projectFolder(cwd || "/", this.#places);
    return join(folder, sessionFileName(timestamp, id));
  }

  find(id: string): string | undefined {
    return this.#filesById().get(id);
  }

  async has(place: string): Promise<boolean> {
    return realFileSystem.statSync(place, { throwIfNoEntry: false }) !== undefined;
  }

  async begunAt(id: string): Promise<string | undefined> {
    const path = this.find(id);
    const text = path === undefined ? undefined : readText(path);
    return text === undefined ? undefined : beginningOf(text);
  }

  async sync(place: string, header: SessionHeader, imported: ImportedSession): Promise<ImportStatus> {
    const existing = readText(place);
    try {
      if (existing === undefined || existing === "") {
        makeFolder(realFileSystem, dirname(place));
        const pieces = linesOfSession(header, imported.entries);
        if (existing === undefined) writeWhole({ fs: unflushed, path: place, pieces });
        else replaceText(place, pieces, existing);
        return "new";
      }
      const plan = planSync(existing, header, imported, true);
      if (plan.kind === "append") appendText(place, plan.text);
      if (plan.kind === "replace") replaceText(place, [plan.text], existing);
      return plan.kind === "unchanged" ? "unchanged" : "grown";
    } catch (error) {
      throw isSessionError(error) ? error : fileError(place, "write", error);
    }
  }

  async compare(place: string, header: SessionHeader, imported: ImportedSession): Promise<ImportStatus> {
    const existing = readText(place);
    if (existing === undefined || existing === "") return "new";
    return planSync(existing, header, imported, true).kind === "unchanged" ? "unchanged" : "grown";
  }

  /** Finds sessions by the ids in their file names, even if they were moved. */
  #filesById(): ReadonlyMap<string, string> {
    if (this.#byId !== undefined) return this.#byId;
    const found = new Map<string, string>();
    const root = this.#folder ?? sessionsRoot(this.#places);
    const folders = this.#folder === undefined ? namesIn(root).map((name) => join(root, name)) : [root];
    for (const folder of folders) {
      for (const name of namesIn(folder)) {
        const id = /_([^/\\]+)\.jsonl$/.exec(name)?.[1];
        if (id !== undefined) found.set(id, join(folder, name));
      }
    }
    this.#byId = found;
    return found;
  }
}

/** Returns the time of a session's header. */
function beginningOf(text: string): string | undefined {
  const { timestamp } = fieldsOf(parseRecord(text.split("\n", 1)[0] ?? ""));
  return typeof timestamp === "string" ? timestamp : undefined;
}

function namesIn(folder: string): string[] {
  return ifPresent(() => readdirSync(folder)) ?? [];
}

function readText(path: string): string | undefined {
  const bytes = ifPresent(() => readFileSync(path));
  return bytes && decodeText(bytes);
}

/**
 * Does not flush: after a power cut, another import completes the files, and a thousand flushes would take longer
 * than everything else.
 */
const unflushed: FileSystem = { ...realFileSystem, fsyncSync: () => undefined };

/** Replaces a file, and preserves what others append to it meanwhile. */
function replaceText(path: string, pieces: Iterable<string>, existing: string): void {
  exclusively(realFileSystem, path, () => {
    const fd = openForReading(realFileSystem, path);
    try {
      if (!readText(path)?.startsWith(existing)) {
        throw new FileChangedError("another process changed the file meanwhile; import again");
      }
      const old = { fs: realFileSystem, path, fd, copied: Buffer.byteLength(existing) };
      replaceFile({ old, pieces });
    } finally {
      closeQuietly(realFileSystem, fd);
    }
  });
}

function appendText(path: string, text: string): void {
  const { O_APPEND, O_WRONLY } = constants;
  const fd = realFileSystem.openSync(path, O_WRONLY | O_APPEND, FILE_MODE);
  try {
    writeFully(realFileSystem, fd, Buffer.from(text));
  } finally {
    closeQuietly(realFileSystem, fd);
  }
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

  async begunAt(id: string): Promise<string | undefined> {
    const text = await this.#read(id);
    return text === undefined ? undefined : beginningOf(text);
  }

  async sync(place: string, header: SessionHeader, imported: ImportedSession): Promise<ImportStatus> {
    const existing = await this.#read(place);
    if (existing === undefined) {
      await this.#store.importBytes(pieceOf([...linesOfSession(header, imported.entries)].join("")));
      return "new";
    }
    const plan = planSync(existing, header, imported, false);
    if (plan.kind === "unchanged") return "unchanged";
    if (plan.kind === "append") await this.#store.appendEntries(place, plan.entries);
    return "grown";
  }

  async compare(place: string, header: SessionHeader, imported: ImportedSession): Promise<ImportStatus> {
    const existing = await this.#read(place);
    if (existing === undefined) return "new";
    return planSync(existing, header, imported, false).kind === "unchanged" ? "unchanged" : "grown";
  }

  filePlaces(): undefined {
    return undefined;
  }

  async #read(id: string): Promise<string | undefined> {
    const pieces: Uint8Array[] = [];
    try {
      for await (const piece of this.#store.exportBytes(id)) pieces.push(Buffer.from(piece));
    } catch (error) {
      if (isSessionError(error, "SESSION_NOT_FOUND")) return undefined;
      throw error;
    }
    return decodeText(Buffer.concat(pieces));
  }
}

async function* pieceOf(text: string): AsyncGenerator<Uint8Array, void> {
  yield new TextEncoder().encode(text);
}
