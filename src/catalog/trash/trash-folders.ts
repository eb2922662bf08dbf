import { lstatSync, type Stats } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { SessionError } from "../../core/format/errors.ts";
import { ifPresent } from "../../session/fs/file-system.ts";

/** A freedesktop.org trash: a folder with `files/` and `info/` in it. */
export interface TrashFolder {
  readonly path: string;
  /** Base of its relative paths: the top of its file system; undefined for the home folder's trash. */
  readonly top: string | undefined;
}

const BY_HAND: { readonly [platform: string]: string } = {
  darwin: "Open the Trash in the Finder, select the file, and choose Put Back from its menu",
  win32: "Open the Recycle Bin, select the file, and choose Restore from its menu",
};

/** The sticky bit: everybody may create files in the folder, and remove only their own. */
const STICKY = 0o1000;

/** Checks that this system has a trash that programs can read; else the error says how to restore a file by hand. */
export function assertReadableTrash(platform: string = process.platform): void {
  const advice = BY_HAND[platform];
  if (advice === undefined) return;
  const message = `No program can look for sessions in the trash of this system. ${advice}.`;
  throw new SessionError("SESSION_NOT_FOUND", message, { details: { platform } });
}

/** Returns the trash folders that this user has: the home folder's, then those on the file systems of some folders. */
export function trashFolders(folders: readonly string[]): TrashFolder[] {
  const { XDG_DATA_HOME: xdg } = process.env;
  // The specification says to ignore relative paths.
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

/** Whether a folder, which must not be a link, passes a check. */
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
