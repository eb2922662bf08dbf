/** Size up to which a file is read in this process: what it becomes in memory is some ten times as large. */
export const MAX_OWN_BYTES = 64 * 1024 ** 2;

/** Time to read any file, and speed that is expected of larger ones. */
const BASE_MS = 30_000;
const BYTES_PER_MS = 10_000;

/** Returns for how many milliseconds files of so many bytes may be read. */
export function allowedMs(bytes: number): number {
  return BASE_MS + bytes / BYTES_PER_MS;
}

/** Returns whether a file may be read in this process, judged by its size; a compressed one may hold any. */
export function isSmall({ path, size }: { readonly path: string; readonly size: number }): boolean {
  return size <= MAX_OWN_BYTES && !path.endsWith(".zst");
}
