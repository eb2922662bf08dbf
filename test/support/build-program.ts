import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll } from "vitest";
import { removeFolder } from "./remove-folder.ts";

/**
 * Builds the program of a process or a thread, which is removed after the tests of a file.
 *
 * @param source - Path relative to the repository's folder.
 */
export async function buildProgram(source: string): Promise<URL> {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-program-"));
  afterAll(() => removeFolder(folder));
  const outfile = join(folder, "program.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL(`../../${source}`, import.meta.url))],
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
