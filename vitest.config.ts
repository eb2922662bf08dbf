import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * `vitest run` tests the sources; `vitest run --mode dist` (or SESSIONTREE_TEST_TARGET=dist) the same tests,
 * with what they import from "sessiontree" taken from the build, as Node itself loads it.
 */
export default defineConfig(({ mode }) => {
  const onDist = mode === "dist" || process.env["SESSIONTREE_TEST_TARGET"] === "dist";
  const target = onDist ? "dist" : "src";
  const file = (name: string) =>
    fileURLToPath(new URL(`./${target}/${name}.${onDist ? "js" : "ts"}`, import.meta.url));
  // What lists are cached in while the tests run, so that nothing lands in the user's own cache.
  const cache = fileURLToPath(new URL("./node_modules/.cache/sessiontree/xdg", import.meta.url));
  return {
    resolve: {
      alias: [
        { find: /^sessiontree$/, replacement: file("index") },
        { find: /^sessiontree\/core$/, replacement: file("core") },
        { find: /^sessiontree\/import$/, replacement: file("import") },
        { find: /^sessiontree\/postgres$/, replacement: file("postgres") },
        { find: /^sessiontree\/testing$/, replacement: file("testing") },
      ],
    },
    test: {
      include: ["test/**/*.test.ts"],
      globalSetup: ["test/support/build-page.ts"],
      env: { SESSIONTREE_TEST_TARGET: target, XDG_CACHE_HOME: cache },
      server: { deps: { external: [/\/dist\/[^/]+\.js$/] } },
      testTimeout: 120_000,
      hookTimeout: 120_000,
      maxWorkers: 2,
    },
  };
});
