/** Windows path that no shell expands between double quotes. */
const WINDOWS_PATH = /^[A-Za-z]:(?:\\[^\\"$%`!\n]+)+$/;

/** Quotes a string as one word for a POSIX shell; a Windows path without expansions is also one word for Windows shells. */
export function quoteForShell(text: string): string {
  if (WINDOWS_PATH.test(text)) return `"${text}"`;
  // A leading tilde is expanded to a home folder.
  return /^[\w./@%+:,-][\w./@%+:,=~-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
