import { describe, expect, test } from "vitest";
import { checkLock, findMachineTraces, member, parseFacts } from "./support/package-facts.ts";
import { listFiles, ROOT, readText } from "./support/repository.ts";

const facts = parseFacts(readText("package.json"));

test("package.json describes the package", () => {
  expect(facts).toMatchObject({
    name: "sessiontree",
    license: "MIT",
    type: "module",
    sideEffects: false,
    engines: { node: ">=20.17" },
    bin: { sessiontree: "./dist/bin.js" },
  });
});

test("every file directly in src can be imported, and nothing else", () => {
  const names = listFiles("src").flatMap((path) => /^src\/(?!errors|ids)([^/]+)\.ts$/.exec(path)?.[1] ?? []);
  const wanted = names.map((name) => [
    name === "index" ? "." : `./${name}`,
    { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
  ]);
  expect(member(facts, "exports")).toEqual({
    ...Object.fromEntries(wanted),
    // Node takes precedence where both apply, as in Electron.
    ".": {
      types: "./dist/index.d.ts",
      node: "./dist/index.js",
      browser: "./dist/browser.js",
      default: "./dist/index.js",
    },
    "./package.json": "./package.json",
  });
});

test("package.json names no repository, author, or address for bugs, because none is known", () => {
  for (const name of ["author", "bugs", "homepage", "repository"]) expect(facts).not.toHaveProperty(name);
});

test("types come first in every export: TypeScript uses the first matching condition", () => {
  for (const conditions of Object.values(member(facts, "exports"))) {
    if (typeof conditions === "object" && conditions !== null)
      expect(Object.keys(conditions)[0]).toBe("types");
  }
});

test("npm start, npm test, and installed packages need no build or installation script", () => {
  const scripts = member(facts, "scripts");
  expect(scripts["start"]).toBe("tsx docs/examples/main-job.ts");
  expect(scripts["test"]).toBe("vitest run --project library --project alone");
  for (const name of ["preinstall", "install", "postinstall", "prepare", "pretest", "prestart"]) {
    expect(scripts).not.toHaveProperty(name);
  }
});

test("the license is the one that package.json names", () => {
  expect(readText("LICENSE")).toMatch(/^MIT License/);
});

test("the command starts with a shebang line", () => {
  expect(readText("src/apps/cli/bin.ts").split("\n")[0]).toBe("#!/usr/bin/env node");
});

test("package-lock.json installs on every platform, from any registry", () => {
  expect(checkLock(readText("package-lock.json"))).toEqual([]);
});

test("the types of Node are those of the oldest Node that runs the package", () => {
  const lock = member(parseFacts(readText("package-lock.json")), "packages");
  expect(member(lock, "node_modules/@types/node")["version"]).toMatch(/^20\./);
});

test("no file contains traces of the machine on which it was written", () => {
  const ownAddress = ROOT.replace(/[\\/]$/, "");
  const faults = listFiles("")
    .filter((path) => !path.startsWith("test/contract/"))
    .flatMap((path) => findMachineTraces(path, readText(path), [ownAddress]));
  expect(faults).toEqual([]);
});

describe("the checks find", () => {
  test("addresses and gaps in a lock file", () => {
    const lock = (record: object) => JSON.stringify({ packages: { "node_modules/a": record } });
    expect(checkLock(lock({ version: "1.0.0" }))).toEqual([]);
    expect(checkLock(lock({ resolved: "https://example.com/a.tgz" }))).toEqual([
      "node_modules/a has a resolved address",
    ]);
    expect(checkLock(lock({ optionalDependencies: { "a-linux": "1" } }))).toEqual([
      "node_modules/a needs a-linux, which has no record",
    ]);
  });

  test("paths and addresses of a machine", () => {
    const text = 'first\nopen("/srv/checkout/a.jsonl");\nhttps://registry.example.org/x\n//h/:_authToken=1';
    expect(findMachineTraces("a.md", text, ["/srv/checkout"])).toEqual([
      "a.md:2 names /srv/checkout",
      "a.md:3 names registry.example.org",
      "a.md:4 names _authToken",
    ]);
    expect(findMachineTraces("a.md", "/home/alice/project, the registry. Then", ["/srv/checkout"])).toEqual(
      [],
    );
  });
});
