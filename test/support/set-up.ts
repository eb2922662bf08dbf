import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPage, SOURCES_FOLDER } from "../tools/build-page.ts";
import { buildProgram } from "./program.ts";
import { removeFolder } from "./remove-folder.ts";

/** Prepares a test run: builds the page and the command line, and creates the folder of the processes' homes. */
export async function setup(): Promise<() => void> {
  const homes = mkdtempSync(join(tmpdir(), "sessiontree-homes-"));
  process.env["SESSIONTREE_TEST_HOMES"] = homes;
  await Promise.all([buildPage(SOURCES_FOLDER), buildProgram()]);
  return () => removeFolder(homes);
}
