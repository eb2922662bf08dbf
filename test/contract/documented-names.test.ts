import ts from "typescript";
import { expect, test } from "vitest";
import { readCodeSpans } from "./support/markdown.ts";
import { parseFacts } from "./support/package-facts.ts";
import { PUBLIC_NAMES_PATH } from "./support/public-names.ts";
import { listFiles, readSources, readText } from "./support/repository.ts";
import { parse, visit } from "./support/syntax.ts";

/** Documents about the sources: they name internals. */
const ABOUT_SOURCES = ["docs/architecture.md", "CONTRIBUTING.md"];

/** All public names. */
const PUBLIC = new Set(
  Object.values(parseFacts(readText(PUBLIC_NAMES_PATH))).flatMap((names) => Object.keys(Object(names))),
);

/** Returns whether a function is a member of a frozen object, such as a public table. */
function isPartOfTable(node: ts.Node): node is ts.ShorthandPropertyAssignment {
  if (!ts.isShorthandPropertyAssignment(node)) return false;
  const call = node.parent.parent;
  return ts.isCallExpression(call) && call.expression.getText() === "Object.freeze";
}

/** Reads the functions that the sources export, and names of members and of data in files, which have another meaning. */
function readNames(): { exported: Set<string>; others: Set<string> } {
  const exported = new Set<string>();
  const others = new Set<string>();
  // The page's components are named like types.
  for (const [path, text] of readSources("src"))
    if (!path.startsWith("src/apps/page/"))
      visit(parse(path, text), (node) => {
        if (ts.isFunctionDeclaration(node)) {
          const isExported = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
          if (isExported && node.name !== undefined) exported.add(node.name.text);
        }
        const isMember =
          ts.isPropertySignature(node) ||
          ts.isMethodSignature(node) ||
          ts.isMethodDeclaration(node) ||
          isPartOfTable(node);
        if (isMember && ts.isIdentifier(node.name)) others.add(node.name.text);
        if (ts.isStringLiteral(node)) others.add(node.text);
      });
  return { exported, others };
}

/** Lists the code in a document that names an internal function of the sources. */
function findInternalNames(path: string, text: string, { exported, others } = readNames()): string[] {
  return readCodeSpans(text).flatMap(({ line, code }) => {
    const name = /^(\w+)(?:\(.*\))?$/.exec(code)?.[1] ?? "";
    const isInternal = exported.has(name) && !PUBLIC.has(name) && !others.has(name);
    return isInternal ? [`${path}:${line} names ${name}, which cannot be imported`] : [];
  });
}

test("documents name no internal function", () => {
  const names = readNames();
  const faults = listFiles("")
    .filter((path) => /^(?:[^/]+|docs\/.+)\.md$/.test(path) && !ABOUT_SOURCES.includes(path))
    .flatMap((path) => findInternalNames(path, readText(path), names));
  expect(faults).toEqual([]);
});

test("the check finds an internal name, and ignores public names and members", () => {
  const text = "`iterateSessions` and `store.list()`,\nnot `makeFileRow(row)`";
  expect(findInternalNames("a.md", text)).toEqual(["a.md:2 names makeFileRow, which cannot be imported"]);
});
