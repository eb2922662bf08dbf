import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll } from "vitest";
import { removeFolder } from "../../../support/remove-folder.ts";

/** Builds the program of the process that reads other programs' files; it is removed after the tests of a file. */
export async function buildReader(): Promise<URL> {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-reader-"));
  afterAll(() => removeFolder(folder));
  const outfile = join(folder, "worker.mjs");
  await build({
    entryPoints: [
      fileURLToPath(new URL("../../../../src/interop/history/source-worker.ts", import.meta.url)),
    ],
    outfile,
    bundle: true,
    logLevel: "error",
    platform: "node",
    format: "esm",
    banner: {
      js: 'import { createRequire as requireOfBundle } from "node:module"; const require = requireOfBundle(import.meta.url);',
    },
  });
  return pathToFileURL(outfile);
}
