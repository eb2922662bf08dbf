/** Builds the page for what runs from the sources. */
import { buildPage, SOURCES_FOLDER } from "./build-page.ts";

await buildPage(SOURCES_FOLDER);
