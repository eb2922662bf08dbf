import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { hashText } from "../../../core/format/ids.ts";
import { findTrajectoryId, importAtif, readAtifText } from "../../import/atif/import-atif.ts";
import { readSourceAsText } from "../source-file.ts";
import type { SourceProgram } from "../source-program.ts";

/** Documents of the Agent Trajectory Interchange Format, in files that the caller names. */
export const ATIF: SourceProgram = {
  name: "atif",
  folders: () => [],
  // Those in a program's folder are exports of sessions that it has in its own form.
  isOnlyNamed: true,
  readFacts: (text, path) => {
    const sessionId = findTrajectoryId(readAtifText(text)) ?? makeSourceId(path);
    return [{ source: "atif", sessionId, cwd: dirname(path) }];
  },
  makeKey: ({ path }) => path,
  beside: () => {
    return ({ mtimeMs }) => ({ startedAt: new Date(mtimeMs).toISOString() });
  },
  read: ({ files, sourceId, cwd, startedAt }, { importedAt, begunAt = startedAt }) => {
    const [file] = files;
    if (file === undefined) return [];
    const { path } = file;
    const document = readAtifText(readSourceAsText(path));
    const readAsset = (name: string) => readAssetBeside(dirname(path), name);
    return importAtif({ document, sourceId, path, cwd, startedAt: begunAt, importedAt, readAsset });
  },
};

function makeSourceId(path: string): string {
  return `${basename(path).replace(/\.[^.]*$/, "")}-${hashText(path).slice(0, 8)}`;
}

/** Size of the largest image that is read. */
const MAX_ASSET_BYTES = 32 * 1024 ** 2;

const MAX_ASSET_NAME = 255;

/** Reads an image below the folder of its document as base64; undefined for every other path, since the document is not trusted. */
function readAssetBeside(folder: string, name: string): string | undefined {
  if (name.length > MAX_ASSET_NAME || name.includes("\0")) return undefined;
  const path = join(folder, name);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile() || stats.size > MAX_ASSET_BYTES) return undefined;
  if (!realpathSync(path).startsWith(realpathSync(folder) + sep)) return undefined;
  return readFileSync(path).toString("base64");
}
