import { basename, dirname, join } from "node:path";
import { hashSha256 } from "../fs/digest.ts";
import { callIfPresent, type FileSystem, readRange, withOpenFile } from "../fs/file-system.ts";

/** Maximum number of folders between a session file and the folder of all sessions. Files of subagents are nested deeper. */
const MAX_DEPTH = 4;

/**
 * Reads an image that oh-my-pi stores in `blobs/`, next to the folder of all sessions. The file name is the digest of the bytes.
 *
 * @param sessionPath - File of the session that references the image.
 * @param digest - SHA-256, 64 lower-case hex characters.
 * @returns Base64; undefined if the image is missing or has another digest.
 * @throws The system's error if the file exists but cannot be read.
 */
export function readBlobImage(fs: FileSystem, sessionPath: string, digest: string): string | undefined {
  for (const folder of listBlobFolders(sessionPath)) {
    const bytes = readPlainFile(fs, join(folder, digest));
    if (bytes !== undefined && hashSha256(bytes) === digest) {
      return bytes.toString("base64");
    }
  }
  return undefined;
}

function* listBlobFolders(sessionPath: string): Generator<string, void> {
  let folder = dirname(sessionPath);
  for (let depth = 0; depth < MAX_DEPTH; depth++, folder = dirname(folder)) {
    if (basename(folder) === "sessions") yield join(dirname(folder), "blobs");
  }
}

/** Reads a plain file. Skips pipes and devices, because reading one might never finish. */
function readPlainFile(fs: FileSystem, path: string): Buffer | undefined {
  const stats = callIfPresent(() => fs.statSync(path));
  if (!stats?.isFile()) return undefined;
  return withOpenFile(fs, path, (fd) => readRange(fs, fd, 0, fs.fstatSync(fd).size));
}
