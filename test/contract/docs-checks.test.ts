import { beforeAll, describe, expect, test } from "vitest";
import { createProgram, diagnose } from "./support/compiler.ts";
import { compilerPath, readDocPrograms, readExamplePrograms } from "./support/doc-programs.ts";
import { checkReferences, localLinks, missingPaths, namedDocuments } from "./support/links.ts";
import { readAnchors, readFences } from "./support/markdown.ts";
import { findVersions, wrongVersions } from "./support/named-versions.ts";
import { openWorkshop, type Workshop } from "./support/run-programs.ts";

/** Creates a document of fenced blocks, each given as `mark` and code. */
function document(...blocks: [mark: string, code: string][]): string {
  return ["# Title", ...blocks.map(([mark, code]) => `\`\`\`${mark}\n${code}\n\`\`\``)].join("\n\n");
}

describe("programs of a document", () => {
  test("are its ts blocks, each on its line of the document", () => {
    const text = document(["ts", "one();"], ["sh", "two"], ["ts no-run", "three();"], ["", "four"]);
    expect(readDocPrograms("a.md", text)).toEqual([
      { place: "a.md:4", file: "a.md", text: "\n\n\none();", runs: true },
      { place: "a.md:12", file: "a.md", text: `${"\n".repeat(11)}three();`, runs: false },
    ]);
  });

  test("may continue in later blocks, and run only if all their blocks do", () => {
    const text = document(["ts", "one();"], ["ts continues", "two();"], ["ts continues no-run", "three();"]);
    expect(readDocPrograms("a.md", text)).toEqual([
      { place: "a.md:4", file: "a.md", text: "\n\n\none();\n\n\n\ntwo();\n\n\n\nthree();", runs: false },
    ]);
  });

  test("may be files that import each other", () => {
    const text = document(
      ["ts file=a.ts", "export const a = 1;"],
      ["ts file=b.ts", 'import { a } from "./a.ts";\nexport const b: string = a;'],
    );
    const programs = readDocPrograms("a.md", text);
    expect(programs.map(({ name, runs }) => [name, runs])).toEqual([
      ["a.ts", false],
      ["b.ts", false],
    ]);
    const compiled = createProgram([], new Map(programs.map((one) => [compilerPath(one), one.text])));
    const faults = programs.map((one) => diagnose(compiled, compilerPath(one)).map(({ line }) => line));
    expect(faults).toEqual([[], [9]]);
  });

  test("are checked with any mark", () => {
    expect(() => readDocPrograms("a.md", document(["js", "one();"]))).toThrow("a.md:4 is marked js");
    expect(() => readDocPrograms("a.md", document(["TypeScript", "one();"]))).toThrow("write ts");
    expect(() => readDocPrograms("a.md", document(["ts norun", "one();"]))).toThrow("unknown mark norun");
    expect(() => readDocPrograms("a.md", document(["ts continues", "one();"]))).toThrow("continues nothing");
    expect(() => readDocPrograms("a.md", "```ts\none();")).toThrow("never closed");
  });

  test("lose the indentation of their list, and keep fences of other lengths", () => {
    const text =
      "1. First:\n\n   ```ts\n   if (a) {\n     b();\n   }\n   ```\n\n````md\n```ts\nno();\n```\n````\n";
    expect(readFences(text).map(({ language, code }) => [language, code])).toEqual([
      ["ts", "if (a) {\n  b();\n}"],
      ["md", "```ts\nno();\n```"],
    ]);
  });

  test("are compiled strictly, and an error has the document's line", () => {
    const [program] = readDocPrograms(
      "a.md",
      document(["ts", "const n: number[] = [];\nconst s: string = n[0];"]),
    );
    if (program === undefined) throw new Error("no program");
    const compiled = createProgram([], new Map([[compilerPath(program), program.text]]));
    const [fault, ...others] = diagnose(compiled, compilerPath(program));
    expect(others).toEqual([]);
    expect(fault?.line).toBe(5);
    expect(fault?.message).toContain("'number | undefined' is not assignable to type 'string'");
  });
});

describe("examples of docstrings", () => {
  test("keep their lines, with or without a fence, and have the public names that they use imported", () => {
    const text =
      "/**\n * Adds.\n *\n * @example\n * ```ts\n * add(1);\n *   more();\n * ```\n */\nexport const add = 1;\n" +
      '/**\n * Takes.\n * @example\n * import { x } from "sessiontree";\n * x();\n */\nexport const take = 1;';
    expect(readExamplePrograms("a.ts", text, ["add", "take"])).toEqual([
      {
        place: "a.ts:6",
        file: "a.ts",
        text: `import { add } from "sessiontree";${"\n".repeat(5)}add(1);\n  more();`,
        runs: false,
      },
      {
        place: "a.ts:13",
        file: "a.ts",
        text: `${"\n".repeat(12)}\nimport { x } from "sessiontree";\nx();\n`,
        runs: false,
      },
    ]);
  });
});

