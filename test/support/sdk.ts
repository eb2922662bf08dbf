import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe } from "vitest";

const require = createRequire(import.meta.url);

/** The part of a package's manifest that defines where it runs. */
interface Manifest {
  readonly version?: string;
  readonly engines?: { readonly node?: string };
}

function readManifest(name: string): Manifest {
  for (let folder = dirname(require.resolve(name)); ; folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (folder.endsWith(join("node_modules", name))) return JSON.parse(readFileSync(path, "utf8"));
  }
}

/** Returns the reason why packages cannot be used with this Node; undefined if they can. */
function whyNot(names: readonly string[]): string | undefined {
  const present = Number(process.versions.node.split(".")[0]);
  for (const name of names) {
    const { version = "", engines } = readManifest(name);
    const needed = Number(/\d+/.exec(engines?.node ?? "0")?.[0]);
    if (present < needed) return `${name} ${version} needs Node ${needed}, this is ${process.versions.node}`;
  }
  return undefined;
}

/**
 * Describes tests that run with real packages; where these do not support this version of Node, the tests are skipped and the
 * reason is printed.
 *
 * @param names - The packages, and those of their dependencies with higher requirements.
 */
export function describeWith(names: readonly string[], title: string, tests: () => void): void {
  const reason = whyNot(names);
  if (reason !== undefined) console.warn(`skipped: ${title}: ${reason}`);
  describe.skipIf(reason !== undefined)(title, tests);
}
