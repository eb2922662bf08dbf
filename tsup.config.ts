import { defineConfig } from "tsup";
import { buildPage } from "./scripts/build-page.ts";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    core: "src/core.ts",
    convert: "src/convert.ts",
    postgres: "src/postgres.ts",
    testing: "src/testing.ts",
    adapters: "src/adapters.ts",
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
      convert: "src/convert.ts",
      postgres: "src/postgres.ts",
      testing: "src/testing.ts",
      adapters: "src/adapters.ts",
    },
  },
  splitting: true,
  sourcemap: true,
  clean: true,
  onSuccess: () => buildPage("dist/page"),
});