describe("references", () => {
  const files: Record<string, string> = {
    "README.md": "# One\n",
    "docs/guide.md": "# Two\n\n## With `code`, too\n",
  };
  const read = (path: string) => files[path];

  test("are found in links, images, definitions, and tags, but not in code", () => {
    const text =
      '[a](guide.md#x "title") ![b](../c.png)\n[d]: ./e.md\n<img src="f.png">\n`[g](h.md)`\n[i](https://j.k/l)\n[m](#n)';
    expect(localLinks("docs/a.md", text).map(({ line, to }) => `${line} ${to}`)).toEqual([
      "1 docs/guide.md#x",
      "1 c.png",
      "2 docs/e.md",
      "3 docs/f.png",
      "6 docs/a.md#n",
    ]);
    expect(namedDocuments("src/a.ts", "// one\n/** @remarks Source: docs/guide.md#two */")).toEqual([
      { from: "src/a.ts", line: 2, to: "docs/guide.md#two" },
    ]);
  });

  test("that are dead are reported", () => {
    const at = (to: string) => ({ from: "README.md", line: 3, to });
    expect(checkReferences([at("docs/guide.md"), at("docs/guide.md#with-code-too")], read)).toEqual([]);
    expect(checkReferences([at("docs/gone.md"), at("docs/guide.md#three")], read)).toEqual([
      "README.md:3 points to docs/gone.md, which is not there",
      "README.md:3 points to docs/guide.md, which has no heading #three",
    ]);
  });

  test("resolve headings of the same name, and none inside of code", () => {
    const text = "# A b\n\n## A b\n\n```\n# Not one\n```\n\n### What's `x_y`?\n";
    expect([...readAnchors(text)]).toEqual(["a-b", "a-b-1", "whats-x_y"]);
  });
});

describe("a program that runs", () => {
  let workshop: Workshop;
  beforeAll(async () => {
    workshop = await openWorkshop();
    return () => workshop.remove();
  });
  const run = (text: string) => workshop.run({ place: "a.md:1", file: "a.md", text, runs: true });

  test("has the package, and a separate folder as working directory, home, and temporary folder", async () => {
    const text =
      'import * as whole from "sessiontree";\nimport * as core from "sessiontree/core";\n' +
      'import { homedir, tmpdir } from "node:os";\nimport { realpathSync } from "node:fs";\n' +
      "const folders = new Set([process.cwd(), realpathSync(homedir()), realpathSync(tmpdir())]);\n" +
      "const isError: boolean = whole.isSessionError === core.isSessionError;\n" +
      "if (folders.size !== 1 || !isError) throw new Error([...folders, isError].join());";
    expect(await run(text)).toBeUndefined();
  });

  test("and fails is reported with the document's line", async () => {
    expect(await run('\n\nconst wanted: number = 1;\nthrow new Error("broken");')).toMatch(
      /broken[\s\S]*a\.md:4/,
    );
    expect(await run('await Promise.reject(new Error("late"));')).toContain("late");
    expect(await run("process.exitCode = 3;")).toContain("failed");
  });
});

test("finds files that a document names but that do not exist", () => {
  const files = new Set(["src", "src/session/log", "src/session/log/file-log.ts", "test", "test/a.test.ts"]);
  const exists = (path: string) => files.has(path.replace(/\/$/, ""));
  const isRoom = (folder: string) => exists(folder) || (folder.includes("/") && exists(`src/${folder}`));
  const text =
    "`session/log/file-log`, `src/session/log/file-log.ts`, `session/log/`, `test/a.test.ts`, `other/x`, `session/new` and `text/html`\n`session/log/gone`, `test/b.test.ts`";
  expect(missingPaths("a.md", text, isRoom, exists)).toEqual([
    "a.md:2 names session/log/gone, which is not there",
    "a.md:2 names test/b.test.ts, which is not there",
  ]);
});

test("finds versions that a document names but that are not those of the tests", () => {
  const installed = findVersions({ ai: "7.0.1", ai6: "npm:ai@6.0.2", "@a/b": "1.2.3", loose: "^1.0.0" });
  const text = "`ai` 7.0.1 (Node 22) or 6.0.2, @a/b\n1.2.3, loose 9.9.9 and ai 6.0.2 and 5.0.3; @a/b 1.2.4";
  expect(wrongVersions("a.md", text, installed)).toEqual(["a.md names ai 5.0.3", "a.md names @a/b 1.2.4"]);
});
