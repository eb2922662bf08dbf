import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** With SESSIONTREE_TEST_TARGET=dist the tests of the public API run on what is shipped. */
const target = process.env["SESSIONTREE_TEST_TARGET"] === "dist" ? "dist" : "src";
const extension = target === "dist" ? "js" : "ts";
const file = (name: string) => fileURLToPath(new URL(`./${target}/${name}.${extension}`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^sessiontree$/, replacement: file("index") },
      { find: /^sessiontree\/core$/, replacement: file("core") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
