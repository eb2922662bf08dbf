import { basename } from "node:path";
import { findOpening, getSessionTitle } from "../../core/facts/session-title.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import type { JsonRecord } from "../../core/format/json.ts";
import { splitRuns } from "../../core/jsonl/byte-runs.ts";
import { decodeRecord, parseRecord } from "../../core/jsonl/decode.ts";
import { decodeEntryAt } from "../../core/jsonl/entry-body.ts";
import { detectForeignSource } from "../../core/jsonl/foreign-source.ts";
import { makeIssue } from "../../core/jsonl/issue-log.ts";
import type { LineSpans } from "../../core/jsonl/line-spans.ts";
import { notASession } from "../../core/jsonl/not-a-session.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import { type LabelMark, LabelsAndName } from "../../core/tree/labels-and-name.ts";
import { FileLog } from "../log/file-log.ts";
import { MemoryLog } from "../log/memory-log.ts";
import { isThere } from "../log/replace-file.ts";
import type { SessionLog } from "../log/session-log.ts";
import { toAbsolutePath } from "../log/session-paths.ts";
import { sessionNotFound } from "./open-session.ts";

/** Name that refers to the leaf in place of an entry's id. */
const LEAF_NAME = "@leaf";

/** Number of entries after which reading can stop. */
const SLICE = 1024;

/** Maximum number of candidates listed in an error message. */
const MAX_NAMED = 3;

/**
 * Read-only view of a session: its tree of heads, with bodies read one at a time.
 *
 * Unlike a `SessionManager`, it does not keep bodies, so a file of any size can be displayed or checked with little memory.
 */
export class SessionView {
  readonly log: SessionLog;
  /** Name of the session file, or of a file created from the session. */
  readonly fileName: string;
  readonly #labelsAndName: LabelsAndName;
  /** For a small file, the entries parsed when it was opened, by ordinal. */
  #parsed: readonly (AnySessionEntry | undefined)[] | undefined;

  private constructor(log: SessionLog, fileName: string) {
    this.log = log;
    this.fileName = fileName;
    const title = log.index.header?.title;
    this.#labelsAndName = new LabelsAndName(this, (ordinal) => this.entryAt(ordinal), undefined, title);
  }

  /** Opens a session file. An empty file, which the first append would make a session, has no header and no entries. */
  static at(path: string): SessionView {
    const absolute = toAbsolutePath(path);
    const log = FileLog.open(absolute, { mode: "read-only" });
    if (log === undefined && !isThere(absolute)) throw sessionNotFound(absolute);
    return new SessionView(log ?? new MemoryLog([]), basename(absolute));
  }

  /**
   * Reads the bytes of a session without a file.
   *
   * @param subject - Name used in errors.
   * @param fileName - Name of a file created from the session.
   */
  static async inMemory(
    bytes: AsyncIterable<Uint8Array>,
    subject: string,
    fileName: string,
  ): Promise<SessionView> {
    const pieces: Uint8Array[] = [];
    for await (const piece of bytes) pieces.push(piece.slice());
    const log = new MemoryLog(pieces);
    const { header, isRejected } = log.index;
    if (header === undefined || isRejected)
      throw notASession(
        subject,
        {},
        detectForeignSource(() => pieces),
      );
    return new SessionView(log, fileName);
  }

  /** Path of the file; undefined if there is none. */
  get path(): string | undefined {
    return this.log.path;
  }

  /** Bytes of a session without a file. */
  get bytes(): Uint8Array | undefined {
    return this.log instanceof MemoryLog ? this.log.bytes : undefined;
  }

  get tree(): EntryTree {
    return this.log.index.tree;
  }

  /** Positions of the entries' lines. */
  get places(): LineSpans {
    return this.log.index.spans;
  }

  /** Header in the current version. */
  get header(): SessionHeader | undefined {
    return this.log.index.header;
  }

  /** Whether the session has no header and no entries, because its file is empty. */
  get isEmpty(): boolean {
    return this.size === 0;
  }

  /** Version of the file itself; the current version if the file is empty. */
  get version(): number {
    return this.log.index.version;
  }

  /** Size of the file, in bytes. */
  get size(): number {
    return this.log.index.position;
  }

  /** Ordinal of the leaf, or NONE before the first entry. */
  get leaf(): number {
    return this.log.index.storedLeaf;
  }

  /** Issues found so far. */
  get issues(): SessionIssue[] {
    return this.log.index.issues;
  }

  /** Current labels, keyed by the id of the labeled entry. */
  get labels(): ReadonlyMap<string, LabelMark> {
    return this.#labelsAndName.labels();
  }

  /** Yields the ordinals of labeled entries. */
  *labeled(): Generator<number, void> {
    for (const id of this.labels.keys()) {
      const ordinal = this.tree.find(id);
      if (ordinal !== NONE) yield ordinal;
    }
  }

