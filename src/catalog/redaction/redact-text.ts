import { dirname } from "node:path";
import { refuseAborted } from "../../core/format/abort.ts";
import { getErrorMessage, isSessionError } from "../../core/format/errors.ts";
import { pickDefined } from "../../core/format/json.ts";
import {
  assertKnownOptions,
  assertOptions,
  CALLBACK,
  FLAG,
  OBJECT,
  type OptionRules,
  SIGNAL,
  TEXT,
  TEXTS,
} from "../../core/format/options.ts";
import type { TextRedactor } from "../../core/jsonl/text-redactor.ts";
import { readFileHeader } from "../../session/files/find-session.ts";
import { forgetReplaced, forgetSession } from "../../session/files/forget-session.ts";
import type { CatalogScope } from "../../session/files/session-files.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import { isSystemError } from "../../session/files/skipped-files.ts";
import { type FileState, findFileState, getOpenState, isSameState } from "../../session/fs/file-identity.ts";
import {
  callIfPresent,
  realFileSystem as fs,
  getPlainFileMode,
  NotAPlainFileError,
  readPieces,
  realFileSystem,
  retryWhileHeld,
  syncFolder,
  withOpenFile,
} from "../../session/fs/file-system.ts";
import { BESIDE_DATABASE, removeLeftovers, removeTemporary } from "../../session/fs/temporary-files.ts";
import { writeTemporary } from "../../session/fs/write-whole.ts";
import { FileChangedError, retryUntilUnchanged } from "../../session/log/file-errors.ts";
import { notASessionAt } from "../../session/log/foreign-file.ts";
import { eachRawLine, type RawSpan } from "../../session/log/raw-lines.ts";
import { isThere, replaceExclusively } from "../../session/log/replace-file.ts";
import { PLACES_RULES, type SessionPlaces } from "../../session/log/session-paths.ts";
import { makeRedactor } from "../../session/manager/redactor.ts";
import { SessionManager } from "../../session/manager/session-manager.ts";
import { Descent } from "../list/lineage.ts";
import { lookAtFile, type Sight } from "./text-in-file.ts";
import {
  findPlaces,
  findSessionOfOld,
  type PlaceKind,
  type PlaceQuery,
  type TextPlace,
} from "./text-places.ts";

/** Options for redacting text in a scope. */
export interface RedactEverywhereOptions extends CatalogScope {
  /** Replacement for the text. Default `[redacted]`. */
  readonly replacement?: string;
  /** Whether to only report the places that contain the text, without changing them. Default false. */
  readonly dryRun?: boolean;
  /** Only these session files, the sessions they were forked from, and all forks of any of these sessions. */
  readonly paths?: readonly string[];
  /** Any `SessionStore`; its sessions are redacted instead of files. */
  readonly store?: {
    list(options?: { readonly cwd?: string }): AsyncIterable<SessionRow>;
    open(
      id: string,
      options?: { readonly mode?: "read-only"; readonly signal?: AbortSignal; readonly now?: () => number },
    ): Promise<SessionManager>;
  };
  /** Only these sessions in the store, the sessions they were forked from, and all forks of any of these sessions. */
  readonly ids?: readonly string[];
  /** Returns the current time in Unix milliseconds. Default: the system clock. */
  readonly now?: () => number;
  /** Cancels the redaction with `ABORTED`; run it again to continue. */
  readonly signal?: AbortSignal;
}

type RedactedStore = NonNullable<RedactEverywhereOptions["store"]>;

const RULES: OptionRules<RedactEverywhereOptions> = {
  cwd: TEXT,
  sessionDir: TEXT,
  places: OBJECT,
  includeImported: FLAG,
  otherDirs: TEXTS,
  replacement: TEXT,
  dryRun: FLAG,
  paths: TEXTS,
  store: OBJECT,
  ids: TEXTS,
  now: CALLBACK,
  signal: SIGNAL,
};

/** Place that a redaction changed or would change. */
export interface RedactedPlace {
  readonly kind: PlaceKind;
  /** Path of the file, or id of a session in a store. */
  readonly path: string;
  /**
   * Entries that contained the text; empty for a file that is not a session, or if only the header or a damaged line contained
   * the text.
   */
  readonly entryIds: readonly string[];
}

