import { basename } from "node:path";
import { isKnownEntryType } from "../../core/format/entry.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { hashText } from "../../core/format/ids.ts";
import type { IssueCode, SessionIssue } from "../../core/format/issue.ts";
import { assertKnownOptions, FLAG, OBJECT } from "../../core/format/options.ts";
import { toIsoText } from "../../core/format/timestamps.ts";
import { CURRENT_SESSION_VERSION } from "../../core/format/version.ts";
import { decodeEntry } from "../../core/jsonl/entry-body.ts";
import { makeIssue } from "../../core/jsonl/issue-log.ts";
import { LINE_BREAK } from "../../core/jsonl/line-scanner.ts";
import type { LineSource } from "../../core/jsonl/line-source.ts";
import { notASession } from "../../core/jsonl/not-a-session.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { type FileState, findFileState, getOpenState, isSameFile } from "../fs/file-identity.ts";
import {
  closeQuietly,
  createFile,
  type FileSystem,
  NotAPlainFileError,
  readRange,
  realFileSystem,
  removeQuietly,
  withOpenFile,
  writeFully,
} from "../fs/file-system.ts";
import { makeUnderFreeName } from "../fs/write-whole.ts";
import { copyLines, planWholeCopy } from "./canonical-copy.ts";
import { makeForeignFileError, retryUntilUnchanged, toFileError } from "./file-errors.ts";
import { detectFileSource } from "./foreign-file.ts";
import { readEntryLines } from "./read-lines.ts";
import { readIndex } from "./read-session-file.ts";
import { awaitFile, replaceExclusively, replaceFile } from "./replace-file.ts";
import { toAbsolutePath } from "./session-paths.ts";
import { assertEqual } from "./upgrade-file.ts";
import { makeBackupName, makeSideFilePath } from "./written-names.ts";

/** Action taken or planned for an issue. */
export interface RepairAction {
  readonly issue: SessionIssue;
  /** Human-readable description of the action. */
  readonly action: string;
}

/** Findings and actions of a repair. */
export interface RepairReport {
  readonly path: string;
  /** Actions taken. Empty if the file is undamaged, in which case nothing was written. */
  readonly actions: readonly RepairAction[];
  /** Path of the original file; undefined if nothing was written. */
  readonly backup?: string;
  /** Path of the file with bytes that do not belong to any entry; undefined if there are none or nothing was written. */
  readonly sideFile?: string;
}

/** Action for each kind of issue. Issue codes without an action do not concern lines. */
const ACTIONS: { readonly [code in IssueCode]?: string } = {
  RECORD_BEFORE_HEADER: "moved to the side file",
  HEADER_REPEATED: "moved to the side file",
  HEADER_MISSING: "rebuilt from the file's name and its entries",
  VERSION_UNCLEAR: "set to 3",
  LINE_UNREADABLE: "moved to the side file",
  LINE_TOO_LONG: "moved to the side file",
  NOT_AN_ENTRY: "moved to the side file",
  TAIL_TORN: "moved to the side file",
  NUL_BYTES: "moved to the side file",
  RECORDS_GLUED: "split; incomplete records moved to the side file",
  BODY_DAMAGED: "kept as text in a custom entry in its place",
  ID_INVENTED: "written down",
  ID_DUPLICATE: "rewritten with the id that the reader assigned",
  ENTRY_REPEATED: "moved to the side file",
  PARENT_MISSING: "rewritten as a root",
  PARENT_BRIDGED: "rewritten with the previous entry as its parent",
  PARENT_CYCLE: "rewritten as a root",
};

/**
 * Repairs a damaged session file by writing a clean file with the content that readers find in the damaged file.
 *
 * Tree, ids, and contexts are the same as when the damaged file is read. The original is kept next to the repaired file as
 * `<name>.bak`. Bytes that do not belong to any entry are written to `<name>.damaged`. An undamaged file is not changed.
 *
 * @param options - `isDryRun`: whether to only report the actions without writing anything.
 * @throws {SessionError} `NOT_A_SESSION` if the file belongs to another program or contains no entries, `SESSION_NOT_FOUND`,
 *   `VERSION_TOO_NEW`, `READ_ONLY` if another program wrote it, or `WRITE_FAILED`; the file is then unchanged.
 * @remarks Cost: O(file).
 */
