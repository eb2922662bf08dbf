/**
 * Returns the URL of a file that is built next to the library's own; undefined in a bundle of another format.
 *
 * A host's bundle does not contain the file, so callers must work without it.
 */
export function findBuiltProgram(name: string): URL | undefined {
  const base: string | undefined = import.meta.url;
  return base === undefined ? undefined : new URL(name, base);
}
