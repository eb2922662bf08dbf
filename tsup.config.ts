import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { build, defineConfig, type Options } from "tsup";
import facts from "./package.json" with { type: "json" };
import { buildPage } from "./test/tools/build-page.ts";

/** What can be imported: each file that lies directly in src is one subpath of the package. */
const subpaths = Object.fromEntries(
  Object.keys(facts.exports)
    .filter((subpath) => !subpath.endsWith(".json"))
    .map((subpath) => (subpath === "." ? "index" : subpath.slice("./".length)))
    .map((name) => [name, `src/${name}.ts`]),
);

const SOURCES = fileURLToPath(new URL("src/", import.meta.url));

/** Subpaths that run in a browser, and so cannot import the root. */
const PURE = new Set(["core", "convert", "schema"].map((name) => subpaths[name]));

/** What the threads of an import run: no subpath, but a file that `history/import-threads` finds by its name. */
const THREAD_PROGRAM = "src/history/import-worker.ts";

/** Files that are loaded by themselves: what can be imported, and what the sources import when they run. */
async function loadableFiles(files: readonly string[]): Promise<Set<string>> {
  const imported = files.map(async (file) => {
    const text = await readFile(join(SOURCES, file), "utf8");
    const paths = text.matchAll(/\bimport\("(\.[^"]+)"\)/g);
    return Array.from(paths, ([, path = ""]) => join(SOURCES, dirname(file), path));
  });
  const entries = [...Object.values(subpaths), THREAD_PROGRAM].map((entry) =>
    fileURLToPath(new URL(entry, import.meta.url)),
  );
  return new Set([...entries, ...(await Promise.all(imported)).flat()]);
}

/** What a file imports whole, although it may need less: a path in src, and the files that are loaded by themselves. */
type BasesOf = (path: string, files: readonly string[]) => readonly string[];

/** What runs in a browser: all of core, and what the root and the schemas share, which would be a chunk of its own. */
const PURE_BASES = ["core.ts", "schema/problems.ts"];

/** Of the library: all of the root, or all of core where it runs in a browser. */
const libraryBases: BasesOf = (path) => (PURE.has(`src/${path}`) ? PURE_BASES : ["index.ts"]);

/** The command line's own parts, of which every command needs some; not the commands. */
const CLI_PARTS = /^cli\/(?:text\/|view\/)?[a-z-]+\.ts$/;

/** What starts the command line, and what answers a TAB: these must stay small. */
const SMALL = ["cli/bin.ts", "cli/main.ts", "cli/completion/answer-shell.ts", "cli/completion/entries.ts"];

/** Of the command line: all of the root, and its own parts. */
const commandLineBases: BasesOf = (path, files) =>
  SMALL.includes(path)
    ? []
    : ["index.ts", ...files.filter((file) => CLI_PARTS.test(file) && !SMALL.includes(file))];

/**
 * Takes Node's modules from the process instead of importing them. An import makes Node evaluate everything that a module
 * could export, which for `node:fs` are streams and promises: a sixth of the time that the root takes.
 */
function withoutNodeImports(source: string): string {
  return source.replace(
    /^import (?:(\w+)|\{([^}]*)\}) from ("node:[^"]+");$/gm,
    (_, all: string | undefined, list: string | undefined, path: string) => {
      const values = list?.replace(/\btype \w+,?/g, "").replace(/ as /g, ": ");
      return `const ${all ?? `{${values}}`} = process.getBuiltinModule(${path});`;
    },
  );
}

/**
 * Makes each file that is loaded by itself import its bases.
 *
 * Modules get one chunk for each set of entries that reach them, and each chunk costs about a millisecond when a process
 * starts. Without this the root is spread over twenty-four, and takes twice as long to import.
 */
const quickStart = (basesOf: BasesOf): Plugin => ({
  name: "quick-start",
  async setup(build) {
    const files = (await readdir(SOURCES, { recursive: true })).filter((file) => file.endsWith(".ts"));
    const loadable = await loadableFiles(files);
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const bases = loadable.has(path) ? basesOf(relative(SOURCES, path), files) : [];
      const imports = bases.map((base) => `\nimport ${JSON.stringify(join(SOURCES, base))};`);
      const source = withoutNodeImports(await readFile(path, "utf8"));
      return { contents: `${source}${imports.join("")}\n`, loader: "ts" };
    });
  },
});

/**
 * Gives packages that are bundled and `require` Node's modules what they ask for: ESM has no `require`.
 *
 * But for one: commander would start other programs with `node:child_process`, and no command of ours is one. To load
 * it takes longer than commander itself.
 */
const nodeModules: Plugin = {
  name: "node-modules",
  setup(build) {
    const namespace = "required-from-node";
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === "require-call" ? { path, namespace } : { path, external: true },
    );
    build.onLoad({ filter: /./, namespace }, ({ path }) => {
      const isUsed = path !== "node:child_process";
      const contents = isUsed ? `module.exports = process.getBuiltinModule(${JSON.stringify(path)});` : "";
      return { contents, loader: "js" };
    });
  },
};

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

/**
 * Gives classes that name themselves their names back: bundled, `class A` that makes an `A` is `var A = class _A`, and a
 * session would be shown as `_SessionManager`.
 */
function withClassNames(code: string): string {
  const names = Array.from(code.matchAll(/\bclass _([A-Z]\w*)/g), ([, name]) => name);
  return names.length === 0 ? code : code.replace(new RegExp(`\\b_(${names.join("|")})\\b`, "g"), "$1");
}

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
  plugins: [
    { name: "class-names", renderChunk: (code, { map = null }) => ({ code: withClassNames(code), map }) },
  ],
};

/**
 * The command line has a copy of the library to itself: one that is cut by what commands need, and not by what can be
 * imported, has a third of the files, and a command starts in four fifths of the time.
 */
const COMMAND_LINE: Options = {
  ...SHARED,
  config: false,
  silent: true,
  entry: { bin: "src/cli/bin.ts" },
  esbuildPlugins: [quickStart(commandLineBases), nodeModules],
};

export default defineConfig({
  ...SHARED,
  entry: { ...subpaths, "sessiontree-import-worker": THREAD_PROGRAM },
  dts: { entry: subpaths },
  esbuildPlugins: [quickStart(libraryBases), nodeModules],
  sourcemap: true,
  clean: true,
  onSuccess: async () => {
    await build(COMMAND_LINE);
    await writeLicenses([...BUNDLED, ...(await buildPage("dist/page"))]);
  },
});
