import { renameSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const isDist = process.env["SESSIONTREE_TEST_TARGET"] === "dist";

/** The command line as one file, for a quick start: the built one, or a bundle of the sources next to their page. */
export const PROGRAM = root(isDist ? "dist/bin.js" : "node_modules/.cache/sessiontree/bin.js");

/** Bundles the sources of the command line. */
export async function buildProgram(): Promise<void> {
  if (isDist) return;
  // Another run of the same checkout may be using the existing one.
  const temporary = `${PROGRAM}.${process.pid}.tmp`;
  await build({
    entryPoints: [root("src/apps/cli/bin.ts")],
    outfile: temporary,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "error",
  });
  renameSync(temporary, PROGRAM);
}
