/** Bundles one program: `node bundle.mjs BUNDLER PROJECT ENTRY FOLDER node|browser` writes FOLDER/main.js. */
import { join } from "node:path";
import { promisify } from "node:util";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { build as buildWithEsbuild } from "esbuild";
import { rollup } from "rollup";
import { build as buildWithVite } from "vite";
import webpack from "webpack";

const isOfNode = (id) => id.startsWith("node:");

/** Bundlers, each as its documentation describes, without settings for this package. */
const BUNDLERS = {
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
  "esbuild-neutral": ({ entry, folder, isForNode }) =>
    buildWithEsbuild({
      entryPoints: { main: entry },
      outdir: folder,
      bundle: true,
      format: "esm",
      platform: "neutral",
      external: isForNode ? ["node:*"] : [],
      // Neither `node` nor `browser` by default.
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
      ...(isForNode && { ssr: { noExternal: true } }),
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
    if (stats.hasErrors() !== false) throw new Error(stats.toString("errors-only"));
  },
};

const [name, project, program, folder, platform] = process.argv.slice(2);
await BUNDLERS[name]({ project, entry: join(project, program), folder, isForNode: platform === "node" });
