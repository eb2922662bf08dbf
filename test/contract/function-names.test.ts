import { describe, expect, test } from "vitest";
import { type AllowedNames, findNameFaults, findSharedNames } from "./support/function-names.ts";
import { readSources } from "./support/repository.ts";

/** Names in Of and In that the field uses, and superlatives that are not bounds. */
const IN_THE_FIELD: AllowedNames = {
  indexOf: "the method of arrays and strings",
  oneOf: "the combinator of JSON Schema",
  arrayOf: "the combinator of schemas, as in PropTypes",
  mapOf: "the combinator of schemas, next to arrayOf",
  outcomeOf: "a public name",
  continueIn: "a public name: continues a session in another program",
  sessionIdOf: "a public method of SessionTreeSaver",
  issuesOf: "a public method of SessionTreeSaver",
  mostRedacted: "the copies with the most redactions",
  mostValid: "the thinking with the most valid signatures",
};

/** Names with more than two meanings. */
const SHARED: AllowedNames = {};

const files = ["src", "test", "fixtures", "docs/examples"].flatMap((folder) => [...readSources(folder)]);
const isTest = (path: string) => path.endsWith(".test.ts");
/** All files but tests, whose helpers are local. */
const sources = new Map(files.filter(([path]) => !isTest(path)));

test("functions are named by a verb and a noun, and bounds MAX_ and MIN_", () => {
  expect([...sources].flatMap(([path, text]) => findNameFaults(path, text, IN_THE_FIELD))).toEqual([]);
});

test("bounds are named MAX_ and MIN_ in tests, too", () => {
  const faults = files
    .filter(([path, text]) => isTest(path) && /\b(?:most|least)(?![a-z])|MOST|LEAST/.test(text))
    .flatMap(([path, text]) => findNameFaults(path, text, IN_THE_FIELD));
  expect(faults.filter((fault) => fault.includes("name a bound"))).toEqual([]);
});

test("functions share a name only where they are the same", () => {
  const ours = new Map([...sources].filter(([path]) => path.startsWith("src/")));
  expect(findSharedNames(ours, SHARED)).toEqual([]);
});

test("every exception is still necessary", () => {
  const exceptions = Object.keys(IN_THE_FIELD);
  const mentioned = [...sources].filter(([, text]) => exceptions.some((name) => text.includes(name)));
  const used = mentioned.flatMap(([path, text]) => findNameFaults(path, text, {})).join("\n");
  expect(exceptions.filter((name) => !used.includes(` ${name}: `))).toEqual([]);
});

describe("these checks", () => {
  const find = (text: string) =>
    findNameFaults("src/a.ts", text, IN_THE_FIELD).map((fault) => fault.replace(/^[^ ]+ ([^:]+).*/, "$1"));

  test("find functions, methods, members, parameters, and bounds", () => {
    expect(find("export function textOf() {}")).toEqual(["textOf"]);
    expect(find("const namesIn = (text: string) => [text];")).toEqual(["namesIn"]);
    expect(find("class A { #keyOf() {} nameIn = () => 1; }")).toEqual(["keyOf", "nameIn"]);
    expect(find("interface A { readonly idOf: () => string; rowOf(): string }")).toEqual(["idOf", "rowOf"]);
    expect(find("function sort(keyOf: (one: string) => string) {}")).toEqual(["keyOf"]);
    expect(find("const { getId: idOf, forkOf } = it;")).toEqual(["idOf"]);
    expect(find("const MOST_FILES = 1, AT_LEAST_ONE = 2, FILES_MOST = 3;")).toEqual([
      "MOST_FILES",
      "AT_LEAST_ONE",
      "FILES_MOST",
    ]);
    expect(find("const { most, mostFiles } = it; function cut(leastBytes: number) {}")).toEqual([
      "most",
      "mostFiles",
      "leastBytes",
    ]);
  });

  test("ignore data, terms of the field, and words that end in the same letters", () => {
    expect(
      find("const a = { forkOf: 1, indexOf: () => 0 }; let plugin = () => 1; function join() {}"),
    ).toEqual([]);
    expect(find("interface A { readonly subagentOf?: string }")).toEqual([]);
    expect(find("const mostly = 1, ALMOST_ALL = 2;")).toEqual([]);
  });

  const share = (...files: [path: string, text: string][]) =>
    findSharedNames(new Map(files), { check: "all do" });

  test("find a name with three meanings", () => {
    const three: [string, string][] = [1, 2, 3].map((n) => [
      `src/${n}.ts`,
      `function toText() { return ${n}; }`,
    ]);
    expect(share(...three)).toEqual(["toText: src/1.ts, src/2.ts, src/3.ts"]);
    expect(share(...three.slice(1))).toEqual([]);
  });

  test("ignore equal functions, nested ones, families, and exceptions", () => {
    const same = (path: string): [string, string] => [path, "export function toText() { return 1; }"];
    expect(share(same("src/a.ts"), same("src/b.ts"), same("src/c.ts"))).toEqual([]);
    expect(
      share(["src/a.ts", "function a(b: 1): 1; function a(b: 2): 2; function a(b: 1 | 2) { return b; }"]),
    ).toEqual([]);
    const inside = (n: number): [string, string] => [
      `src/${n}.ts`,
      `function a${n}() { const f = () => ${n}; }`,
    ];
    expect(share(inside(1), inside(2), inside(3))).toEqual([]);
    const step = (n: number): [string, string] => [
      `src/interop/convert/${n}.ts`,
      `function read() { ${n}; }`,
    ];
    expect(share(step(1), step(2), step(3), ["src/a.ts", "function read() {}"])).toEqual([]);
    const check = (n: number): [string, string] => [`src/${n}.ts`, `function check() { return ${n}; }`];
    expect(share(check(1), check(2), check(3))).toEqual([]);
  });
});
