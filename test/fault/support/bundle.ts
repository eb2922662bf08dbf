import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** Bundles a program of this folder with the library, so that child processes start quickly. */
export async function bundle(name: string, outfile: string): Promise<void> {
  const isDist = process.env["SESSIONTREE_TEST_TARGET"] === "dist";
  await build({
    entryPoints: [root(`test/fault/support/${name}`)],
    outfile,
    bundle: true,
    logLevel: "error",
    platform: "node",
    format: "esm",
    target: "node20",
    alias: {
      sessiontree: root(isDist ? "dist/index.js" : "src/index.ts"),
      "sessiontree/import": root(isDist ? "dist/import.js" : "src/import.ts"),
      "sessiontree/catalog": root(isDist ? "dist/catalog.js" : "src/catalog.ts"),
      "sessiontree/stores": root(isDist ? "dist/stores.js" : "src/stores.ts"),
    },
    external: ["trash"],
    // For the packages that are no modules.
    banner: {
      js: 'import { createRequire as requireOfBundle } from "node:module"; const require = requireOfBundle(import.meta.url);',
    },
  });
}
