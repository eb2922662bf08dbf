/** Bundles an installed package with the usual bundlers, for Node and for what is no Node, and runs the bundles. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { build as buildWithEsbuild } from "esbuild";
import { rollup } from "rollup";
import { build as buildWithVite } from "vite";
import webpack from "webpack";

/** What is bundled: a program of a project, and where the bundle `main.js` goes. */
interface Job {
  readonly project: string;
  readonly entry: string;
  readonly folder: string;
  readonly isForNode: boolean;
}

const isOfNode = (id: string) => id.startsWith("node:");

/** The bundlers, each as its documents say, without settings for this package. */
const BUNDLERS: Readonly<Record<string, (job: Job) => Promise<unknown>>> = {
  esbuild: ({ entry, folder, isForNode }) =>
    buildWithEsbuild({
      entryPoints: { main: entry },
      outdir: folder,
      bundle: true,
      splitting: true,
      format: "esm",
      platform: isForNode ? "node" : "browser",
      logLevel: "warning",
    }),
  "esbuild, neutral": ({ entry, folder, isForNode }) =>
    buildWithEsbuild({
      entryPoints: { main: entry },
      outdir: folder,
      bundle: true,
      format: "esm",
      platform: "neutral",
      external: isForNode ? ["node:*"] : [],
      // Neither `node` nor `browser` unless one says so.
      conditions: isForNode ? ["node"] : ["browser"],
      logLevel: "warning",
    }),
  rollup: async ({ entry, folder, isForNode }) => {
    const bundle = await rollup({
      input: { main: entry },
      external: isForNode ? isOfNode : [],
      plugins: [
        nodeResolve(isForNode ? { exportConditions: ["node"], preferBuiltins: true } : { browser: true }),
      ],
      onwarn: (warning) => {
        if (warning.code !== "CIRCULAR_DEPENDENCY") throw new Error(warning.message);
      },
    });
    await bundle.write({ dir: folder, format: "es" });
    await bundle.close();
  },
  vite: ({ project, entry, folder, isForNode }) =>
    buildWithVite({
      root: project,
      configFile: false,
      logLevel: "warn",
      ...(isForNode && { ssr: { noExternal: true as const } }),
      build: {
        outDir: folder,
        emptyOutDir: false,
        ssr: isForNode,
        rollupOptions: { input: { main: entry }, output: { entryFileNames: "main.js" } },
      },
    }),
  webpack: async ({ project, entry, folder, isForNode }) => {
    const stats = await promisify(webpack)([
      {
        context: project,
        entry: { main: entry },
        mode: "production",
        target: isForNode ? "node20" : "webworker",
        experiments: { outputModule: true },
        output: { path: folder, filename: "main.js", module: true, chunkFormat: "module" },
      },
    ]);
    if (stats?.hasErrors() !== false) throw new Error(stats?.toString("errors-only"));
  },
};

/** A program that is bundled, and what running the bundle shows. */
const PROGRAMS = [
  { entry: "run.mjs", isForNode: true, status: 0, shows: /sessions.*\.jsonl/ },
  { entry: "worker.mjs", isForNode: false, status: 0, shows: /1 session in memory/ },
  { entry: "root-in-browser.mjs", isForNode: false, status: 1, shows: /import from sessiontree\/core/ },
] as const;

/** Names Node's modules that the files of a bundle import. */
function nodeImportsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".js"))
    .flatMap((file) => {
      const found = readFileSync(join(folder, file), "utf8").matchAll(
        /(?:from|import)\s*\(?["'](node:\w+)["']/g,
      );
      return Array.from(found, ([, name]) => `${file} imports ${name}`);
    });
}

/**
 * Bundles each program with each bundler and runs it.
 *
 * @param project - Folder of a project in which the package is installed.
 */
export async function checkBundles(project: string): Promise<void> {
  for (const [name, bundle] of Object.entries(BUNDLERS))
    for (const { entry, isForNode, status, shows } of PROGRAMS) {
      const folder = join(project, "bundles", `${name} ${entry}`.replace(/\W+/g, "-"));
      await bundle({ project, entry: join(project, entry), folder, isForNode });
      const foreign = isForNode ? [] : nodeImportsIn(folder);
      if (foreign.length > 0) throw new Error(`Bundled with ${name}: ${foreign.join(", ")}`);
      const env = { ...process.env, HOME: project, USERPROFILE: project };
      const options = { cwd: project, env, encoding: "utf8" } as const;
      const done = spawnSync(process.execPath, [join(folder, "main.js")], options);
      if (done.status !== status || !shows.test(done.stdout + done.stderr))
        throw new Error(
          `${entry}, bundled with ${name}, ends with ${done.status}: ${done.stdout}${done.stderr}`,
        );
      console.log(`${entry}, bundled with ${name}, runs as it should`);
    }
}
