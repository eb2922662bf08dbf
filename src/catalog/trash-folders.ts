import { lstatSync, type Stats } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { ifPresent } from "../log/file-system.ts";
import { SessionError } from "../schema/errors.ts";

/** A trash as freedesktop.org describes it: a folder with `files/` and `info/` in it. */
export interface TrashFolder {
  readonly path: string;
  /** Where relative paths in it start: the top of its file system; undefined for the one in the home folder. */
  readonly top: string | undefined;
}

const BY_HAND: { readonly [platform: string]: string } = {
  darwin: "Open the Trash in the Finder, select the file, and choose Put Back from its menu",
  win32: "Open the Recycle Bin, select the file, and choose Restore from its menu",
};

/** Marks a folder in which everybody may make files, and only remove their own. */
const STICKY = 0o1000;

/**
 * Checks that this system has a trash that programs can read.
 *
 * @throws {SessionError} `SESSION_NOT_FOUND`; the message says how a file is brought back by hand.
 */
export function assertReadableTrash(platform: string = process.platform): void {
  const advice = BY_HAND[platform];
  if (advice === undefined) return;
  const message = `No program can look for sessions in the trash of this system. ${advice}.`;
  throw new SessionError("SESSION_NOT_FOUND", message, { details: { platform } });
}

/**
 * Names the folders into which this user's files go when they are put into the trash.
 *
 * @param folders - Absolute paths; the trashes on their file systems are among the result.
 * @returns The one of the home folder first; others only if they are there and this user's own.
 */
export function trashFolders(folders: readonly string[]): TrashFolder[] {
  const { XDG_DATA_HOME: xdg } = process.env;
  // A relative path in it is to be ignored, says the specification.
  const data = xdg !== undefined && isAbsolute(xdg) ? xdg : join(homedir(), ".local", "share");
  const tops = new Set(folders.map(topOf).filter((top) => top !== undefined));
  return [{ path: join(data, "Trash"), top: undefined }, ...[...tops].flatMap(foldersAtTop)];
}

function foldersAtTop(top: string): TrashFolder[] {
  const uid = process.getuid?.();
  if (uid === undefined) return [];
  const shared = join(top, ".Trash");
  const isShared = isTrusted(shared, ({ mode }) => (mode & STICKY) !== 0);
  const paths = [...(isShared ? [join(shared, String(uid))] : []), join(top, `.Trash-${uid}`)];
  return paths.filter((path) => isTrusted(path, (stats) => stats.uid === uid)).map((path) => ({ path, top }));
}

/** Whether a folder, and no link to one, is as it must be. */
function isTrusted(path: string, isRight: (stats: Stats) => boolean): boolean {
  const stats = ifPresent(() => lstatSync(path));
  return stats?.isDirectory() === true && isRight(stats);
}

/** The top of the file system that a folder is on, or would be. */
function topOf(folder: string): string | undefined {
  let top: string | undefined;
  let device: number | undefined;
  for (let at = folder; ; at = dirname(at)) {
    const stats = ifPresent(() => lstatSync(at));
    if (device !== undefined && stats?.dev !== device) return top;
    if (stats !== undefined) [top, device] = [at, stats.dev];
    if (at === dirname(at)) return top;
  }
}
