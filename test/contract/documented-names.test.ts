import ts from "typescript";
import { expect, test } from "vitest";
import { readCodeSpans } from "./support/markdown.ts";
import { parseFacts } from "./support/package-facts.ts";
import { PUBLIC_NAMES_PATH } from "./support/public-names.ts";
import { listFiles, readSources, readText } from "./support/repository.ts";
import { parse, visit } from "./support/syntax.ts";

/** Documents about the sources: they name what is inside. */
const ABOUT_SOURCES = ["docs/architecture.md", "CONTRIBUTING.md"];

/** Every name that can be imported. */
const PUBLIC = new Set(
  Object.values(parseFacts(readText(PUBLIC_NAMES_PATH))).flatMap((names) => Object.keys(Object(names))),
);

/** What functions the sources export, and the names of members and of what files hold, which mean something else. */
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
          ts.isPropertySignature(node) || ts.isMethodSignature(node) || ts.isMethodDeclaration(node);
        if (isMember && ts.isIdentifier(node.name)) others.add(node.name.text);
        if (ts.isStringLiteral(node)) others.add(node.text);
      });
  return { exported, others };
}

/** Lists the code in a document that names a function of the sources that cannot be imported. */
function findInternalNames(path: string, text: string, { exported, others } = readNames()): string[] {
  return readCodeSpans(text).flatMap(({ line, code }) => {
    const name = /^(\w+)(?:\(.*\))?$/.exec(code)?.[1] ?? "";
    const isInternal = exported.has(name) && !PUBLIC.has(name) && !others.has(name);
    return isInternal ? [`${path}:${line} names ${name}, which cannot be imported`] : [];
  });
}

test("documents name no function that cannot be imported", () => {
  const names = readNames();
  const faults = listFiles("")
    .filter((path) => /^(?:[^/]+|docs\/.+)\.md$/.test(path) && !ABOUT_SOURCES.includes(path))
    .flatMap((path) => findInternalNames(path, readText(path), names));
  expect(faults).toEqual([]);
});

test("the check finds such a name, and lets public names and members pass", () => {
  const text = "`iterateSessions` and `store.list()`,\nnot `makeFileRow(row)`";
  expect(findInternalNames("a.md", text)).toEqual(["a.md:2 names makeFileRow, which cannot be imported"]);
});
