import { describe, expect, test } from "vitest";
import { createProgram, ENTRIES, entryFile, inventedPath } from "./support/compiler.ts";
import { findUndocumentedExports, findWrongParams } from "./support/docstrings.ts";
import { member, parseFacts } from "./support/package-facts.ts";
import {
  compareNames,
  createEntriesProgram,
  findUndisposable,
  PUBLIC_NAMES_PATH,
  type PublicNames,
  readExports,
  readPublicNames,
} from "./support/public-names.ts";
import { readSources, readText } from "./support/repository.ts";

const VALUES = /^(?:class|function|const|enum|namespace)/;

/** Maximum number of values that the entry points export, each counted once. */
const MAX_VALUES = 126;

/** Maximum number of names that the entry points export, values and types, each counted once. */
const MAX_NAMES = 382;

function listedNames(entry: string): PublicNames {
  const pairs = Object.entries(member(parseFacts(readText(PUBLIC_NAMES_PATH)), entry));
  return Object.fromEntries(pairs.map(([name, kind]) => [name, String(kind)]));
}

/** One program for all, because each takes seconds. */
const program = createEntriesProgram();
const exportedNames = readPublicNames(program);

/** Counts the names of several entry points, each once. */
function countNames(entries: Readonly<Record<string, PublicNames>>): { values: number; names: number } {
  const kinds = new Map(Object.values(entries).flatMap((names) => Object.entries(names)));
  return { values: [...kinds.values()].filter((kind) => VALUES.test(kind)).length, names: kinds.size };
}

/** Interfaces that others implement: `remoteStore` closes their instances. */
const CLOSED_BY_US = ["SessionBackend"];

describe.each(Object.keys(ENTRIES))("%s", (entry) => {
  test("exports the names on the list (after an intended change: npm run update:public-names)", () => {
    expect(compareNames(listedNames(entry), exportedNames[entry] ?? {})).toEqual([]);
  });

  test("has the listed values, and no others, when it is loaded", async () => {
    const loaded: object = await import(entry);
    const listed = Object.entries(listedNames(entry)).filter(([, kind]) => VALUES.test(kind));
    expect(Object.keys(loaded).sort()).toEqual(listed.map(([name]) => name).sort());
  });
});

test(`are at most ${MAX_VALUES} values and ${MAX_NAMES} names: replace one before you add one`, () => {
  const { values, names } = countNames(exportedNames);
  expect(values).toBeLessThanOrEqual(MAX_VALUES);
  expect(names).toBeLessThanOrEqual(MAX_NAMES);
});

test("everything that can be closed works with `await using`", () => {
  const found = Object.values(ENTRIES).flatMap((file) => findUndisposable(program, entryFile(file)));
  expect(found).toEqual(CLOSED_BY_US);
});

test("core exports only names that the main entry point exports", () => {
  const others = Object.keys(ENTRIES).filter((entry) => entry !== "sessiontree/core");
  const names = new Set(others.flatMap((entry) => Object.keys(listedNames(entry))));
  expect(Object.keys(listedNames("sessiontree/core")).filter((name) => !names.has(name))).toEqual([]);
});

test("every export of the sources has a docstring", () => {
  const faults = [...readSources("src")].flatMap(([path, text]) => findUndocumentedExports(path, text));
  expect(faults).toEqual([]);
});

test("every @param of the sources names a parameter", () => {
  const faults = [...readSources("src")].flatMap(([path, text]) => findWrongParams(path, text));
  expect(faults).toEqual([]);
});

describe("the checks find", () => {
  test("the number of names, those of several entry points once, and types of classes among the types", () => {
    const one = { A: "class", b: "function", T: "interface", K: "type of class" };
    expect(countNames({ one, two: { b: "function", c: "const and type" } })).toEqual({ values: 3, names: 5 });
  });

  test("names that were added, removed, and changed", () => {
    const listed = { gone: "function", same: "class", turned: "const" };
    const exported = { same: "class", turned: "type", fresh: "interface" };
    expect(compareNames(listed, exported)).toEqual([
      "- function gone: in the list, not exported",
      "! turned: the list says const, it is type",
      "+ interface fresh: exported, not in the list",
    ]);
  });

  test("classes that can be closed only by hand", () => {
    const text =
      "export interface A { close(): void }\nexport class B { close(): void {} }\n" +
      "export class C { close(): void {}\n async [Symbol.asyncDispose](): Promise<void> {} }\nexport class D {}";
    const invented = inventedPath("closable.ts");
    expect(findUndisposable(createProgram([], new Map([[invented, text]])), invented)).toEqual(["A", "B"]);
  });

  test("the kind of each name, also through re-exports", () => {
    const things =
      "export class C {}\nexport function f(): void {}\nexport const k = 1;\nexport interface I {}\n" +
      "export type T = 1;\nexport class Hidden {}\nexport const both = 1;\nexport type both = 2;";
    const files = new Map([
      [inventedPath("things.ts"), things],
      [
        inventedPath("entry.ts"),
        'export { C, f, k, both } from "./things.ts";\nexport type { Hidden, I, T as U } from "./things.ts";',
      ],
    ]);
    expect(readExports(createProgram([], files), inventedPath("entry.ts"))).toEqual({
      C: "class",
      Hidden: "type of class",
      I: "interface",
      U: "type",
      both: "const and type",
      f: "function",
      k: "const",
    });
  });

  test("exports without a docstring", () => {
    const text =
      "/** Has one. */\nexport const a = 1;\nexport const b = 2;\nexport interface C {}\n" +
      "/** Has one, on its first overload. */\nexport function d(x: string): void;\nexport function d(): void {}\n" +
      "const e = 1;\nexport { e };\nconst own = 1;\n/** */\nexport type F = 1;\n// No docstring.\nexport class G {}";
    expect(findUndocumentedExports("a.ts", text)).toEqual([
      "a.ts:3 b has no docstring",
      "a.ts:4 C has no docstring",
      "a.ts:8 e has no docstring",
      "a.ts:12 F has no docstring",
      "a.ts:14 G has no docstring",
    ]);
  });

  test("parameters that do not exist", () => {
    const text =
      "/**\n * @param a - There.\n * @param b - Not there.\n */\nexport function f(a: string): void {}\n" +
      "/**\n * @param options.deep - Its root is there.\n * @param option - Not there.\n */\n" +
      "export const g = (options: { deep: 1 }) => options;\n" +
      "export class C {\n  /** @param x - Not there. */\n  m(y: string): void {}\n}\n" +
      "export interface I {\n  /** @param x - Not there. */\n  m(y: string): void;\n}\n" +
      "/** @param anything - Taken apart. */\nexport function h({ a }: { a: 1 }): void {}";
    expect(findWrongParams("a.ts", text)).toEqual([
      "a.ts:3 @param b is no parameter",
      "a.ts:8 @param option is no parameter",
      "a.ts:12 @param x is no parameter",
      "a.ts:16 @param x is no parameter",
    ]);
  });
});