export function repairSession(
  path: string,
  options: { isDryRun?: boolean; fs?: FileSystem } = {},
): RepairReport {
  assertKnownOptions(options, { isDryRun: FLAG, fs: OBJECT });
  const { fs = realFileSystem, isDryRun = false } = options;
  const absolute = toAbsolutePath(path);
  try {
    assertRepairable(fs, absolute);
    const repairOpen = () =>
      withOpenFile(fs, absolute, (fd) =>
        repairFile({ fs, fd, path: absolute, state: getOpenState(fs, fd) }, isDryRun),
      );
    return isDryRun ? repairOpen() : replaceExclusively(fs, absolute, () => retryUntilUnchanged(repairOpen));
  } catch (error) {
    throw toFileError(absolute, isDryRun ? "read" : "write", error);
  }
}

/** File that is open for repair. */
interface DamagedFile {
  readonly fs: FileSystem;
  readonly fd: number;
  readonly path: string;
  /** State of the file at the beginning of the repair. */
  readonly state: FileState;
}

function assertRepairable(fs: FileSystem, path: string): void {
  awaitFile(fs, path);
  const stats = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile()) return;
  // A link must not be replaced, because its target would remain damaged.
  if (stats?.isSymbolicLink()) throw new NotAPlainFileError(`${path} is not a plain file`);
  throw new SessionError("SESSION_NOT_FOUND", `There is no file at ${path}. Check the path.`, {
    details: { path },
  });
}

function repairFile(file: DamagedFile, isDryRun: boolean): RepairReport {
  const { path } = file;
  const source = readDamaged(file);
  const actions = listActions(source.index);
  if (actions.length === 0 || isDryRun) return { path, actions };
  return { path, actions, ...writeRepaired(file, source) };
}

/** Reads the file with all bodies, and rebuilds a missing header. */
function readDamaged(file: DamagedFile): LineSource {
  const { fs, fd, path } = file;
  const own = readIndex(fs, fd, {}, file.state.size);
  const index = own.header === undefined ? readHeaderless(file) : own;
  if (index.version > CURRENT_SESSION_VERSION) {
    const message = `${path} has a newer version; update sessiontree to repair it.`;
    throw new SessionError("VERSION_TOO_NEW", message, { details: { path, version: index.version } });
  }
  if (index.isForeign) throw makeForeignFileError(path);
  const source: LineSource = {
    index,
    readLines: (ordinals, take) => readEntryLines(fs, fd, index.spans, ordinals, take),
  };
  reportDamagedBodies(source);
  return source;
}

/** Reads a file that has lost its header. Throws if another program wrote it, or if it has no entry of a known type. */
function readHeaderless(file: DamagedFile): SessionIndex {
  const { fs, fd, path, state } = file;
  const source = detectFileSource(fs, fd, state.size);
  if (source !== undefined) throw notASession(path, { path }, source);
  const header = rebuildHeader(path, readRange(fs, fd, 0, Math.min(state.size, ID_BYTES)));
  const index = readIndex(fs, fd, { header }, state.size);
  const { tree } = index;
  if (Array.from(tree.ordinals()).some((ordinal) => isKnownEntryType(tree.typeAt(ordinal)))) return index;
  const message = `${path} contains no session entries; there is nothing to repair.`;
  throw new SessionError("NOT_A_SESSION", message, { details: { path } });
}

/** Number of bytes at the beginning of a file that determine its id, together with its path. */
const ID_BYTES = 64 * 1024;

/**
 * Creates a header with the id from the file's name or, if the name has none, with an id that no other file receives: it depends
 * on the path and the first bytes, so that a plan and the repair after it agree. The working directory is unknown.
 */
