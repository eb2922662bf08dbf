import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { toRecord } from "../../../core/context/entry-fields.ts";
import { callUnlessRefused } from "../../../session/files/skipped-files.ts";
import { importAtif, readAtifText } from "../../import/atif/import-atif.ts";
import type { ReadAsset } from "../../import/atif/step-content.ts";
import { toNonemptyText } from "../../import/source-text.ts";
import { readSourceAsText } from "../source-file.ts";
import type { SourceProgram } from "../source-program.ts";
import { makePathId, NAMED_FILES } from "./named-files.ts";

/** Agent Trajectory Interchange Format documents, in files specified by the caller. */
export const ATIF: SourceProgram = {
  ...NAMED_FILES,
  name: "atif",
  readFacts: (text, path) => {
    const { trajectory_id: id, session_id: runId } = toRecord(readAtifText(text));
    const sessionId = toNonemptyText(id) ?? makePathId(path, toNonemptyText(runId));
    return [{ source: "atif", sessionId, cwd: dirname(path) }];
  },
  read: ({ files, sourceId, cwd, startedAt }, { importedAt, begunAt = startedAt }) => {
    const [file] = files;
    if (file === undefined) return [];
    const { path } = file;
    const document = readAtifText(readSourceAsText(path));
    const readAsset = makeAssetReader(dirname(path));
    return importAtif({ document, sourceId, path, cwd, startedAt: begunAt, importedAt, readAsset });
  },
};

/** Maximum size of an image to read, in bytes. */
const MAX_ASSET_BYTES = 32 * 1024 ** 2;

/** Maximum total size of a document's images, in bytes. Each image is counted once per reference. */
const MAX_TOTAL_BYTES = 64 * 1024 ** 2;

const MAX_ASSET_NAME = 255;

/** First bytes of the image types that ATIF allows, as hexadecimal digits. */
const BEGINNINGS: ReadonlyMap<unknown, RegExp> = new Map([
  ["image/jpeg", /^ffd8ff/],
  ["image/png", /^89504e470d0a1a0a/],
  ["image/gif", /^474946383[79]61/],
  ["image/webp", /^52494646.{8}57454250/],
]);

/** Returns a reader for the images of one document, which stops at the maximum total size. */
function makeAssetReader(folder: string): ReadAsset {
  let left = MAX_TOTAL_BYTES;
  return (name, mediaType) => {
    const bytes = readAssetBeside(folder, name, left);
    if (bytes === undefined || !BEGINNINGS.get(mediaType)?.test(bytes.toString("hex", 0, 12)))
      return undefined;
    left -= bytes.length;
    return bytes.toString("base64");
  };
}

/** Reads a file under the document's folder; undefined for any other path, because the document is not trusted. */
function readAssetBeside(folder: string, name: string, maxBytes: number): Buffer | undefined {
  if (name.length > MAX_ASSET_NAME || name.includes("\0")) return undefined;
  const path = join(folder, name);
  return callUnlessRefused(() => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats?.isFile() || stats.size > Math.min(MAX_ASSET_BYTES, maxBytes)) return undefined;
    return realpathSync(path).startsWith(realpathSync(folder) + sep) ? readFileSync(path) : undefined;
  });
}
