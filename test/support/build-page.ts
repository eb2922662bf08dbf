import { buildPage, SOURCES_FOLDER } from "../tools/build-page.ts";

/** Builds the page once for all tests of a run. */
export async function setup(): Promise<void> {
  await buildPage(SOURCES_FOLDER);
}
