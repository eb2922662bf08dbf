import { basename, dirname } from "node:path";
import { closeQuietly, type FileSystem, makeFolder, realFileSystem } from "../fs/file-system.ts";
import { writeWhole } from "../fs/write-whole.ts";
import type { LineSource } from "../jsonl/line-source.ts";
import { notASession } from "../jsonl/not-a-session.ts";
import { fileError, foreignFile, isThere, untilUnchanged } from "../log/file-errors.ts";
import { sourceOfFile } from "../log/foreign-file.ts";
import { readSessionFile } from "../log/read-session-file.ts";
import { exclusively, replaceFile } from "../log/replace-file.ts";
import { absolutePath } from "../log/session-paths.ts";
import { modeOfPlainFile } from "../log/upgrade-file.ts";
import { type MergeOptions, type MergePlan, type MergeReport, planMerge } from "../merge/merge-plan.ts";
import { SessionError } from "../schema/errors.ts";

/** Options of a merge of two files: where to write, to a free path or in place of the first copy, and how to merge. */
export type MergeFilesOptions = MergeOptions &
  ({ readonly to: string } | { readonly inPlace: true }) & { readonly fs?: FileSystem };

/** The result of a merge of two files. */
export interface MergeFilesResult extends MergeReport {
  /** Path of the merged session. */
  readonly path: string;
  /** Path of the first copy's backup, if the merged session replaced it and redacts nothing that was in it. */
  readonly backup?: string;
}

/** A copy, with its file as it was when the merge began. */
interface OpenCopy {
  readonly path: string;
  readonly fd: number;
  readonly source: LineSource;
}

/**
 * Merges two diverged copies of a session: all entries of both, shared ones once.
 *
 * The result does not depend on which copy is the first, nor on the order in which several are merged. The copies do
 * not change, except that with `inPlace` the merged session replaces the first, whose old bytes stay as `<name>.bak`
 * unless they hold what the second has redacted; if the second copy has nothing new, nothing is written.
 *
 * @param pathA - One copy.
 * @param pathB - The other.
 * @throws {TypeError} If the target is missing or ambiguous.
 * @throws {SessionError} `SESSIONS_DIFFER` if they are not copies of one session, `SESSION_EXISTS` if something is at
 *   the target path, `SESSION_NOT_FOUND`, `NOT_A_SESSION`, `VERSION_TOO_NEW`, or `WRITE_FAILED`; nothing changed.
 * @remarks Cost: O(bytes + n log n); bodies are read piece by piece and never held together. Source: docs/merge.md
 */
export function mergeSessions(pathA: string, pathB: string, options: MergeFilesOptions): MergeFilesResult {
  const { fs = realFileSystem } = options;
  const path = "to" in options && options.to !== undefined ? absolutePath(options.to) : undefined;
  if ((path !== undefined) === ("inPlace" in options && options.inPlace === true)) {
    throw new TypeError(
      "Say where the merged session goes: { to: PATH } or { inPlace: true }, and not both.",
    );
  }
  if (path !== undefined && isThere(path, fs)) throw exists(path);
  const merge = () => mergeInto(fs, path, absolutePath(pathA), absolutePath(pathB), options);
  // A missing file may have no folder for the lock.
  const isReplaced = path === undefined && isThere(absolutePath(pathA), fs);
  return isReplaced ? exclusively(fs, absolutePath(pathA), () => untilUnchanged(merge)) : merge();
}

function mergeInto(
  fs: FileSystem,
  path: string | undefined,
  pathA: string,
  pathB: string,
  options: MergeOptions,
): MergeFilesResult {
  const a = openCopy(fs, pathA);
  try {
    const b = openCopy(fs, pathB);
    try {
      const plan = planOf(a, b, options);
      if (path !== undefined) return writeNew(fs, path, plan);
      return plan.changesA() ? replace(fs, a, plan) : { path: a.path, ...plan.report() };
    } finally {
      closeQuietly(fs, b.fd);
    }
  } finally {
    closeQuietly(fs, a.fd);
  }
}

function planOf(a: OpenCopy, b: OpenCopy, options: MergeOptions): MergePlan {
  try {
    return planMerge(a.source, b.source, options);
  } catch (error) {
    throw fileError(`${a.path} or ${b.path}`, "read", error);
  }
}

function openCopy(fs: FileSystem, path: string): OpenCopy {
  try {
    const source = readSessionFile(fs, path);
    const { fd, index } = source;
    if (index.header === undefined || index.isRejected) {
      const foreign = sourceOfFile(fs, fd);
      closeQuietly(fs, fd);
      throw notASession(path, { path }, foreign);
    }
    return { path, fd, source };
  } catch (error) {
    throw fileError(path, "read", error);
  }
}

function writeNew(fs: FileSystem, path: string, plan: MergePlan): MergeFilesResult {
  try {
    makeFolder(fs, dirname(path));
    writeWhole({
      fs,
      path,
      pieces: plan.lines(),
      verify: (temporary) => assertSound(fs, temporary, plan),
    });
  } catch (error) {
    throw fileError(path, "write", error);
  }
  return { path, ...plan.report() };
}

function replace(fs: FileSystem, copy: OpenCopy, plan: MergePlan): MergeFilesResult {
  const { path } = copy;
  if (copy.source.index.isForeign) throw foreignFile(path);
  try {
    const { unredacted } = plan.report();
    const backup = replaceFile({
      old: { fs, path, fd: copy.fd, copied: copy.source.index.position },
      pieces: plan.lines(),
      mode: modeOfPlainFile(fs, path),
      // A backup would keep what was redacted.
      ...(unredacted.a.length === 0 && { backup: `${basename(path)}.bak` }),
      verify: (temporary) => assertSound(fs, temporary, plan),
    });
    return { path, ...(backup !== undefined && { backup }), ...plan.report() };
  } catch (error) {
    throw fileError(path, "write", error);
  }
}

/** Checks what was written: as many entries as planned, without issues. */
function assertSound(fs: FileSystem, path: string, plan: MergePlan): void {
  const { fd, index } = readSessionFile(fs, path);
  closeQuietly(fs, fd);
  const { entries } = plan.report();
  const [issue] = index.issues;
  if (issue !== undefined) throw new Error(`the merged session is not sound: ${issue.message}`);
  if (index.tree.size !== entries) throw new Error(`${index.tree.size} entries instead of ${entries}`);
}

function exists(path: string): SessionError {
  return new SessionError(
    "SESSION_EXISTS",
    `${path} exists already; nothing was merged. Choose another path.`,
    { details: { path } },
  );
}
