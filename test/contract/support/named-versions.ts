import type { Facts } from "./package-facts.ts";

/** Returns the exact versions of packages, by name; one that is installed under several names has several. */
export function findVersions(dependencies: Facts): ReadonlyMap<string, readonly string[]> {
  const versions = new Map<string, string[]>();
  for (const [key, wanted] of Object.entries(dependencies)) {
    const [, name = key, version] = /^(?:npm:(.+)@)?(\d+\.\d+\.\d+)$/.exec(String(wanted)) ?? [];
    if (version !== undefined) versions.set(name, [...(versions.get(name) ?? []), version]);
  }
  return versions;
}

/** Package, and the versions that a document names after it: "ai 5.0.277, 6.0.326 and 7.0.173 (Node 22)". */
const NAMED = /(?<![\w@/-])`?(@?[a-z][\w./-]*)`?((?:(?:,| and| or)?\s+\d+\.\d+\.\d+(?: \(Node \d+\))?)+)/g;

/** Lists the versions of packages that a document names but that are not installed. */
export function wrongVersions(
  file: string,
  markdown: string,
  installed: ReadonlyMap<string, readonly string[]>,
): string[] {
  return [...markdown.matchAll(NAMED)].flatMap(([, name = "", list = ""]) => {
    const known = installed.get(name);
    const named = list.match(/\d+\.\d+\.\d+/g) ?? [];
    return known === undefined
      ? []
      : named
          .filter((version) => !known.includes(version))
          .map((version) => `${file} names ${name} ${version}`);
  });
}
