import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { ROOT } from "../../contract/support/repository.ts";

/** Returns the modules that a program loads before its first line runs: our files, and packages. */
async function loadedAtStart(file: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [join(ROOT, file)],
    absWorkingDir: ROOT,
    outdir: "nowhere",
    bundle: true,
    logLevel: "error",
    splitting: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    packages: "external",
  });
  const loaded = new Set<string>();
  const open = Object.keys(metafile.outputs).filter((path) => metafile.outputs[path]?.entryPoint === file);
  const seen = new Set(open);
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const { inputs = {}, imports = [] } = metafile.outputs[path] ?? {};
    for (const input of Object.keys(inputs)) loaded.add(input);
    for (const { path: target, kind, external } of imports) {
      if (kind !== "import-statement") continue;
      if (external) loaded.add(target);
      else if (!seen.has(target)) open.push(target);
      seen.add(target);
    }
  }
  return [...loaded].sort();
}

test("starting the command line loads no command, and nothing that only some commands need", async () => {
  const loaded = await loadedAtStart("src/apps/cli/main.ts");
  expect(loaded).toContain("src/apps/cli/parser.ts");
  expect(loaded).toContain("commander");
  const isForSome =
    /^src\/(?:apps\/cli\/commands\/|session\/manager|catalog|core\/compaction|core\/context\/session|stores|session\/log\/file-log)|^(?:string-width|zod|pg)$/;
  expect(loaded.filter((path) => isForSome.test(path))).toEqual([]);
});

test("a TAB loads neither the argument parser nor a command before it needs one", async () => {
  const loaded = await loadedAtStart("src/apps/cli/completion/answer-shell.ts");
  expect(loaded).toContain("src/apps/cli/completion/candidates.ts");
  const isForOthers =
    /^src\/(?:apps\/cli\/(?:commands\/|parser|run|output)|session\/manager|catalog|core\/context\/session|stores|session\/log\/file-log)|^(?:string-width|commander|picocolors|zod|pg)$/;
  expect(loaded.filter((path) => isForOthers.test(path))).toEqual([]);
});

test("a hook reads its event before it loads the code that reads sessions", async () => {
  const loaded = await loadedAtStart("src/apps/cli/commands/recall.ts");
  expect(loaded).toContain("src/apps/cli/hook-input.ts");
  const isForAnswers =
    /^src\/(?:apps\/(?:recall|mcp)\/|session\/manager|catalog|core\/context\/session|stores|session\/log\/file-log)|^(?:zod|pg)$/;
  expect(loaded.filter((path) => isForAnswers.test(path))).toEqual([]);
});

test("Node's compile cache is enabled before anything else is loaded", async () => {
  const ours = (await loadedAtStart("src/apps/cli/bin.ts")).filter((path) => !path.startsWith("node:"));
  expect(ours).toEqual(["src/apps/cli/bin.ts", "src/session/files/user-folders.ts"]);
});
