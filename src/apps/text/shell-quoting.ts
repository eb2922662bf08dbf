/** A path of Windows, in which no shell expands anything between double quotes. */
const WINDOWS_PATH = /^[A-Za-z]:(?:\\[^\\"$%`!\n]+)+$/;

/** Writes a text as one word of a POSIX shell, and a path of Windows also for its shells, in which nothing is expanded. */
export function quoteForShell(text: string): string {
  if (WINDOWS_PATH.test(text)) return `"${text}"`;
  // A tilde in front is a home folder.
  return /^[\w./@%+:,-][\w./@%+:,=~-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
