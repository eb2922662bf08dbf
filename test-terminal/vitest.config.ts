import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Tests that drive the program in a real terminal, which tmux makes; `npm test` does without them. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("..", import.meta.url)),
    globalSetup: fileURLToPath(new URL("./support/require-tmux.ts", import.meta.url)),
    include: ["test-terminal/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
