import { defineConfig } from "tsup";
import { buildPage } from "./scripts/build-page.ts";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    core: "src/core.ts",
    import: "src/import.ts",
    postgres: "src/postgres.ts",
    testing: "src/testing.ts",
    bin: "src/cli/bin.ts",
  },
  format: ["esm"],
  target: "node20",
  // Neutral: nothing is added for Node, so that the shared pieces that core reaches stay free of it.
  platform: "neutral",
  external: [/^node:/],
  dts: {
    entry: {
      index: "src/index.ts",
      core: "src/core.ts",
      import: "src/import.ts",
      postgres: "src/postgres.ts",
      testing: "src/testing.ts",
    },
  },
  splitting: true,
  sourcemap: true,
  clean: true,
  onSuccess: () => buildPage("dist/page"),
});
