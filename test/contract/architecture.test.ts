import { posix } from "node:path";
import { expect, test } from "vitest";
import { checkArchitecture, FLOORS, PACKAGE_HOMES } from "./support/architecture.ts";
import {
  compareFloors,
  comparePackages,
  compareWhereTable,
  readFloorPicture,
} from "./support/house-document.ts";
import { member, parseFacts } from "./support/package-facts.ts";
import { readSources, readText } from "./support/repository.ts";
import { parse, readImports } from "./support/syntax.ts";

test("the sources keep the rules of the house", () => {
  expect(checkArchitecture(readSources("src"))).toEqual([]);
});

test("docs/architecture.md shows the same floors", () => {
  expect(compareFloors(readFloorPicture(readText("docs/architecture.md")))).toEqual([]);
});

test("of what can be imported, the schema alone reaches zod, in values or types", () => {
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

test("what docs/architecture.md says where to find is there", () => {
  const sources = readSources("src");
  const faults = compareWhereTable(readText("docs/architecture.md"), (path) => sources.get(`src/${path}`));
  expect(faults).toEqual([]);
});

test("every package has one home and a row in docs/architecture.md", () => {
  const facts = parseFacts(readText("package.json"));
  // What a host brings and what is bundled needs a home if it is imported.
  const imported = ["peerDependencies", "devDependencies"]
    .flatMap((list) => Object.keys(member(facts, list)))
    .filter((name) => name in PACKAGE_HOMES);
  const packages = new Set([...Object.keys(member(facts, "dependencies")), ...imported]);
  expect(comparePackages([...packages], readText("docs/architecture.md"))).toEqual([]);
});

/** Checks files given as path → text, beside a file of each floor that they may import. */
function check(files: Record<string, string>): string[] {
  const ground = {
    "src/core/format/errors.ts": "export const a = 1;\n",
    "src/core/format/entry.ts": "export interface Entry {}\n",
    "src/tree/path.ts": "export const path = 1;\n",
    "src/context/path.ts": "export const path = 1;\n",
    "src/log/log.ts": "export const log = 1;\n",
  };
  return checkArchitecture(new Map(Object.entries({ ...ground, ...files })));
}

const breaches: [rule: string, path: string, text: string, fault: RegExp][] = [
  ["up a floor", "src/schema/a.ts", 'import { p } from "../tree/path.ts";\nuse(p);', /:1 .*up from floor 0/],
  [
    "up, by type",
    "src/schema/a.ts",
    'export type P = import("../tree/path.ts").P;',
    /up from floor 0 to floor 1/,
  ],
  ["up, when run", "src/schema/a.ts", 'export const p = () => import("../tree/path.ts");', /up from floor 0/],
  [
    "across",
    "src/jsonl/a.ts",
    'import { p } from "../context/path.ts";\nuse(p);',
    /same floor, another room/,
  ],
  ["re-export up", "src/schema/a.ts", 'export { p } from "../tree/path.ts";\nexport const a = 1;', /up from/],
  [
    "no extension",
    "src/jsonl/a.ts",
    'import type { E } from "../schema/entry";\nuse<E>();',
    /no file of src/,
  ],
  ["data of elsewhere", "src/jsonl/a.ts", 'import t from "../cli/t.json";\nuse(t);', /no file of src/],
  ["out of src", "src/jsonl/a.ts", 'import { t } from "../../test/t.ts";\nuse(t);', /no file of src/],
  ["computed", "src/apps/cli/run.ts", "export const load = (name: string) => import(name);", /computed/],
  ["no home", "src/tree/a.ts", 'import _ from "lodash/fp";\nuse(_);', /imports lodash, which has no home/],
  [
    "itself",
    "src/apps/cli/run.ts",
    'import { x } from "sessiontree";\nuse(x);',
    /imports sessiontree, which has no/,
  ],
  ["not at home", "src/log/a.ts", 'import { z } from "zod";\nuse(z);', /zod, whose home is src\/schema/],
  ["Node below", "src/context/a.ts", 'import { join } from "node:path";\nuse(join);', /runs in a browser/],
  ["Node in compaction", "src/compaction/a.ts", 'import "node:fs";\nuse();', /runs in a browser/],
  ["Node unmarked", "src/log/a.ts", 'import fs from "fs/promises";\nuse(fs);', /write "node:fs\/promises"/],
  ["barrel", "src/tree/all.ts", 'export * from "./path.ts";', /only re-exports/],
  [
    "barrel, two steps",
    "src/tree/all.ts",
    'import { p } from "./path.ts";\nexport { p };',
    /only re-exports/,
  ],
  ["named otherwise", "src/tree/entryTree.ts", "use();", /kebab-case/],
  ["on no floor", "src/misc/a.ts", "use();", /stands on no floor/],
  ["core with files", "src/core.ts", 'export { log } from "./log/log.ts";', /core is floors 0 to 3/],
  ["public star", "src/index.ts", 'export * from "./tree/path.ts";', /more than an explicit named re-export/],
  ["public code", "src/index.ts", "export const x = 1;", /more than an explicit named re-export/],
  ["clock", "src/tree/a.ts", "export const t = () => Date.now();", /uses Date.now/],
  ["clock, made", "src/tree/a.ts", "export const t = () => new Date();", /uses the clock/],
  ["chance", "src/tree/a.ts", "export const t = () => Math.random();", /uses Math.random/],
  [
    "page past core",
    "src/page/a.ts",
    'import { p } from "../log/log.ts";\nuse(p);',
    /what core and view say/,
  ],
  ["Node in the page", "src/page/a.tsx", 'import "node:fs";\nuse();', /runs in a browser/],
  ["bundled, not at home", "src/cli/a.ts", 'import { h } from "preact";\nuse(h);', /preact, whose home is/],
  ["host", "src/tree/a.ts", "export const b = Buffer.from([]);", /uses Buffer/],
  ["timer", "src/compaction/a.ts", "setTimeout(() => use(), 1);", /uses setTimeout/],
];

test.each(breaches)("a breach is found: %s", (_rule, path, text, fault) => {
  const faults = check({ [path]: text });
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(fault);
});

test("circles are found, through any number of files, and only those in them are named", () => {
  const faults = check({
    "src/tree/a.ts": 'import { b } from "./b.ts";\nexport const a = b;',
    "src/tree/b.ts": 'import { c } from "./c.ts";\nexport const b = c;',
    "src/tree/c.ts": 'import type { B } from "./b.ts";\nexport const c: B = 1;',
  });
  expect(faults).toEqual(["import each other in a circle: src/tree/b.ts → src/tree/c.ts → src/tree/b.ts"]);
});

test("what keeps the rules is not held against anybody", () => {
  const faults = check({
    "src/tree/a.ts":
      'import type { Entry } from "../schema/entry.ts";\nimport { path } from "./path.ts";\nexport { path };\n' +
      "export const at = (e: Entry, process: number) => [e, process, new Date(0), { crypto: path }.crypto];",
    "src/log/a.ts": 'import { join } from "node:path";\nexport const now = () => [Date.now(), join("a")];',
    "src/index.ts": 'export { log } from "./log/log.ts";\nexport type { Entry } from "./schema/entry.ts";',
    "src/core.ts": 'export { path } from "./tree/path.ts";',
  });
  expect(faults).toEqual([]);
});

test("a picture that differs from the table is found", () => {
  const rows = FLOORS.map(
    (rooms, floor) => `  ${floor}   ${rooms.join("     ")}     what it is for, a word/two`,
  );
  const picture = (lines: string[]) => `# Rooms\n\n\`\`\`\nfloor\n${lines.reverse().join("\n")}\n\`\`\`\n`;
  expect(compareFloors(readFloorPicture(picture([...rows])))).toEqual([]);
  const other = picture(rows.map((row) => row.replace("tree/", "trees/")));
  expect(compareFloors(readFloorPicture(other))).toEqual([
    'floor 1: the picture has "trees/", FLOORS has "tree/"',
  ]);
});

test("a row that leads nowhere is found", () => {
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

test("a package without a home, without a row, or without use is found", () => {
  const names = Object.keys(PACKAGE_HOMES);
  const table = names.map((name) => `| \`${name}\` 1 | home |`).join("\n");
  expect(comparePackages(names, table)).toEqual([]);
  expect(comparePackages([...names, "left-pad"], table)).toEqual([
    "left-pad is a dependency without a home",
    "left-pad has no row in the table of docs/architecture.md",
  ]);
  expect(comparePackages(names.slice(1), table)).toEqual([`${names[0]} has a home but is no dependency`]);
});