function rebuildHeader(path: string, front: Buffer): SessionHeader {
  const id =
    /^[^_]*_([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\.jsonl$/.exec(basename(path))?.[1] ??
    hashText(`${path}\n${front.toString("latin1")}`);
  return { type: "session", version: CURRENT_SESSION_VERSION, id, timestamp: "", cwd: "" };
}

function reportDamagedBodies({ index, readLines }: LineSource): void {
  const { tree, spans } = index;
  readLines(tree.ordinals(), (ordinal, bytes) => {
    const head = tree.headAt(ordinal);
    if (decodeEntry(bytes, head, index) === undefined) {
      index.report(makeIssue("BODY_DAMAGED", spans.at(ordinal), head.id));
    }
  });
}

function listActions({ issues, header }: SessionIndex): RepairAction[] {
  return issues.flatMap((issue) => {
    const action = ACTIONS[issue.code];
    if (action === undefined) return [];
    const isRebuilt = issue.code === "HEADER_MISSING" && header !== undefined;
    return [{ issue, action: isRebuilt ? `${action}, with the id ${header.id}` : action }];
  });
}

function writeRepaired(file: DamagedFile, source: LineSource): { backup: string; sideFile?: string } {
  const { fs, fd, path, state } = file;
  const plan = planWholeCopy(source.index);
  const timestamp = plan.header.timestamp || getFirstTime(source.index);
  const leftovers = readUnclaimedBytes(file, source.index);
  const sideFile = leftovers.length > 0 ? writeSideFile(fs, makeSideFilePath(path), leftovers) : undefined;
  try {
    const backup = replaceFile({
      old: { fs, path, fd, copied: state.size },
      pieces: copyLines(source, { ...plan, header: { ...plan.header, timestamp } }),
      backup: makeBackupName(path),
      verify: (temporary) => assertEqual(fs, source, temporary),
    });
    return { backup: backup ?? path, ...(sideFile !== undefined && { sideFile }) };
  } catch (error) {
    if (sideFile !== undefined && isStillThere(file)) removeQuietly(fs, sideFile);
    throw error;
  }
}

/** Returns the time of the first entry, for a session without a header. Returns the epoch if there is none. */
function getFirstTime({ tree }: SessionIndex): string {
  return toIsoText(tree.size > 0 ? tree.timeAt(0) : Number.NaN);
}

/** Returns whether the opened file is still at its path. */
function isStillThere({ fs, path, state }: DamagedFile): boolean {
  return isSameFile(state, findFileState(fs, path));
}

/** Writes bytes to a new file. Adds a number to the name if it is taken. */
function writeSideFile(fs: FileSystem, path: string, pieces: readonly Uint8Array[]): string {
  return makeUnderFreeName(path, (free) => {
    const fd = createFile(fs, free);
    try {
      for (const piece of pieces) writeFully(fs, fd, piece);
      fs.fsyncSync(fd);
    } catch (error) {
      removeQuietly(fs, free);
      throw error;
    } finally {
      closeQuietly(fs, fd);
    }
  });
}

/** Returns the bytes of a file that belong neither to its header nor to an entry, as one line per run, without blank lines. */
function readUnclaimedBytes({ fs, fd, state }: DamagedFile, index: SessionIndex): Uint8Array[] {
  const { tree, spans, headerSpan } = index;
  const claimed = Array.from(tree.ordinals(), (ordinal) => spans.at(ordinal));
  if (headerSpan !== undefined) claimed.push(headerSpan);
  claimed.sort((a, b) => a.offset - b.offset);
  claimed.push({ offset: state.size, length: 0, line: 0 });
  const unclaimed: Uint8Array[] = [];
  let at = 0;
  for (const { offset, length } of claimed) {
    const bytes = offset > at ? readRange(fs, fd, at, offset - at) : Buffer.alloc(0);
    if (bytes.some((byte) => !BLANK_BYTES.has(byte))) unclaimed.push(bytes, LINE_BREAK);
    at = Math.max(at, offset + length);
  }
  return unclaimed;
}

/** LF, CR, space, tab, and the bytes of a byte order mark. */
const BLANK_BYTES: ReadonlySet<number> = new Set([0x0a, 0x0d, 0x20, 0x09, 0xef, 0xbb, 0xbf]);