  /** Display name, if any. */
  get name(): string | undefined {
    return this.#labelsAndName.name();
  }

  /**
   * Title as displayed in lists.
   *
   * @remarks Cost: the messages up to the first answer.
   */
  get title(): string {
    const createdMs = Date.parse(this.header?.timestamp ?? "");
    const fileName = this.path === undefined ? "" : this.fileName;
    return getSessionTitle({ name: this.name, opening: findOpening(this), fileName, createdMs });
  }

  /**
   * Finds an entry by its id, its label, or the beginning of its id, or the leaf by `@leaf`.
   *
   * @returns Id of the entry.
   * @throws {SessionError} `ENTRY_NOT_FOUND` if no entry or several entries match.
   * @remarks Cost: O(1) for an id, otherwise O(entries).
   */
  findEntry(name: string): string {
    const { tree, leaf } = this;
    const exact = name === LEAF_NAME ? leaf : tree.find(name);
    if (exact !== NONE) return tree.idAt(exact);
    const labeled = [...this.labels].flatMap(([id, { label }]) => (label === name ? id : []));
    const candidates = labeled.length > 0 ? labeled : findIdsFrom(tree, name);
    const [found] = candidates;
    if (found !== undefined && candidates.length === 1) return found;
    throw makeUnknownEntryError(name, candidates);
  }

  /** Returns the last ordinals of the path to an entry: at most `max`, ending with the entry itself. Empty for NONE. */
  pathTo(ordinal: number, max: number): number[] {
    const path: number[] = [];
    for (let at = ordinal; at !== NONE && path.length < max; at = this.tree.parentAt(at)) path.push(at);
    return path.reverse();
  }

  /** Returns one entry, or undefined if its body is damaged. */
  entryAt(ordinal: number): AnySessionEntry | undefined {
    let found: AnySessionEntry | undefined;
    this.readEntries([ordinal], (_, entry) => {
      found = entry;
    });
    return found;
  }

  /**
   * Reads entries, upgraded to the current version; a damaged body is reported as an issue.
   *
   * @param ordinals - Ordinals of the entries, ideally in ascending order.
   * @param take - Called for each entry, in the given order. An undefined entry means that the body is damaged.
   * @remarks Cost: O(bytes of the lines). Uses the memory of one entry plus a few megabytes.
   */
  readEntries(
    ordinals: Iterable<number>,
    take: (ordinal: number, entry: AnySessionEntry | undefined) => void,
  ): void {
    const { index } = this.log;
    this.#parsed ??= this.log.checkReplaced() ? [] : index.takeParsed();
    for (const slice of splitRuns(ordinals, SLICE)) {
      const known = slice.map((ordinal) => this.#parsed?.[ordinal]);
      if (!known.includes(undefined)) {
        for (const [i, ordinal] of slice.entries()) take(ordinal, known[i]);
        continue;
      }
      const failures: unknown[] = [];
      const give = (ordinal: number, record: JsonRecord | undefined) => {
        if (failures.length > 0) return;
        // The log would treat errors thrown by `take` as file errors.
        try {
          const entry = record && decodeEntryAt(record, index.tree, ordinal, index);
          if (entry === undefined) this.report("BODY_DAMAGED", ordinal);
          take(ordinal, entry);
        } catch (error) {
          failures.push(error);
        }
      };
      this.log.readLines(
        slice,
        (ordinal, bytes) => give(ordinal, decodeRecord(bytes)),
        (ordinal, text) => give(ordinal, parseRecord(text)),
      );
      if (failures.length > 0) throw failures[0];
    }
  }

  report(
    code: "BODY_DAMAGED" | "KEPT_ENTRY_MISSING" | "MESSAGE_FOREIGN" | "IMAGE_MISSING",
    ordinal: number,
    about?: string,
  ): void {
    this.log.index.report(makeIssue(code, this.places.at(ordinal), this.tree.idAt(ordinal), about));
  }
}

function findIdsFrom(tree: EntryTree, beginning: string): string[] {
  return Array.from(tree.ordinals(), (ordinal) => tree.idAt(ordinal)).filter((id) =>
    id.startsWith(beginning),
  );
}

function makeUnknownEntryError(name: string, candidates: readonly string[]): SessionError {
  const message =
    candidates.length === 0
      ? `Entry ${name} not found in this session. "sessiontree tree SESSION --all" shows the ids of all entries.`
      : `${candidates.length} entries match ${name}, such as ${candidates.slice(0, MAX_NAMED).join(", ")}. Enter more of the id.`;
  return new SessionError("ENTRY_NOT_FOUND", message, { details: { entryId: name } });
}
