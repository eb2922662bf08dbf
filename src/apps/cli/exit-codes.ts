/**
 * Command-line exit codes, which are part of the public interface.
 *
 * - `ok` 0: success. Also used if the reader of a pipe stops reading.
 * - `failed` 1: the operation failed, issues were found, or a search found nothing; stderr has the reason.
 * - `usage` 2: the command line was wrong; nothing was done.
 * - `cancelled` 130: the user closed the picker without choosing, or interrupted an import.
 */
export const EXIT_CODES = Object.freeze({ ok: 0, failed: 1, usage: 2, cancelled: 130 });

/** One of the exit codes, or the exit code of a started program. */
export type ExitCode = number;
