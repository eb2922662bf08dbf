import ts from "typescript";
import { expect, test } from "vitest";
import { readCodeSpans, readProse } from "./support/markdown.ts";
import { parseFacts } from "./support/package-facts.ts";
import { PUBLIC_NAMES_PATH } from "./support/public-names.ts";
import { listFiles, readSources, readText } from "./support/repository.ts";
import { parse, visit } from "./support/syntax.ts";

/** Documents about the sources: they name internals. */
const ABOUT_SOURCES = ["docs/architecture.md", "CONTRIBUTING.md"];

/** Public names by entry point. */
const ENTRY_NAMES: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(parseFacts(readText(PUBLIC_NAMES_PATH))).map(([entry, names]) => [
    entry,
    new Set(Object.keys(Object(names))),
  ]),
);

/** All public names. */
const PUBLIC = new Set([...ENTRY_NAMES.values()].flatMap((names) => [...names]));

/** Sources, by path. */
const SOURCES = readSources("src");

/** Documents that are checked. */
const DOCUMENTS = listFiles("").filter((path) => /^(?:[^/]+|docs\/.+)\.md$/.test(path));

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
  for (const [path, text] of SOURCES)
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

/** Code that names a place, after the code that it contains: "`a`, `b`, and `c(d)` of [`sessiontree/e`]". */
const NAMES_OF_PLACE = /((?:`[^`]+`(?:,\s+|,?\s+(?:and|or)\s+)?)+)\s+(?:of|from|in)\s+\[?`([\w/-]+)`/g;

/** Returns whether an entry point exports a name, or a module in `src` contains it; undefined for other places. */
function hasName(place: string, name: string): boolean | undefined {
  return ENTRY_NAMES.get(place)?.has(name) ?? SOURCES.get(`src/${place}.ts`)?.split(/\W+/).includes(name);
}

/** Lists the code in a document that is said to belong to an entry point or a module, but does not. */
function findMisplacedNames(path: string, markdown: string): string[] {
  const prose = readProse(markdown);
  const text = prose.map((one) => one.text).join("\n");
  return [...text.matchAll(NAMES_OF_PLACE)].flatMap(({ index, 1: codes = "", 2: place = "" }) => {
    const line = prose[text.slice(0, index).split("\n").length - 1]?.line;
    return [...codes.matchAll(/`(\w+)[^`]*`/g)].flatMap(([, name = ""]) =>
      hasName(place, name) === false ? [`${path}:${line} names ${name}, which ${place} does not have`] : [],
    );
  });
}

test("documents name no internal function", () => {
  const names = readNames();
  const faults = DOCUMENTS.filter((path) => !ABOUT_SOURCES.includes(path)).flatMap((path) =>
    findInternalNames(path, readText(path), names),
  );
  expect(faults).toEqual([]);
});

test("documents name only what an entry point or a module has", () => {
  expect(DOCUMENTS.flatMap((path) => findMisplacedNames(path, readText(path)))).toEqual([]);
});

test("the check finds an internal name, and ignores public names and members", () => {
  const text = "`iterateSessions` and `store.list()`,\nnot `makeFileRow(row)`";
  expect(findInternalNames("a.md", text)).toEqual(["a.md:2 names makeFileRow, which cannot be imported"]);
});

test("the check finds a name that the entry point or the module does not have, on its line", () => {
  const text =
    "# A\n\n`iterateSessions`, `searchSessions(x)`, and\n`listSessions` of [`sessiontree/catalog`](b.md); `planCompaction`\n" +
    "of `sessiontree/import`; `requiredWords` or `getRequiredWords` in `catalog/query/search-query`; `a` of `b`";
  expect(findMisplacedNames("a.md", text)).toEqual([
    "a.md:3 names listSessions, which sessiontree/catalog does not have",
    "a.md:4 names planCompaction, which sessiontree/import does not have",
    "a.md:5 names requiredWords, which catalog/query/search-query does not have",
  ]);
});
