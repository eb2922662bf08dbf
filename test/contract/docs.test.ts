import { existsSync } from "node:fs";
import { join } from "node:path";
import type ts from "typescript";
import { beforeAll, describe, expect, test } from "vitest";
import { takeSample } from "../support/share.ts";
import { createProgram, DEFAULT_OPTIONS, diagnose } from "./support/compiler.ts";
import {
  compilerPath,
  type DocProgram,
  readDocPrograms,
  readExamplePrograms,
} from "./support/doc-programs.ts";
import { checkReferences, localLinks, missingPaths, namedDocuments } from "./support/links.ts";
import { findVersions, wrongVersions } from "./support/named-versions.ts";
import { member, parseFacts } from "./support/package-facts.ts";
import { PUBLIC_NAMES_PATH } from "./support/public-names.ts";
import { listDocuments, ROOT, readSources, readText } from "./support/repository.ts";
import { openWorkshop, type Workshop } from "./support/run-programs.ts";

/** Lists the compiler's errors in programs, at the lines of their files. */
function compileAll(programs: readonly DocProgram[], options?: ts.CompilerOptions): string[] {
  const invented = new Map(programs.map((program) => [compilerPath(program), program.text]));
  const compiled = createProgram([], invented, {}, options);
  return programs.flatMap((program) =>
    diagnose(compiled, compilerPath(program)).map(
      ({ line, message }) => `${program.file}:${line} ${message}`,
    ),
  );
}

const documents = listDocuments();
const programs = documents.flatMap((path) => readDocPrograms(path, readText(path)));
const runnable = programs.filter((program) => program.runs);
const names = Object.keys(member(parseFacts(readText(PUBLIC_NAMES_PATH)), "sessiontree"));
const examples = [...readSources("src")].flatMap(([path, text]) => readExamplePrograms(path, text, names));
const compilable = [...programs.filter((one) => one.isUnpacked !== true), ...examples];
const exampleFiles = [...readSources("docs/examples").keys()];

describe("the documents", () => {
  test("have code that runs in README.md and docs/guide.md", () => {
    const files = runnable.map((program) => program.file);
    expect(files).toEqual(expect.arrayContaining(["README.md", "docs/guide.md"]));
  });

  test("have code that compiles, and so have the docstrings", () => {
    // In one program, because each takes the compiler seconds.
    expect(compileAll(compilable)).toEqual([]);
  });

  test("have code that compiles in a project that sets only `strict`, and so have the examples", () => {
    const files = exampleFiles.map((file) => ({ place: file, file, text: readText(file), runs: false }));
    expect(compileAll([...compilable, ...files], DEFAULT_OPTIONS)).toEqual([]);
  });

  test("have no dead links", () => {
    const read = (path: string) => {
      if (!existsSync(join(ROOT, path))) return undefined;
      return path.endsWith(".md") ? readText(path) : "";
    };
    const links = documents.flatMap((path) => localLinks(path, readText(path)));
    const named = [...readSources("src")].flatMap(([path, text]) => namedDocuments(path, text));
    expect(checkReferences([...links, ...named], read)).toEqual([]);
  });

  test("name only existing files", () => {
    const exists = (path: string) => existsSync(join(ROOT, path));
    const isRoom = (folder: string) => exists(folder) || (folder.includes("/") && exists(`src/${folder}`));
    const faults = documents.flatMap((path) => missingPaths(path, readText(path), isRoom, exists));
    expect(faults).toEqual([]);
  });

  test("name the versions of packages that the tests use", () => {
    const installed = findVersions(member(parseFacts(readText("package.json")), "devDependencies"));
    const pages = documents.filter((path) => path !== "CHANGELOG.md");
    const faults = pages.flatMap((path) => wrongVersions(path, readText(path), installed));
    expect(faults).toEqual([]);
  });

  test("have commands that run existing files of the package", () => {
    const named = documents.flatMap((path) =>
      [...readText(path).matchAll(/node_modules\/sessiontree\/([\w./-]+\.ts)/g)].map(([, file = ""]) => file),
    );
    expect(named).toContain("docs/examples/agent-runtime.ts");
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  test("link only to files in the package, if they are in it themselves", () => {
    const packed = ["dist", "docs", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];
    const always = ["README.md", "LICENSE"];
    const isPacked = (path: string) => [...packed, ...always].includes(path.split("/")[0] ?? "");
    const faults = documents
      .filter(isPacked)
      .flatMap((path) => localLinks(path, readText(path)))
      .filter((link) => !isPacked(link.to))
      .map(({ from, line, to }) => `${from}:${line} links to ${to}`);
    expect(faults).toEqual([]);
    expect(parseFacts(readText("package.json"))["files"]).toEqual(packed);
  });
});

describe("code of the documents runs", () => {
  let workshop: Workshop;
  beforeAll(async () => {
    workshop = await openWorkshop();
    return () => workshop.remove();
  });

  test.concurrent.for(takeSample(runnable).map((program) => [program.place, program] as const))(
    "%s",
    async ([, program]) => {
      // A user who tries a recipe runs it more than once.
      const times = program.file === "docs/recipes.md" ? 2 : 1;
      expect(await workshop.run(program, times)).toBeUndefined();
    },
  );
});
