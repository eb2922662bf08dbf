import { existsSync, readFileSync } from "node:fs";

/** The page without a session: a script and a style sheet, built from src/page. */
export interface PageAsset {
  readonly script: string;
  readonly style: string;
}

/** Beside the program in the package; where `npm run build:page` puts it for a program that runs from the sources. */
const FOLDER = import.meta.url.endsWith(".ts")
  ? new URL("../../../node_modules/.cache/sessiontree/page/", import.meta.url)
  : new URL("./page/", import.meta.url);

/**
 * Reads the page.
 *
 * @throws {Error} If the program runs from the sources and the page has not been built.
 */
export function readPageAsset(): PageAsset {
  const [script, style] = [new URL("page.js", FOLDER), new URL("style.css", FOLDER)];
  if (!existsSync(script) || !existsSync(style)) {
    throw new Error(
      'The page has not been built. Run "npm run build:page", or use an installed sessiontree.',
    );
  }
  return { script: readFileSync(script, "utf8"), style: readFileSync(style, "utf8") };
}
