import { posix } from "node:path";
import { expect, test } from "vitest";
import { checkArchitecture, PACKAGE_HOMES, WINGS } from "./support/architecture.ts";
import {
  comparePackages,
  compareWhereTable,
  compareWings,
  readWingDiagram,
} from "./support/house-document.ts";
import { member, parseFacts } from "./support/package-facts.ts";
import { readSources, readText } from "./support/repository.ts";
import { parse, readImports } from "./support/syntax.ts";

test("the sources follow the rules of the architecture", () => {
  expect(checkArchitecture(readSources("src"))).toEqual([]);
});

test("docs/architecture.md shows the same wings and floors", () => {
  expect(compareWings(readWingDiagram(readText("docs/architecture.md")))).toEqual([]);
});

test("among the entry points, only the schema imports zod, in values or types", () => {
  const sources = readSources("src");
  const reaches = (start: string) => {
    const reached = new Set([start]);
    for (const path of reached) {
      for (const { specifier } of readImports(parse(path, sources.get(path) ?? ""))) {
        if (specifier?.startsWith(".")) reached.add(posix.join(posix.dirname(path), specifier));
        else if (specifier === "zod") return true;
      }
    }
    return false;
  };
  const subpaths = [...sources.keys()].filter((path) => /^src\/[^/]+\.ts$/.test(path));
  expect(subpaths.filter(reaches)).toEqual(["src/schema.ts"]);
});

test("the places that docs/architecture.md names exist", () => {
  const sources = readSources("src");
  const faults = compareWhereTable(readText("docs/architecture.md"), (path) => sources.get(`src/${path}`));
  expect(faults).toEqual([]);
});

test("every package has one home and a row in docs/architecture.md", () => {
  const facts = parseFacts(readText("package.json"));
  // Packages of a host and bundled packages need a home if they are imported.
  const imported = ["peerDependencies", "devDependencies"]
    .flatMap((list) => Object.keys(member(facts, list)))
    .filter((name) => name in PACKAGE_HOMES);
  const packages = new Set([...Object.keys(member(facts, "dependencies")), ...imported]);
  expect(comparePackages([...packages], readText("docs/architecture.md"))).toEqual([]);
});

/** Checks files given as path → text, together with a file of each floor that they may import. */
function check(files: Record<string, string>): string[] {
  const ground = {
    "src/core/format/errors.ts": "export const a = 1;\n",
    "src/core/format/entry.ts": "export interface Entry {}\n",
    "src/core/tree/path.ts": "export const path = 1;\n",
    "src/core/context/path.ts": "export const path = 1;\n",
    "src/session/log/log.ts": "export const log = 1;\n",
  };
  return checkArchitecture(new Map(Object.entries({ ...ground, ...files })));
}

const breaches: [rule: string, path: string, text: string, fault: RegExp][] = [
  [
    "up a floor",
    "src/core/format/a.ts",
    'import { p } from "../tree/path.ts";\nuse(p);',
    /:1 .*up from core 0/,
  ],
  [
    "up, by type",
    "src/core/format/a.ts",
    'export type P = import("../tree/path.ts").P;',
    /up from core 0 to core 1/,
  ],
  [
    "up, when run",
    "src/core/format/a.ts",
    'export const p = () => import("../tree/path.ts");',
    /up from core 0/,
  ],
  [
    "across",
    "src/core/jsonl/a.ts",
    'import { p } from "../context/path.ts";\nuse(p);',
    /same floor, another folder/,
  ],
  [
    "up a wing",
    "src/core/tree/a.ts",
    'import type { L } from "../../session/log/log.ts";\nuse<L>();',
    /up from core 1 to session 1/,
  ],
  [
    "re-export up",
    "src/core/format/a.ts",
    'export { p } from "../tree/path.ts";\nexport const a = 1;',
    /up from/,
  ],
  [
    "no extension",
    "src/core/jsonl/a.ts",
    'import type { E } from "../schema/entry";\nuse<E>();',
    /no file of src/,
  ],
  [
    "data of elsewhere",
    "src/core/jsonl/a.ts",
    'import t from "../../apps/cli/t.json";\nuse(t);',
    /no file of src/,
  ],
  ["out of src", "src/core/jsonl/a.ts", 'import { t } from "../../../test/t.ts";\nuse(t);', /no file of src/],
  ["computed", "src/apps/cli/run.ts", "export const load = (name: string) => import(name);", /computed/],
  [
    "no home",
    "src/core/tree/a.ts",
    'import _ from "lodash/fp";\nuse(_);',
    /imports lodash, which has no home/,
  ],
  [
    "itself",
    "src/apps/cli/run.ts",
    'import { x } from "sessiontree";\nuse(x);',
    /imports sessiontree, which has no/,
  ],
  [
    "not at home",
    "src/session/log/a.ts",
    'import { z } from "zod";\nuse(z);',
    /zod, whose home is src\/core\/format/,
  ],
  [
    "Node below",
    "src/core/context/a.ts",
    'import { join } from "node:path";\nuse(join);',
    /runs in a browser/,
  ],
  ["Node in compaction", "src/core/compaction/a.ts", 'import "node:fs";\nuse();', /runs in a browser/],
  [
    "Node unmarked",
    "src/session/log/a.ts",
    'import fs from "fs/promises";\nuse(fs);',
    /write "node:fs\/promises"/,
  ],
  ["barrel", "src/core/tree/all.ts", 'export * from "./path.ts";', /only re-exports/],
  [
    "barrel, two steps",
    "src/core/tree/all.ts",
    'import { p } from "./path.ts";\nexport { p };',
    /only re-exports/,
  ],
  ["named otherwise", "src/core/tree/entryTree.ts", "use();", /kebab-case/],
  ["on no floor", "src/misc/a.ts", "use();", /is on no floor/],
  [
    "core with files",
    "src/core.ts",
    'export { log } from "./session/log/log.ts";',
    /exports from src\/core alone/,
  ],
  [
    "public star",
    "src/index.ts",
    'export * from "./core/tree/path.ts";',
    /more than an explicit named re-export/,
  ],
  ["public code", "src/index.ts", "export const x = 1;", /more than an explicit named re-export/],
  ["clock", "src/core/tree/a.ts", "export const t = () => Date.now();", /uses Date.now/],
  ["clock, made", "src/core/tree/a.ts", "export const t = () => new Date();", /uses the clock/],
  ["chance", "src/core/tree/a.ts", "export const t = () => Math.random();", /uses Math.random/],
  [
    "page past core",
    "src/apps/page/a.ts",
    'import { p } from "../../session/log/log.ts";\nuse(p);',
    /the page imports core/,
  ],
  ["Node in the page", "src/apps/page/a.tsx", 'import "node:fs";\nuse();', /runs in a browser/],
  [
    "bundled, not at home",
    "src/apps/cli/a.ts",
    'import { h } from "preact";\nuse(h);',
    /preact, whose home is/,
  ],
  ["host", "src/core/tree/a.ts", "export const b = Buffer.from([]);", /uses Buffer/],
  ["timer", "src/core/compaction/a.ts", "setTimeout(() => use(), 1);", /uses setTimeout/],
];

