/**
 * Bundles the page that shows a session: one script and one style sheet, which the command line embeds in each page that it
 * writes. Called by the build, and by programs that run from the sources.
 */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** Returns the name of the package that a file belongs to. */
const PACKAGE = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/;

const PAGE = fileURLToPath(new URL("../../src/apps/page/", import.meta.url));

/** Folder in which the command line looks for the page when it runs from the sources. */
export const SOURCES_FOLDER = fileURLToPath(
  new URL("../../node_modules/.cache/sessiontree/page/", import.meta.url),
);

/**
 * Builds the page.
 *
 * @param folder - Output folder of `page.js` and `style.css`.
 * @returns The names of the bundled packages.
 */
export async function buildPage(folder: string): Promise<string[]> {
  const { outputFiles, metafile } = await build({
    entryPoints: { page: join(PAGE, "main.tsx"), style: join(PAGE, "page.css") },
    bundle: true,
    minify: true,
    format: "iife",
    platform: "browser",
    target: ["chrome123", "firefox128", "safari17.5"],
    charset: "utf8",
    legalComments: "none",
    define: { "process.env.NODE_ENV": '"production"' },
    tsconfig: join(PAGE, "tsconfig.json"),
    outdir: folder,
    write: false,
    metafile: true,
  });
  mkdirSync(folder, { recursive: true });
  for (const { path, text } of outputFiles) {
    // Another process may be reading the existing file.
    const temporary = `${path}.${process.pid}.tmp`;
    writeFileSync(temporary, path.endsWith(".js") ? forScriptElement(text) : text);
    renameSync(temporary, path);
  }
  const packages = Object.keys(metafile.inputs).map((path) => PACKAGE.exec(path)?.[1]);
  return [...new Set(packages)].filter((name) => name !== undefined);
}

/**
 * Escapes a script so that HTML sees neither a comment nor a script start in it: after both, the end tag of the element would not
 * end it. They occur in strings and patterns only, where `\\x3c` is `<`; esbuild escapes end tags itself.
 */
function forScriptElement(script: string): string {
  return script.replace(/<(?=!--|script)/gi, "\\x3c");
}
