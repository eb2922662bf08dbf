/** Plugins with which tsup.config.ts builds the library and the command line. */
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import ts from "typescript";
import { parse } from "../contract/support/syntax.ts";

const SOURCES = fileURLToPath(new URL("../../src/", import.meta.url));

/** Returns the files that a file imports in full, although it may need less: paths in src, for a path in src. */
export type BasesOf = (path: string) => readonly string[];

/**
 * Makes each file that is loaded by itself import its bases: entry points and dynamically imported files.
 *
 * Modules get one chunk for each set of entries that reach them, and each chunk costs about a millisecond when a process starts.
 * Without this the root is spread over twenty-four chunks, and takes twice as long to import.
 */
export const quickStart = (basesOf: BasesOf): Plugin => ({
  name: "quick-start",
  setup(build) {
    const namespace = "with-bases";
    build.onResolve({ filter: /\.ts$/ }, ({ path, kind, resolveDir }) => {
      const isEntry = kind === "entry-point";
      if (!isEntry && kind !== "dynamic-import") return undefined;
      const file = join(resolveDir, path);
      return basesOf(relative(SOURCES, file)).length === 0 ? undefined : { path: file, namespace };
    });
    // A program exports nothing: without this it would be left out, because package.json declares all files free of side effects.
    build.onResolve({ filter: /\.ts$/, namespace }, ({ path, importer }) =>
      path === importer ? { path, sideEffects: true } : undefined,
    );
    build.onLoad({ filter: /./, namespace }, ({ path }) => {
      const bases = basesOf(relative(SOURCES, path)).map((base) => join(SOURCES, base));
      const imports = bases.filter((base) => base !== path).map((base) => `import ${JSON.stringify(base)};`);
      const contents = [`export * from ${JSON.stringify(path)};`, ...imports].join("\n");
      return { contents, loader: "js", resolveDir: dirname(path) };
    });
  },
});

/** Returns the values that a file imports from a module, by the module's names for them. */
function valuesImported(file: string, specifier: string): string[] {
  return parse(file, readFileSync(file, "utf8")).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement)) return [];
    const { moduleSpecifier, importClause: clause } = statement;
    if (!ts.isStringLiteral(moduleSpecifier) || moduleSpecifier.text !== specifier) return [];
    if (clause === undefined || clause.isTypeOnly) return [];
    const { name, namedBindings: bindings } = clause;
    if (bindings !== undefined && ts.isNamespaceImport(bindings))
      throw new Error(`${file} imports all of ${specifier}: name what it needs.`);
    const named = (bindings?.elements ?? []).filter((one) => !one.isTypeOnly);
    return [
      ...(name === undefined ? [] : ["default"]),
      ...named.map((one) => (one.propertyName ?? one.name).text),
    ];
  });
}

/**
 * Reads Node's modules from the process instead of importing them. An import makes Node evaluate everything that a module could
 * export, which for `node:fs` includes streams and promises: a sixth of the time that the root takes.
 *
 * Packages that are bundled and `require` Node's modules get them as well, because ESM has no `require`. One exception: commander
 * would start other programs with `node:child_process`, which no command of ours needs; loading it takes longer than commander
 * itself.
 */
export const nodeModules: Plugin = {
  name: "node-modules",
  setup(build) {
    const taken = (path: string) => `process.getBuiltinModule(${JSON.stringify(path)})`;
    build.onResolve({ filter: /^node:/ }, ({ path, kind, importer, namespace }) => {
      if (kind === "require-call") return { path: path.slice("node:".length), namespace: "node" };
      if (kind !== "import-statement" || namespace !== "file" || !importer.startsWith(SOURCES))
        return { path, external: true };
      // One for each importer, next to it in its chunk with what it needs; maps call it `node:fs of log/lease.ts`.
      const pluginData = { path, names: valuesImported(importer, path) };
      const name = `${path.slice("node:".length)} of ${relative(SOURCES, importer)}`;
      return { path: name, namespace: "node", sideEffects: false, pluginData };
    });
    build.onLoad({ filter: / of /, namespace: "node" }, ({ pluginData: { path, names } }) => {
      const named = names.filter((name: string) => name !== "default");
      const contents = names.includes("default")
        ? `const all = ${taken(path)};\nexport default all;\nexport const { ${named} } = all;`
        : `export const { ${named} } = ${taken(path)};`;
      return { contents, loader: "js" };
    });
    build.onLoad({ filter: /^[^ ]+$/, namespace: "node" }, ({ path }) => ({
      contents: path === "child_process" ? "" : `module.exports = ${taken(`node:${path}`)};`,
      loader: "js",
    }));
  },
};