test.each(breaches)("finds a violation: %s", (_rule, path, text, fault) => {
  const faults = check({ [path]: text });
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(fault);
});

test("finds cycles of any number of files, and names only the files in them", () => {
  const faults = check({
    "src/core/tree/a.ts": 'import { b } from "./b.ts";\nexport const a = b;',
    "src/core/tree/b.ts": 'import { c } from "./c.ts";\nexport const b = c;',
    "src/core/tree/c.ts": 'import type { B } from "./b.ts";\nexport const c: B = 1;',
  });
  expect(faults).toEqual([
    "import each other in a circle: src/core/tree/b.ts → src/core/tree/c.ts → src/core/tree/b.ts",
  ]);
});

test("reports no files that follow the rules", () => {
  const faults = check({
    "src/core/tree/a.ts":
      'import type { Entry } from "../format/entry.ts";\nimport { path } from "./path.ts";\nexport { path };\n' +
      "export const at = (e: Entry, process: number) => [e, process, new Date(0), { crypto: path }.crypto];",
    "src/session/log/a.ts":
      'import { join } from "node:path";\nexport const now = () => [Date.now(), join("a")];',
    "src/index.ts":
      'export { log } from "./session/log/log.ts";\nexport type { Entry } from "./core/format/entry.ts";',
    "src/core.ts": 'export { path } from "./core/tree/path.ts";',
  });
  expect(faults).toEqual([]);
});

test("finds a diagram that differs from the table", () => {
  const lines = Object.entries(WINGS)
    .reverse()
    .flatMap(([wing, floors]) => [
      `${wing}  what it is for`,
      ...floors
        .map((rooms, floor) => `  ${floor}   ${rooms.join("     ")}     what it is for, a word/two`)
        .reverse(),
    ]);
  const diagram = (rows: string[]) => `# Wings\n\n\`\`\`\nwing\n${rows.join("\n")}\n\`\`\`\n`;
  expect(compareWings(readWingDiagram(diagram(lines)))).toEqual([]);
  const other = diagram(lines.map((row) => row.replace("tree/", "trees/")));
  expect(compareWings(readWingDiagram(other))).toEqual([
    'core 1: the diagram has "trees/", WINGS has "tree/"',
  ]);
  const renamed = diagram(lines.map((row) => row.replace(/^stores/, "shops")));
  expect(compareWings(readWingDiagram(renamed))[0]).toMatch(
    /^the diagram has the wings core session catalog shops/,
  );
});

test("finds a row with a dead path", () => {
  const rows = ["`log/log.ts` | `Log.append`", "`log/log.ts` | `Log.gone`", "`log/gone.ts` | `a`", "`b`"];
  const table = rows.map((row) => `| what happens | ${row} |`).join("\n");
  const document = `## Where is …?\n\n| what | file | look for |\n|---|---|---|\n${table}\n\n## Next\n`;
  const text = "export class Log {\n  append(): void {}\n}\n";
  const read = (path: string) => (path === "log/log.ts" ? text : undefined);
  expect(compareWhereTable(document, read)).toEqual([
    "log/log.ts declares no gone",
    "log/gone.ts is not there",
    "not of the form of the others: | what happens | `b` |",
  ]);
  expect(() => compareWhereTable("## Other\n", read)).toThrow("no table");
});

test("finds a package without a home, without a row, or without use", () => {
  const names = Object.keys(PACKAGE_HOMES);
  const table = names.map((name) => `| \`${name}\` 1 | home |`).join("\n");
  expect(comparePackages(names, table)).toEqual([]);
  expect(comparePackages([...names, "left-pad"], table)).toEqual([
    "left-pad is a dependency without a home",
    "left-pad has no row in the table of docs/architecture.md",
  ]);
  expect(comparePackages(names.slice(1), table)).toEqual([`${names[0]} has a home but is no dependency`]);
});
