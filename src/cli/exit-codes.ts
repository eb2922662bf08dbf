/**
 * What the exit code of the command line says; part of its interface.
 *
 * - `ok` 0: done, and nothing is wrong. Also when whoever read the output stopped reading.
 * - `failed` 1: issues were found, or the operation failed; what it was is on stderr.
 * - `usage` 2: the command line itself was wrong; nothing was done.
 * - `cancelled` 130: a person left without choosing anything.
 */
export const EXIT_CODES = Object.freeze({ ok: 0, failed: 1, usage: 2, cancelled: 130 });

/** One of the exit codes, or that of a program that was started. */
export type ExitCode = number;
