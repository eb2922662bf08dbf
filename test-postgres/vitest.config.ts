import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Tests against a real server, which each file starts for itself: `npm run test:postgres`. */
export default defineConfig({
  root,
  resolve: {
    alias: [
      { find: /^sessiontree$/, replacement: `${root}src/index.ts` },
      { find: /^sessiontree\/postgres$/, replacement: `${root}src/postgres.ts` },
    ],
  },
  test: {
    include: ["test-postgres/**/*.test.ts"],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // Each file has a server of its own, and some start many processes beside it.
    maxWorkers: 1,
  },
});
