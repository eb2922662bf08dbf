import ts from "typescript";
import { expect, test } from "vitest";
import { readSources } from "./support/repository.ts";
import { getLine, parse, visit } from "./support/syntax.ts";

/**
 * Maximum number of lines of a function, from its first to its last line. Biome's `noExcessiveLinesPerFunction` is not used, because
 * it counts only the body, without the lines between elements of JSX.
 */
const MAX_LINES = 60;

/** Finds the functions of a file with more lines than allowed: file, name, and a line for each. */
function findLongFunctions(path: string, text: string): { name: string; place: string }[] {
  const found: { name: string; place: string }[] = [];
  const source = parse(path, text);
  visit(source, (node) => {
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) return;
    const lines = source.getLineAndCharacterOfPosition(node.end).line + 2 - getLine(node);
    if (lines <= MAX_LINES) return;
    const { parent } = node;
    const isNamed = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent);
    const name = node.name ?? (isNamed || ts.isPropertyDeclaration(parent) ? parent.name : undefined);
    const called = `${path} ${name?.getText(source) ?? "a function without a name"}`;
    found.push({ name: called, place: `${called}: ${lines} lines, from line ${getLine(node)}` });
  });
  return found;
}

test(`no function has more than ${MAX_LINES} lines`, () => {
  const long = [...readSources("src")].flatMap(([path, text]) => findLongFunctions(path, text));
  expect(long.map(({ place }) => place)).toEqual([]);
});

test("this check counts the lines of functions, methods, and functions in variables and objects", () => {
  const find = (lines: number) => {
    const body = `{\n${"  step();\n".repeat(lines - 2)}}`;
    const text = `function one() ${body}\nconst two = () => ${body};\nclass A { three() ${body}\nfour = () => ${body} }\nconst all = { five: () => ${body} };\nrun(() => ${body});\nfunction six(): void;\n`;
    return findLongFunctions("a.ts", text).map(({ name }) => name.replace("a.ts ", ""));
  };
  expect(find(MAX_LINES)).toEqual([]);
  const all = ["one", "two", "three", "four", "five", "a function without a name"];
  expect(find(MAX_LINES + 1)).toEqual(all);
});
