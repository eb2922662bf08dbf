import { defineConfig } from "tsup";
import facts from "./package.json" with { type: "json" };
import { buildPage } from "./test/tools/build-page.ts";

/** What can be imported: each file that lies directly in src is one subpath of the package. */
const subpaths = Object.fromEntries(
  Object.keys(facts.exports)
    .filter((subpath) => !subpath.endsWith(".json"))
    .map((subpath) => (subpath === "." ? "index" : subpath.slice("./".length)))
    .map((name) => [name, `src/${name}.ts`]),
);

export default defineConfig({
  entry: { ...subpaths, bin: "src/cli/bin.ts" },
  format: ["esm"],
  target: "node20",
  // Neutral: nothing is added for Node, so that the shared pieces that core reaches stay free of it.
  platform: "neutral",
  external: [/^node:/],
  // Small, and needed by every session or command: as packages they would take longer to load than all of ours.
  noExternal: ["nanoid", "uuid", "string-width", "strip-ansi", "ansi-regex", "get-east-asian-width"],
  esbuildOptions(options) {
    // Their variants without node:crypto, which Node runs as well.
    options.conditions = ["browser"];
    // Node 20 has both, and compiles a literal when it is first used; esbuild would have it made at once, for 30 ms.
    options.supported = { "regexp-set-notation": true, "regexp-unicode-property-escapes": true };
  },
  dts: { entry: subpaths },
  splitting: true,
  sourcemap: true,
  clean: true,
  onSuccess: () => buildPage("dist/page"),
});
