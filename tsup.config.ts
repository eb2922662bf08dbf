import { readdirSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, defineConfig, type Options } from "tsup";
import facts from "./package.json" with { type: "json" };
import { buildPage } from "./test/tools/build-page.ts";
import { type BasesOf, nodeModules, quickStart } from "./test/tools/build-plugins.ts";
import { markPure, pureUuid } from "./test/tools/pure-output.ts";

/** What can be imported: each file that lies directly in src is one subpath of the package. */
const subpaths = Object.fromEntries(
  Object.keys(facts.exports)
    .filter((subpath) => !subpath.endsWith(".json"))
    .map((subpath) => (subpath === "." ? "index" : subpath.slice("./".length)))
    .map((name) => [name, `src/${name}.ts`]),
);

/** All sources, below src. */
const files = readdirSync("src", { recursive: true, encoding: "utf8" });

/** Subpaths that run in a browser, and so cannot import the root. */
const PURE = new Set(["core", "convert", "schema"].map((name) => subpaths[name]));

/** Programs of processes and threads: not subpaths, but files that the code finds by their names. */
const PROGRAMS = {
  "sessiontree-import-worker": "src/interop/history/source-worker.ts",
  "sessiontree-search-worker": "src/catalog/search/table-worker.ts",
};

/** What runs in a browser: all of core, and what the root and the schemas share, which would be a chunk of its own. */
const PURE_BASES = [
  "core.ts",
  "core/format/validation-problems.ts",
  "core/format/message.ts",
  "core/format/message-shapes.ts",
];

/** Of the library: all of the root, or all of core where it runs in a browser. */
const libraryBases: BasesOf = (path) => (PURE.has(`src/${path}`) ? PURE_BASES : ["index.ts"]);

/** The command line's own parts, of which every command needs some; not the commands. */
const CLI_PARTS = /^apps\/cli\/(?:text\/|view\/)?[a-z-]+\.ts$/;

/** What starts the command line, and what answers a TAB: these must stay small. */
const SMALL = [
  "apps/cli/bin.ts",
  "apps/cli/main.ts",
  "apps/cli/completion/answer-shell.ts",
  "apps/cli/completion/entries.ts",
];

/** Of the command line: all of the root, and its own parts. */
const commandLineBases: BasesOf = (path) =>
  SMALL.includes(path)
    ? []
    : ["index.ts", ...files.filter((file) => CLI_PARTS.test(file) && !SMALL.includes(file))];

/** Small, and needed by every session or command: as packages they would take longer to load than all of ours. */
const BUNDLED = [
  "commander",
  "picocolors",
  "nanoid",
  "uuid",
  "string-width",
  "strip-ansi",
  "ansi-regex",
  "get-east-asian-width",
];

/** Puts the licences of what is bundled beside it, as they ask for. */
async function writeLicenses(packages: readonly string[]): Promise<void> {
  const texts = [...new Set(packages)].sort().map(async (name) => {
    const folder = join("node_modules", name);
    const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
    if (file === undefined) throw new Error(`${name} has no licence beside it; is it right to bundle it?`);
    return `# ${name}\n\n${(await readFile(join(folder, file), "utf8")).trim()}\n`;
  });
  await writeFile("dist/licenses.md", (await Promise.all(texts)).join("\n"));
}

/**
 * Writes what a bundle for a browser gets instead of the root: every name of it, so that bundlers find what is imported, and an
 * error that says what to import.
 */
async function writeBrowserRoot(): Promise<void> {
  const root: object = await import(new URL("dist/index.js", import.meta.url).href);
  const message =
    "sessiontree reads and writes files, which needs Node. In a browser or worker, import from sessiontree/core " +
    "(entries, trees, contexts, compaction) or sessiontree/convert (messages of other SDKs) instead.";
  const names = Object.keys(root).sort();
  await writeFile("dist/browser.js", `throw new Error(${JSON.stringify(message)});\nexport let ${names};\n`);
}

const SHARED: Options = {
  format: ["esm"],
  target: "node20",
  // Neutral: nothing is added for Node, so that the shared pieces that core reaches stay free of it.
  platform: "neutral",
  noExternal: BUNDLED,
  removeNodeProtocol: false,
  esbuildOptions(options) {
    // Their variants without node:crypto, which Node runs as well.
    options.conditions = ["browser"];
    // A process that has just started reads all of it before it does anything. Names stay, for stack traces.
    options.minifyWhitespace = true;
    options.minifySyntax = true;
    // Node prints the line that threw what nobody caught.
    options.lineLimit = 120;
    // Only the chunks are meant to change, see quickStart.
    options.logOverride = { "ignored-bare-import": "silent" };
    // Node 20 has both, and compiles a literal when it is first used; esbuild would have it made at once, for 30 ms.
    options.supported = { "regexp-set-notation": true, "regexp-unicode-property-escapes": true };
  },
  splitting: true,
};

/**
 * The command line has a copy of the library to itself: one that is cut by what commands need, and not by what can be
 * imported, has a third of the files, and a command starts in four fifths of the time.
 */
const COMMAND_LINE: Options = {
  ...SHARED,
  config: false,
  silent: true,
  entry: { bin: "src/apps/cli/bin.ts" },
  esbuildPlugins: [quickStart(commandLineBases), nodeModules],
};

/** `--sourcemap` is for debugging: what would move the code from where the maps say it is, is left out then. */
export default defineConfig(({ sourcemap = false }) => ({
  ...SHARED,
  entry: { ...subpaths, ...PROGRAMS },
  dts: { entry: subpaths },
  esbuildPlugins: [quickStart(libraryBases), nodeModules, pureUuid],
  plugins:
    sourcemap === false ? [{ name: "mark-pure", renderChunk: (code) => ({ code: markPure(code) }) }] : [],
  clean: true,
  onSuccess: async () => {
    await build({ ...COMMAND_LINE, sourcemap });
    await writeBrowserRoot();
    await writeLicenses([...BUNDLED, ...(await buildPage("dist/page"))]);
  },
}));
