/**
 * Returns the URL of a file that is built next to the library's own files; undefined in a bundle with another format.
 *
 * A host's bundle does not contain the file, so callers must also work without it.
 */
export function findBuiltProgram(name: string): URL | undefined {
  const base: string | undefined = import.meta.url;
  return base === undefined ? undefined : new URL(name, base);
}
