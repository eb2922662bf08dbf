/** Writes a text as one word of a POSIX shell, in which nothing is expanded. */
export function quoteForShell(text: string): string {
  // A tilde in front is a home folder.
  return /^[\w./@%+:,-][\w./@%+:,=~-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
