import { lstatSync, mkdtempSync, readdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { callIfPresent, hasErrorCode, NOT_PERMITTED, realFileSystem } from "../fs/file-system.ts";
import { isTemporaryName, removeLeftovers } from "../fs/temporary-files.ts";

/** Prefix of the folders that are created in the temporary folder, one per page. */
const FOLDER_PREFIX = "sessiontree-";

/** Matches the complete name of a page's folder. */
const FOLDER = new RegExp(`^${FOLDER_PREFIX}[A-Za-z0-9]{6}$`);

const SUFFIX = ".html";

/** Page that was written for the browser, or an unfinished page abandoned by a killed process. */
export interface PageFile {
  readonly kind: "page" | "temporary";
  readonly path: string;
}

/**
 * Returns a path for the page of a session's file, in a new folder that only its owner can access. Removes unfinished pages
 * abandoned by killed processes.
 */
export function makePagePath(fileName: string): string {
  for (const folder of listPageFolders()) callIfPresent(() => removeLeftovers(realFileSystem, folder));
  return join(mkdtempSync(join(tmpdir(), FOLDER_PREFIX)), makePageName(fileName));
}

/** Lists this user's pages in the temporary folder, including unfinished pages. */
export function listPages(): PageFile[] {
  return listPageFolders().flatMap((folder) =>
    listPageNames(folder).flatMap((name): PageFile[] => {
      const path = join(folder, name);
      if (isTemporaryName(name)) return [{ kind: "temporary", path }];
      return name.endsWith(SUFFIX) ? [{ kind: "page", path }] : [];
    }),
  );
}

/**
 * Removes the pages of a session's file from the temporary folder, and any unfinished pages abandoned by killed
 * processes.
 */
export function removePages(fileName: string): void {
  for (const folder of listPageFolders()) {
    callIfPresent(() => removeLeftovers(realFileSystem, folder));
    callIfPresent(() => realFileSystem.unlinkSync(join(folder, makePageName(fileName))));
  }
}

function makePageName(fileName: string): string {
  return `${basename(fileName).replace(/\.jsonl$/, "")}${SUFFIX}`;
}

function listPageFolders(): string[] {
  const temporary = callIfPresent(() => realpathSync(tmpdir())) ?? tmpdir();
  return listPageNames(temporary)
    .filter((name) => FOLDER.test(name))
    .map((name) => join(temporary, name))
    .filter(isOwnFolder);
}

/** Returns whether a folder belongs to this user. All users of a machine may share the temporary folder. */
function isOwnFolder(path: string): boolean {
  const stats = callIfPresent(() => lstatSync(path));
  return stats?.isDirectory() === true && (process.getuid === undefined || stats.uid === process.getuid());
}

function listPageNames(folder: string): string[] {
  try {
    return callIfPresent(() => readdirSync(folder)) ?? [];
  } catch (error) {
    // Some systems do not allow users to list the temporary folder.
    if (!hasErrorCode(error, "EACCES", "EPERM", NOT_PERMITTED)) throw error;
    return [];
  }
}
