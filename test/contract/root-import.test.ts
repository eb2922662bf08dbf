import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ROOT, TARGET } from "./support/repository.ts";

/** Bundles the root as the package does, and returns what a process loads that imports only the root. */
async function loadedByRoot(): Promise<{ ours: string[]; packages: string[]; builtins: string[] }> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ["src/index.ts"],
    bundle: true,
    logLevel: "error",
    splitting: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    outdir: "dist",
    packages: "external",
    treeShaking: true,
  });
  const outputs = new Map(Object.entries(metafile.outputs));
  const loaded = new Set<string>();
  const imported = new Set<string>();
  for (const open = ["dist/index.js"]; open.length > 0; ) {
    const path = open.pop() ?? "";
    if (loaded.has(path)) continue;
    loaded.add(path);
    for (const one of outputs.get(path)?.imports ?? []) {
      if (one.kind === "dynamic-import") continue;
      if (one.external) imported.add(one.path);
      else open.push(one.path);
    }
  }
  const isBuiltin = (name: string) => name.startsWith("node:") || builtinModules.includes(name);
  return {
    ours: [...loaded].flatMap((path) => Object.keys(outputs.get(path)?.inputs ?? {})).sort(),
    packages: [...imported].filter((name) => !isBuiltin(name)).sort(),
    builtins: [...imported].filter(isBuiltin).sort(),
  };
}

test("importing the root loads little more than opening and appending need", async () => {
  const { ours, packages, builtins } = await loadedByRoot();
  // Both are bundled into the package. Zod, write-file-atomic, and trash are loaded on demand.
  expect(packages).toEqual(["nanoid", "uuid"]);
  expect(builtins).toEqual([
    "node:buffer",
    "node:fs",
    "node:module",
    "node:os",
    "node:path",
    "node:timers",
    "node:url",
  ]);
  const rooms = new Set(ours.map((path) => path.split("/")[1]));
  for (const room of ["stores", "controller", "convert", "merge", "history", "cli"])
    expect(rooms).not.toContain(room);
  expect(ours).not.toContain("src/catalog/list/list-sessions.ts");
  expect(ours).not.toContain("src/catalog/search/search.ts");
  // Before raising this, check the cost: docs/performance.md#a-fresh-process.
  expect(ours.length).toBeLessThanOrEqual(168);
});

test.skipIf(TARGET !== "dist")(
  "the built root loads neither Node's streams nor its cryptography (skipped unless on the build)",
  () => {
    const program = join(temporaryFolder(), "import.mjs");
    const index = JSON.stringify(join(ROOT, "dist/index.js"));
    writeFileSync(
      program,
      `const bare = [...process.moduleLoadList];
      await import(${index});
      const all = process.moduleLoadList;
      process.getBuiltinModule("node:fs").writeSync(1, JSON.stringify({ bare, all }));`,
    );
    const { bare, all } = JSON.parse(execFileSync(process.execPath, [program], { encoding: "utf8" }));
    const loaded = all.filter((name: string) => !bare.includes(name));
    expect(loaded).toContain("NativeModule os");
    expect(loaded).not.toContain("NativeModule crypto");
    expect(loaded).not.toContain("NativeModule stream");
  },
);
