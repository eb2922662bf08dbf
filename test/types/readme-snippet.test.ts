import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readFences } from "../contract/support/markdown.ts";
import { ROOT, readText, TARGET } from "../contract/support/repository.ts";

/** TypeScript releases that users have, by the name under which each is installed here. */
const COMPILERS = { typescript59: "5.9.3", typescript6: "6.0.3", typescript7: "7.0.2" };

/** Reason why the compilers are unavailable here; undefined if they are available. */
const WHY_NOT = process.env["SESSIONTREE_WITH_REGISTRY"]
  ? undefined
  : "needs a registry for three releases of TypeScript: set SESSIONTREE_WITH_REGISTRY=1";

/** The README's first program that needs no other package. */
const [snippet] = readFences(readText("README.md")).filter(
  ({ language, flags }) => language === "ts" && flags.length === 0,
);

const project = mkdtempSync(join(tmpdir(), "sessiontree-consumer-"));
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Installs the package's declarations in the project. */
function installPackage(): void {
  const home = join(project, "node_modules/sessiontree");
  mkdirSync(home, { recursive: true });
  cpSync(join(ROOT, "package.json"), join(home, "package.json"));
  // Our declarations depend on it.
  symlinkSync(join(ROOT, "node_modules/zod"), join(project, "node_modules/zod"), "junction");
  if (TARGET === "dist") {
    cpSync(join(ROOT, "dist"), join(home, "dist"), { recursive: true });
    return;
  }
  const tsup = join(ROOT, "node_modules/tsup/dist/cli-default.js");
  const options = [
    "--no-config",
    "--dts-only",
    "--silent",
    "--format",
    "esm",
    "--out-dir",
    join(home, "dist"),
  ];
  execFileSync(process.execPath, [tsup, "src/index.ts", "src/convert.ts", ...options], {
    cwd: ROOT,
    stdio: "pipe",
  });
}

/** Installs the compilers and Node's types, as a user of the package has them. */
function installCompilers(): void {
  const aliases = Object.entries(COMPILERS).map(([name, version]) => `${name}@npm:typescript@${version}`);
  const options = ["--no-save", "--ignore-scripts", "--no-fund", "--no-audit", "--silent"];
  execFileSync("npm", ["install", "@types/node@20", ...aliases, ...options], { cwd: project, stdio: "pipe" });
}

/** Compiles the snippet as a user's first file; returns the compiler's output. */
function compile(compiler: string, more: object): string {
  const compilerOptions = { module: "nodenext", target: "es2022", strict: true, noEmit: true, ...more };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["snippet.ts"] }));
  const tsc = join(project, "node_modules", compiler, "bin/tsc");
  try {
    return execFileSync(process.execPath, [tsc, "--project", "."], { cwd: project, encoding: "utf8" });
  } catch (error) {
    if (error instanceof Error && "stdout" in error && error.stdout !== "") return String(error.stdout);
    throw error;
  }
}

test("the README's first program without another package is valid JavaScript, too", () => {
  const file = join(project, "first.mjs");
  writeFileSync(file, snippet?.code ?? "no snippet");
  expect(execFileSync(process.execPath, ["--check", file], { encoding: "utf8" })).toBe("");
  expect(readText("README.md")).toContain("Save it as `first.mjs`");
});

describe.skipIf(WHY_NOT !== undefined)(
  `the first program of README.md without another package${WHY_NOT ? ` (${WHY_NOT})` : ""}`,
  () => {
    beforeAll(() => {
      writeFileSync(join(project, "package.json"), JSON.stringify({ name: "consumer", type: "module" }));
      installCompilers();
      installPackage();
      if (snippet === undefined) throw new Error("README.md has no snippet.");
      writeFileSync(join(project, "snippet.ts"), snippet.code);
    }, 300_000);

    test.each(Object.keys(COMPILERS))("compiles with %s and the types of Node", (compiler) => {
      expect(compile(compiler, { types: ["node"] })).toBe("");
    });

    test("compiles with TypeScript 5.9 without naming the types, and fails with 6 and 7, as documented", () => {
      expect(compile("typescript59", {})).toBe("");
      for (const compiler of ["typescript6", "typescript7"]) {
        expect(compile(compiler, {})).toContain("Cannot find name 'process'");
      }
      expect(readText("README.md")).toMatch(/TypeScript 6 and 7 also need\s+`"types": \["node"\]`/);
    });
  },
);
