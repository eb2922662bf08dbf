import { basename, dirname, join } from "node:path";
import { hashSha256 } from "../fs/digest.ts";
import {
  callIfPresent,
  closeQuietly,
  type FileSystem,
  openForReading,
  readRange,
} from "../fs/file-system.ts";

/** How many folders above a session file the folder of all sessions may be: subagents' files lie deeper. */
const MAX_DEPTH = 4;

/**
 * Reads an image that oh-my-pi stores in `blobs/`, beside the folder of all sessions, under the digest of its bytes.
 *
 * @param sessionPath - File of the session that refers to it.
 * @param digest - SHA-256, 64 lower-case hex characters.
 * @returns Base64; undefined if the image is missing or has another digest.
 * @throws The system's error if a file is there and cannot be read.
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

/** Pipes and devices are skipped: reading one might never end. */
function readPlainFile(fs: FileSystem, path: string): Buffer | undefined {
  const stats = callIfPresent(() => fs.statSync(path));
  if (!stats?.isFile()) return undefined;
  const fd = openForReading(fs, path);
  try {
    return readRange(fs, fd, 0, fs.fstatSync(fd).size);
  } finally {
    closeQuietly(fs, fd);
  }
}
