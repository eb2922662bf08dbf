import { buildPage, SOURCES_FOLDER } from "../tools/build-page.ts";
import { buildProgram } from "./program.ts";

/** Builds the page and the command line once for all tests of a run. */
export async function setup(): Promise<void> {
  await Promise.all([buildPage(SOURCES_FOLDER), buildProgram()]);
}
