/** Transforms the library's chunks so that bundlers leave out what a program does not use. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Plugin } from "esbuild";
import ts from "typescript";
import { parse } from "../contract/support/syntax.ts";

const PURE = "/* @__PURE__ */ ";

/** A class that refers to itself: esbuild gives it an inner name, which debuggers and errors would show. */
const SELF_NAMED_CLASS = /\bvar ([A-Za-z$][\w$]*)=class _\1\b/g;

/** Returns a chunk in which classes that refer to themselves have the names of the sources. */
function restoreClassNames(code: string): string {
  const names = Array.from(code.matchAll(SELF_NAMED_CLASS), ([, name = ""]) => name);
  return names.reduce((text, name) => {
    const inner = new RegExp(`(?<![\\w$.#])_${name.replaceAll("$", "\\$")}(?![\\w$])`, "g");
    return text.replace(inner, name);
  }, code);
}

/** Returns whether bundlers treat an expression as one with side effects, although it is not a call that can be marked. */
function isDistrusted(node: ts.Node): boolean {
  return (
    ts.isSpreadAssignment(node) ||
    ts.isTemplateExpression(node) ||
    ts.isComputedPropertyName(node) ||
    (ts.isPropertyAccessExpression(node) &&
      !(ts.isCallExpression(node.parent) && node.parent.expression === node))
  );
}

/** Finds what is evaluated when a chunk is loaded: the parts of a value that are not inside a function or a class. */
function findEvaluated(
  node: ts.Node,
  isWanted: (node: ts.Node) => boolean,
  found: ts.Node[] = [],
): ts.Node[] {
  if (ts.isFunctionLike(node) || ts.isClassLike(node)) return found;
  if (isWanted(node)) found.push(node);
  ts.forEachChild(node, (child) => void findEvaluated(child, isWanted, found));
  return found;
}

const isCall = (node: ts.Node) => ts.isCallExpression(node) || ts.isNewExpression(node);

/** Returns the values that are evaluated when a chunk is loaded: of variables and of classes' static members. */
function topLevelValues(file: ts.SourceFile): ts.Expression[] {
  const staticValues = (node: ts.ClassLikeDeclaration) =>
    node.members.flatMap((member) => {
      if (!ts.isPropertyDeclaration(member) || member.initializer === undefined) return [];
      const isStatic = member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword);
      return isStatic ? [member.initializer] : [];
    });
  return file.statements.flatMap((statement) => {
    if (ts.isClassDeclaration(statement)) return staticValues(statement);
    if (!ts.isVariableStatement(statement)) return [];
    return statement.declarationList.declarations.flatMap(({ initializer }) => {
      if (initializer === undefined) return [];
      return ts.isClassExpression(initializer) ? staticValues(initializer) : [initializer];
    });
  });
}

/**
 * Returns a chunk in which the values of its variables are marked as free of side effects.
 *
 * The package declares every file free of side effects (`sideEffects`), but a chunk consists of many files. Calls are marked;
 * other expressions that bundlers distrust, such as a spread, become a function that is called.
 */
export function markPure(code: string): string {
  const file = parse("chunk.js", restoreClassNames(code));
  const insertions = new Map<number, string>();
  for (const value of topLevelValues(file)) {
    if (findEvaluated(value, isDistrusted).length > 0) {
      insertions.set(value.getStart(), `${PURE}(()=>(`);
      insertions.set(value.getEnd(), "))()");
    } else for (const call of findEvaluated(value, isCall)) insertions.set(call.getStart(), PURE);
  }
  const sorted = [...insertions].sort(([a], [b]) => a - b);
  const pieces = sorted.map(([at, text], i) => file.text.slice(sorted[i - 1]?.[0] ?? 0, at) + text);
  return pieces.join("") + file.text.slice(sorted.at(-1)?.[0] ?? 0);
}

/** Statements of uuid that run when it is loaded, by file, and equivalents that bundlers can leave out. */
const UUID_STATEMENTS: ReadonlyMap<string, { statement: RegExp; instead: string }> = new Map([
  [
    "stringify.js",
    {
      statement:
        /const byteToHex = \[\];\s*for \(let i = 0; i < 256; \+\+i\) \{\s*byteToHex\.push\((.+)\);\s*\}/,
      instead: "const byteToHex = Array.from({ length: 256 }, (_, i) => $1);",
    },
  ],
  ["v5.js", { statement: /v5\.DNS = DNS;\s*v5\.URL = URL;/, instead: "" }],
]);

/** Lets bundlers leave out uuid, a part of which is in every chunk with an id. */
export const pureUuid: Plugin = {
  name: "pure-uuid",
  setup(build) {
    build.onLoad({ filter: /[\\/]uuid[\\/]dist[\\/](?:stringify|v5)\.js$/ }, ({ path }) => {
      const known = UUID_STATEMENTS.get(basename(path));
      const text = readFileSync(path, "utf8");
      if (!known?.statement.test(text))
        throw new Error(`${path} has changed: see whether bundlers still leave it out.`);
      return { contents: text.replace(known.statement, known.instead), loader: "js" };
    });
  },
};