/** Place that still contains the text. */
export interface StandingText {
  readonly kind: PlaceKind;
  /** Path of the file, or id of a session in a store. */
  readonly path: string;
  /** Cause and what to do about it. */
  readonly reason: string;
}

/** Result of redacting text. */
export interface TextRedaction {
  /** Places that were changed or, with `dryRun`, would be changed. */
  readonly changed: readonly RedactedPlace[];
  /** Places that still contain the text after the redaction or, with `dryRun`, would still contain it. */
  readonly standing: readonly StandingText[];
}

/**
 * Redacts text permanently wherever this library stores it: in sessions, the sessions they were forked from and into,
 * backups, the trash, caches, files that killed processes left, and pages in the temporary folder.
 *
 * Adds one record of the entries that contained the text to each changed session. Files of other programs, such as the
 * transcript that a session was imported from, are not changed, but are listed in the result. The text cannot be restored.
 * If the redaction is interrupted, run it again.
 *
 * @param matching - A string, or a regular expression. Compared as in `SessionManager.redactEverywhere`.
 * @throws {TypeError} If `matching` matches the empty string or the replacement or takes exponential time, or if an
 *   option is invalid.
 * @throws {SessionError} `NOT_A_SESSION` or `SESSION_NOT_FOUND` for one of `paths`, `ABORTED`, or `STORE_UNAVAILABLE`.
 * @remarks Cost: reads all bytes of these places three times.
 */
export function redactEverywhere(
  matching: string | RegExp,
  options: RedactEverywhereOptions = {},
): Promise<TextRedaction> {
  assertKnownOptions<RedactEverywhereOptions>(options, RULES);
  const { cwd, sessionDir, places, includeImported = sessionDir === undefined } = options;
  if (places !== undefined) assertOptions<SessionPlaces>(places, PLACES_RULES);
  const scope = { ...pickDefined({ cwd, sessionDir, places }), includeImported };
  return redactTextInScopes([scope], matching, options);
}

/** Redacts text like `redactEverywhere`, but in several scopes. */
export async function redactTextInScopes(
  scopes: readonly CatalogScope[],
  matching: string | RegExp,
  options: RedactEverywhereOptions,
): Promise<TextRedaction> {
  for (const path of options.paths ?? []) if (readFileHeader(path) === undefined) throw notASessionAt(path);
  const work = new TextWork(scopes, matching, options);
  const found = await work.look();
  if (options.dryRun) return found;
  await work.change(found.changed);
  // This includes sessions redacted by a process that was killed before it reached this point.
  if (options.store === undefined) forgetReplaced();
  return { changed: work.done, standing: (await work.look()).standing };
}

class TextWork {
  /** Places that were changed. */
  readonly done: RedactedPlace[] = [];
  readonly #query: PlaceQuery;
  readonly #matching: string | RegExp;
  readonly #options: RedactEverywhereOptions;
  readonly #redactor: TextRedactor;
  /** Reasons why places could not be changed. */
  readonly #refusals = new Map<string, string>();
  /** Files of other programs from which sessions with the text were imported. */
  readonly #suspects = new Set<string>();
  #isChanged = false;

  constructor(scopes: readonly CatalogScope[], matching: string | RegExp, options: RedactEverywhereOptions) {
    const { paths, signal, store } = options;
    this.#query = { scopes: store === undefined ? scopes : [], paths, signal };
    this.#matching = matching;
    this.#options = options;
    this.#redactor = makeRedactor(matching, options.replacement);
  }

