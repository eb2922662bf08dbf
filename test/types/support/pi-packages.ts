import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** Version of pi whose declarations are compared with ours. */
const VERSION = "1.5.2";

/** Packages that declare the types exchanged between pi and a session manager. */
const PACKAGES = ["pi-ai", "pi-agent-core", "pi-coding-agent"] as const;

/** A package that pi's declarations need and that not every registry has: the names that they import from it. */
export const PI_SCHEMA = `
declare module "@earendil-works/pi-schema" {
  export interface Schema<T = unknown> { readonly static: T }
  export type Static<S> = S extends Schema<infer T> ? T : never;
}
`;

/**
 * Fetches pi's packages from npm's configured registry and unpacks them without their dependencies, because these do not install
 * everywhere.
 *
 * @param folder - An empty folder.
 * @returns Import names, each with its declarations; or the reason why the packages are unavailable.
 */
export function fetchPiDeclarations(folder: string): { [name: string]: string[] } | string {
  const specs = PACKAGES.map((name) => `@earendil-works/${name}@${VERSION}`);
  try {
    const options = ["--silent", "--pack-destination", folder];
    execFileSync("npm", ["pack", ...specs, ...options], { cwd: folder, encoding: "utf8", timeout: 100_000 });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return `npm cannot fetch pi's packages here: ${error.message.split("\n").slice(0, 3).join(" ")}`;
  }
  const paths: { [name: string]: string[] } = {};
  for (const name of PACKAGES) {
    const to = join(folder, name);
    mkdirSync(to);
    const tarball = `earendil-works-${name}-${VERSION}.tgz`;
    execFileSync("tar", ["-xzf", join(folder, tarball), "-C", to, "--strip-components", "1"]);
    paths[`@earendil-works/${name}`] = [join(to, "dist/index.d.ts")];
    paths[`@earendil-works/${name}/*`] = [join(to, "dist/*.d.ts")];
  }
  return paths;
}
