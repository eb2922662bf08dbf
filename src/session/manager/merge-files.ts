import { assertKnownOptions, FLAG, OBJECT, TEXT } from "../../core/format/options.ts";
import type { LineSource } from "../../core/jsonl/line-source.ts";
import { notASession } from "../../core/jsonl/not-a-session.ts";
import {
  type MergeOptions,
  type MergePlan,
  type MergeReport,
  planMerge,
} from "../../core/merge/merge-plan.ts";
import { forgetSession } from "../files/forget-session.ts";
import { closeQuietly, type FileSystem, realFileSystem } from "../fs/file-system.ts";
import { makeForeignFileError, retryUntilUnchanged, toFileError } from "../log/file-errors.ts";
import { detectFileSource } from "../log/foreign-file.ts";
import { assertFree, writeNewFile } from "../log/new-file.ts";
import { readSessionFile } from "../log/read-session-file.ts";
import { isThere, replaceExclusively, replaceFile, retryAfterReplacement } from "../log/replace-file.ts";
import { toAbsolutePath } from "../log/session-paths.ts";
import { makeBackupName } from "../log/written-names.ts";

/** Options for merging two files: the target, which is an unused path or the first copy, and the merge options. */
export type MergeFilesOptions = MergeOptions &
  ({ readonly to: string } | { readonly inPlace: true }) & { readonly fs?: FileSystem };

/** Validation rules for these options. */
const MERGE_RULES = { to: TEXT, inPlace: FLAG, allowDifferentIds: FLAG, fs: OBJECT };

/** Result of merging two files. */
export interface MergeFilesResult extends MergeReport {
  /** Path of the merged session. */
  readonly path: string;
  /** Path of the first copy's backup, if the merged session replaced it without redacting any of its content. */
  readonly backup?: string;
}

/** One of the copies: the lines of a copy without a file, or a file as it was when the merge began. */
type OpenCopy = FileCopy | { readonly path?: undefined; readonly source: LineSource };

interface FileCopy {
  readonly path: string;
  readonly fd: number;
  readonly source: LineSource;
}

/**
 * Merges two diverged copies of a session. The result contains all entries of both copies, and shared entries only once.
 *
 * The result does not depend on the order of the copies, or on the order in which several copies are merged. The copies do not
 * change unless `inPlace` is set. In that case, the merged session replaces the first copy. Its old bytes are kept as
 * `<name>.bak`, unless they contain content that the second copy has redacted. If the second copy has no new content, nothing is
 * written.
 *
 * @param pathA - Path of one copy.
 * @param pathB - Path of the other copy.
 * @throws {TypeError} If the target is missing or ambiguous.
 * @throws {SessionError} `SESSIONS_DIFFER` if they are not copies of one session, `SESSION_EXISTS` if the target path already
 *   exists, `SESSION_NOT_FOUND`, `NOT_A_SESSION`, `VERSION_TOO_NEW`, or `WRITE_FAILED`; nothing was changed.
 * @remarks Cost: O(bytes + n log n); bodies are read piece by piece and are never all in memory at once. Source: docs/merge.md
 */
export function mergeSessions(pathA: string, pathB: string, options: MergeFilesOptions): MergeFilesResult {
  return mergeCopies(pathA, pathB, options);
}

/** Merges copies as `mergeSessions` does. Only a copy that is replaced must have a file. */
export function mergeCopies(
  copyA: string | LineSource,
  copyB: string | LineSource,
  options: MergeFilesOptions,
): MergeFilesResult {
  assertKnownOptions<MergeOptions>(options, MERGE_RULES);
  const { fs = realFileSystem } = options;
  const path = "to" in options && options.to !== undefined ? toAbsolutePath(options.to) : undefined;
  if ((path !== undefined) === ("inPlace" in options && options.inPlace === true)) {
    throw new TypeError("Specify the target of the merge: { to: PATH } or { inPlace: true }, but not both.");
  }
  if (path !== undefined) assertFree(path, fs);
  const merge = () => mergeInto(fs, path, copyA, copyB, options);
  const replaced = path === undefined && typeof copyA === "string" ? toAbsolutePath(copyA) : undefined;
  // If the file is missing, its folder, which would contain the lock, may also be missing.
  const isReplaced = replaced !== undefined && isThere(replaced, fs);
  return isReplaced ? replaceExclusively(fs, replaced, () => retryUntilUnchanged(merge)) : merge();
}