  /** Finds the places that contain the text, and separates the places that can be changed from the others. */
  async look(): Promise<TextRedaction> {
    const changed: RedactedPlace[] = [];
    const standing: StandingText[] = [];
    const { store } = this.#options;
    if (store !== undefined) await this.#lookIntoStore(store, changed, standing);
    const places = await findPlaces(this.#query);
    const sources = new Set<string>();
    for (const place of places) {
      refuseAborted(this.#options.signal, "The redaction was aborted; run it again to continue.");
      const { sourcePath, isFound } = this.#lookAt(place, changed, standing) ?? {};
      if (sourcePath === undefined) continue;
      sources.add(sourcePath);
      if (isFound) this.#suspects.add(sourcePath);
    }
    for (const path of sources) this.#lookAtSource(path, standing);
    return { changed: this.#isChanged ? [] : changed, standing };
  }

  #lookAt(place: TextPlace, changed: RedactedPlace[], standing: StandingText[]): Sight | undefined {
    const { kind, path } = place;
    const reportRemaining = (reason: string) => standing.push({ kind, path, reason });
    let sight: Sight | undefined;
    try {
      sight = callIfPresent(() => lookAtFile(place, this.#redactor));
    } catch (error) {
      if (error instanceof NotAPlainFileError) return undefined;
      if (!isSystemError(error)) throw error;
      reportRemaining(`It may contain the text: the file cannot be read (${getErrorMessage(error)}).`);
    }
    if (sight === undefined) return undefined;
    const { isFound, entryIds, standing: fields, isOverlong } = sight;
    if (kind === "other") {
      if (isFound || fields.size > 0)
        reportRemaining("The file belongs to another program; change or delete it there.");
    } else {
      if (isFound) changed.push({ kind, path, entryIds });
      if (isFound && this.#isChanged) reportRemaining(this.#refusals.get(path) ?? WRITTEN_MEANWHILE);
      if (fields.size > 0) reportRemaining(joinStructural(fields));
    }
    if (isOverlong)
      reportRemaining("It may contain the text: the file is compressed, or a line is too long to search.");
    return sight;
  }

  /** Searches another program's file. In a database, the text may be split or may exist only in the log. */
  #lookAtSource(path: string, standing: StandingText[]): void {
    const before = standing.length;
    const isDatabase = this.#lookAt({ kind: "other", path }, [], standing)?.isDatabase;
    if (isDatabase !== true) return;
    for (const suffix of BESIDE_DATABASE) this.#lookAt({ kind: "other", path: path + suffix }, [], standing);
    if (standing.length > before || !this.#suspects.has(path)) return;
    const reason = "It may contain the text: a session that contained it was imported from this database.";
    standing.push({ kind: "other", path, reason });
  }

  /** Changes the found places. Continues if a place cannot be changed. */
  async change(found: readonly RedactedPlace[]): Promise<void> {
    this.#isChanged = true;
    // Changes old files first, because their last lines are merged into the sessions.
    const retired = found.filter(({ path }) => findSessionOfOld(path) !== undefined);
    for (const place of [...retired, ...found.filter((one) => !retired.includes(one))]) {
      refuseAborted(this.#options.signal, "The redaction was aborted; run it again to continue.");
      try {
        await this.#changeOne(place);
        this.done.push(place);
      } catch (error) {
        const isExpected = isSessionError(error) || isSystemError(error) || error instanceof FileChangedError;
        if (!isExpected && !(error instanceof NotAPlainFileError)) throw error;
        this.#refusals.set(place.path, `It could not be changed: ${getErrorMessage(error)}`);
      }
    }
  }

  async #changeOne({ kind, path }: RedactedPlace): Promise<void> {
    const { store, now } = this.#options;
    const clock = now === undefined ? {} : { now };
    if (kind === "stored") {
      const session = await store?.open(path, clock);
      if (session !== undefined) await this.#redactSession(session);
    } else if (kind === "session" || kind === "trash") {
      await this.#redactSession(SessionManager.open(path, clock));
      forgetSession(path);
    } else if (kind === "temporary") removeLeftover(path);
    else if (kind === "backup") await this.#changeBackup(path, clock);
    else callIfPresent(() => realFileSystem.unlinkSync(path));
  }

  async #redactSession(session: SessionManager): Promise<void> {
    try {
      await session.redactText(this.#matching, this.#replacing);
    } finally {
      await session.close();
    }
  }

  async #changeBackup(path: string, clock: { readonly now?: () => number }): Promise<void> {
    const session = findSessionOfOld(path);
    // Opening the session completes the interrupted replacement, which may add the text to the session.
    if (session !== undefined && isThere(session))
      await this.#redactSession(SessionManager.open(session, clock));
    const redact = () => replaceExclusively(realFileSystem, path, () => redactIdleFile(path, this.#redactor));
    if (isThere(path)) retryUntilUnchanged(redact);
  }

  async #lookIntoStore(
    store: RedactedStore,
    changed: RedactedPlace[],
    standing: StandingText[],
  ): Promise<void> {
    const { signal } = this.#options;
    for (const id of await this.#storedIds(store)) {
      refuseAborted(signal, "The redaction was aborted; run it again to continue.");
      try {
        const session = await store.open(id, { mode: "read-only", ...(signal && { signal }) });
        const found = await session.redactText(this.#matching, { ...this.#replacing, dryRun: true });
        await session.close();
        const place = { kind: "stored", path: id } as const;
        if (found.isFound) changed.push({ ...place, entryIds: found.entryIds });
        if (found.isFound && this.#isChanged)
          standing.push({ ...place, reason: this.#refusals.get(id) ?? WRITTEN_MEANWHILE });
        if (found.standing.length > 0)
          standing.push({ ...place, reason: joinStructural(new Set(found.standing)) });
      } catch (error) {
        // The session was deleted after it was listed.
        if (!isSessionError(error, "SESSION_NOT_FOUND")) throw error;
      }
    }
  }

  get #replacing(): { readonly replacement?: string } {
    const { replacement } = this.#options;
    return replacement === undefined ? {} : { replacement };
  }

  async #storedIds(store: RedactedStore): Promise<readonly string[]> {
    const { cwd, ids } = this.#options;
    const rows: SessionRow[] = [];
    for await (const row of store.list(cwd === undefined || ids !== undefined ? {} : { cwd })) rows.push(row);
    if (ids === undefined) return rows.map(({ id }) => id);
    // A store has no paths, so ids replace them.
    const all = rows.map(({ id, parentSession }) => ({
      path: id,
      id,
      ...(parentSession !== undefined && { parentSession }),
    }));
    return [...new Descent(all).findFamily(all.filter(({ id }) => ids.includes(id)))].map(({ id }) => id);
  }
}

/** Removes a temporary file, unless a process may still be writing to it. */
function removeLeftover(path: string): void {
  removeLeftovers(realFileSystem, dirname(path));
  const changedMs = callIfPresent(() => realFileSystem.statSync(path))?.mtimeMs;
  if (changedMs === undefined) return;
  if (Date.now() - changedMs < LEFT_OVER_AFTER_MS) throw new FileChangedError("a process may be writing it");
  callIfPresent(() => realFileSystem.unlinkSync(path));
}

/** Milliseconds without a change after which a temporary file is considered abandoned. */
const LEFT_OVER_AFTER_MS = 60 * 60 * 1000;

const WRITTEN_MEANWHILE = "It was written during the redaction; run the redaction again.";

function joinStructural(fields: ReadonlySet<string>): string {
  return `It is part of ${[...fields].join(", ")}, which the session requires; to remove the text, delete the session.`;
}

interface Edit extends RawSpan {
  readonly text: string;
}

/**
 * Redacts text, line by line, in a file that no process appends to. Leaves all other bytes unchanged.
 *
 * Preserves the version of an old session, and does not add a record.
 *
 * @throws The system error or `FileChangedError`. The file is then unchanged.
 * @remarks Cost: O(bytes); memory O(changed lines).
 */
function redactIdleFile(path: string, redactor: TextRedactor): void {
  const { temporary, before } = writeRedacted(path, redactor);
  try {
    if (!isSameState(before, findFileState(fs, path)))
      throw new FileChangedError("another process changed the file in the meantime");
    retryWhileHeld(fs, () => fs.renameSync(temporary, path));
  } catch (error) {
    removeTemporary(fs, temporary);
    throw error;
  }
  syncFolder(fs, dirname(path));
}

/**
 * Writes the redacted file next to the old file, and closes the old file, because Windows cannot replace an open file.
 */
function writeRedacted(path: string, redactor: TextRedactor): { temporary: string; before: FileState } {
  const mode = getPlainFileMode(fs, path);
  return withOpenFile(fs, path, (fd) => {
    const before = getOpenState(fs, fd);
    const edits: Edit[] = [];
    eachRawLine(fs, path, (line, span) => {
      const text = line === undefined ? undefined : redactor.ofLine(line).text;
      if (text !== undefined && text !== line) edits.push({ ...span, text });
    });
    return {
      temporary: writeTemporary({ fs, path, mode, pieces: applyEdits(fd, before.size, edits) }),
      before,
    };
  });
}

function* applyEdits(fd: number, size: number, edits: readonly Edit[]): Generator<Uint8Array | string, void> {
  let at = 0;
  for (const { offset, length, text } of edits) {
    yield* readPieces(fs, fd, at, offset);
    yield text;
    at = offset + length;
  }
  yield* readPieces(fs, fd, at, size);
}
