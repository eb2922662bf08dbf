import { join, relative } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { createProgram, inventedPath } from "./support/compiler.ts";
import { ROOT, readSources } from "./support/repository.ts";
import { getLine, visit } from "./support/syntax.ts";

/** Files that may convert a value of unknown type to a string, each with the reason. */
const ALLOWED: ReadonlyMap<string, string> = new Map([
  ["src/core/format/json.ts", "defines toSafeString"],
  ["src/core/format/errors.ts", "catches the error if a thrown value has no text"],
  ["src/core/jsonl/json-tree.ts", "a parsed JSON string is a string"],
  ["src/apps/recall/cleaner.ts", "replace returns a string"],
  ["src/apps/cli/commands/mcp.ts", "chunks of a stream are strings or bytes"],
  ["src/apps/cli/main.ts", "streams fail with an Error"],
  ["src/stores/suite/writers.ts", "is a test's message"],
]);

/** Finds the places that convert a value of unknown type to a string: file and line. */
function findConversions(program: ts.Program, path: string): string[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  if (source === undefined) throw new Error(`${path} is not part of the program.`);
  const found: string[] = [];
  visit(source, (node) => {
    const type = findConvertedType(checker, node);
    const isUnknown = (type?.isUnion() ? type.types : [type]).some(
      (one) =>
        one !== undefined &&
        ((one.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0 || checker.typeToString(one) === "{}"),
    );
    if (isUnknown) found.push(`${relative(ROOT, path)}:${getLine(node)}`);
  });
  return found;
}

/** Returns the type of the value that a template, a call of `String`, or a call of a function with `String` converts. */
function findConvertedType(checker: ts.TypeChecker, node: ts.Node): ts.Type | undefined {
  if (ts.isTemplateSpan(node)) return checker.getTypeAtLocation(node.expression);
  if (!ts.isCallExpression(node)) return undefined;
  const [value] = node.arguments;
  if (value === undefined) return undefined;
  if (ts.isIdentifier(node.expression) && node.expression.text === "String")
    return checker.getTypeAtLocation(value);
  if (!ts.isIdentifier(value) || value.text !== "String") return undefined;
  const [signature] = checker.getContextualType(value)?.getCallSignatures() ?? [];
  const [parameter] = signature?.parameters ?? [];
  return parameter === undefined ? undefined : checker.getTypeOfSymbol(parameter);
}

test("no value of unknown type is converted by String or a template, which throw for objects that others wrote", () => {
  // The page's components, whose types need the page's own options, show only what their models have parsed.
  const paths = [...readSources("src").keys()].filter((path) => !path.endsWith(".tsx"));
  const program = createProgram(paths.map((path) => join(ROOT, path)));
  const found = paths.flatMap((path) => findConversions(program, join(ROOT, path)));
  expect(found.filter((place) => !ALLOWED.has(place.split(":")[0] ?? ""))).toEqual([]);
  // No exception outlives its reason.
  expect([...new Set(found.map((place) => place.split(":")[0]))].sort()).toEqual([...ALLOWED.keys()].sort());
});

test("this check sees unknown values, any, and what remains of them after a comparison", () => {
  const path = inventedPath("conversions.ts");
  const text = `
    export const one = (value: unknown) => String(value);
    export const two = (value: unknown) => \`\${value}\`;
    export const three = (value: { a?: unknown }) => String(value.a ?? 1);
    export const four = () => String(JSON.parse("1"));
    export const five = (value: string | number | undefined) => \`\${value} \${String(value)}\`;
    export const six = (values: readonly unknown[], texts: string[]) => [values.map(String), texts.map(String)];`;
  const program = createProgram([], new Map([[path, text]]));
  expect(findConversions(program, path).map((place) => place.replace(/^.*:/, ""))).toEqual([
    "2",
    "3",
    "4",
    "5",
    "7",
  ]);
});
