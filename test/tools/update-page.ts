/** Builds the page for programs that run from the sources. */
import { buildPage, SOURCES_FOLDER } from "./build-page.ts";

await buildPage(SOURCES_FOLDER);
