import { defineConfig } from "vitest/config";

/** The tests that need a browser: `npm run test:browser`. */
export default defineConfig({
  test: {
    include: ["test-browser/**/*.test.ts"],
    globalSetup: ["test/support/build-page.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
  },
});
