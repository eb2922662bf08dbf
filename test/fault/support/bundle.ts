import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const SUBPATHS = ["adapters", "catalog", "import", "langgraph", "postgres", "sqlite", "stores", "testing"];

const publicFile = (name: string) =>
  root(process.env["SESSIONTREE_TEST_TARGET"] === "dist" ? `dist/${name}.js` : `src/${name}.ts`);

/** Bundles a program of the tests with the library, so that child processes start quickly. */
export async function bundle(program: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [root(`test/${program}`)],
    outfile,
    bundle: true,
    logLevel: "error",
    platform: "node",
    format: "esm",
    target: "node20",
    alias: {
      sessiontree: publicFile("index"),
      ...Object.fromEntries(SUBPATHS.map((name) => [`sessiontree/${name}`, publicFile(name)])),
    },
    external: ["trash", "pg-native"],
    // For CommonJS packages.
    banner: {
      js: 'import { createRequire as requireOfBundle } from "node:module"; const require = requireOfBundle(import.meta.url);',
    },
  });
}