function mergeInto(
  fs: FileSystem,
  path: string | undefined,
  copyA: string | LineSource,
  copyB: string | LineSource,
  options: MergeOptions,
): MergeFilesResult {
  const a = openCopy(fs, copyA);
  try {
    const b = openCopy(fs, copyB);
    try {
      const plan = planCopies(a, b, options);
      if (path !== undefined) return writeNew(fs, path, plan);
      if (a.path === undefined)
        throw new TypeError("Only a file can be replaced: pass a path, or { to: PATH }.");
      return plan.changesA() ? replaceCopy(fs, a, plan) : { path: a.path, ...plan.report() };
    } finally {
      closeCopy(fs, b);
    }
  } finally {
    closeCopy(fs, a);
  }
}

function closeCopy(fs: FileSystem, copy: OpenCopy): void {
  if (copy.path !== undefined) closeQuietly(fs, copy.fd);
}

function planCopies(a: OpenCopy, b: OpenCopy, options: MergeOptions): MergePlan {
  try {
    return planMerge(a.source, b.source, options);
  } catch (error) {
    throw toFileError([a, b].flatMap(({ path }) => path ?? []).join(" or "), "read", error);
  }
}

function openCopy(fs: FileSystem, copy: string | LineSource): OpenCopy {
  if (typeof copy !== "string") return { source: copy };
  const path = toAbsolutePath(copy);
  try {
    const source = retryAfterReplacement(fs, path, () => readSessionFile(fs, path));
    const { fd, index } = source;
    if (index.header === undefined || index.isRejected) {
      const foreign = detectFileSource(fs, fd);
      closeQuietly(fs, fd);
      throw notASession(path, { path }, foreign);
    }
    return { path, fd, source };
  } catch (error) {
    throw toFileError(path, "read", error);
  }
}

function writeNew(fs: FileSystem, path: string, plan: MergePlan): MergeFilesResult {
  writeNewFile({ fs, path, pieces: plan.lines(), verify: (temporary) => assertSound(fs, temporary, plan) });
  return { path, ...plan.report() };
}

function replaceCopy(fs: FileSystem, copy: FileCopy, plan: MergePlan): MergeFilesResult {
  const { path } = copy;
  if (copy.source.index.isForeign) throw makeForeignFileError(path);
  try {
    const { unredacted } = plan.report();
    const backup = replaceFile({
      old: { fs, path, fd: copy.fd, copied: copy.source.index.position },
      pieces: plan.lines(),
      // A backup would keep redacted content.
      ...(unredacted.a.length === 0 && { backup: makeBackupName(path) }),
      verify: (temporary) => assertSound(fs, temporary, plan),
    });
    forgetSession(path);
    return { path, ...(backup !== undefined && { backup }), ...plan.report() };
  } catch (error) {
    throw toFileError(path, "write", error);
  }
}

/** Throws unless the written file has the planned number of entries and no issues. */
function assertSound(fs: FileSystem, path: string, plan: MergePlan): void {
  const { fd, index } = readSessionFile(fs, path);
  closeQuietly(fs, fd);
  const { entries } = plan.report();
  const [issue] = index.issues;
  if (issue !== undefined) throw new Error(`the merged session is damaged: ${issue.message}`);
  if (index.tree.size !== entries) throw new Error(`${index.tree.size} entries instead of ${entries}`);
}
