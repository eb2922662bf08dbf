import ts from "typescript";
import { getLine, parse, visit } from "./syntax.ts";

function hasDocstring(node: ts.Node): boolean {
  return ts
    .getJSDocCommentsAndTags(node)
    .some((doc) => ts.isJSDoc(doc) && (ts.getTextOfJSDocComment(doc.comment) ?? "").trim() !== "");
}

function isExported(node: ts.Node): boolean {
  return ts.canHaveModifiers(node)
    ? (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    : false;
}

/** Returns the declarations of a file by name; overloads and merged declarations share a name. */
function collectDeclarations(source: ts.SourceFile): Map<string, ts.Node[]> {
  const found = new Map<string, ts.Node[]>();
  const add = (name: ts.Node | undefined, node: ts.Node) => {
    if (name !== undefined) found.set(name.getText(), [...(found.get(name.getText()) ?? []), node]);
  };
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement)) {
      for (const declaration of statement.declarationList.declarations) add(declaration.name, statement);
    } else if (
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isEnumDeclaration(statement)
    ) {
      add(statement.name, statement);
    }
  }
  return found;
}

function namesExportedLater(source: ts.SourceFile): Set<string> {
  const names = new Set<string>();
  for (const statement of source.statements) {
    if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier !== undefined) continue;
    const clause = statement.exportClause;
    if (clause === undefined || !ts.isNamedExports(clause)) continue;
    for (const element of clause.elements) names.add((element.propertyName ?? element.name).text);
  }
  return names;
}

/** Lists exports of a file without a docstring. */
export function findUndocumentedExports(path: string, text: string): string[] {
  const source = parse(path, text);
  const later = namesExportedLater(source);
  const faults: string[] = [];
  for (const [name, nodes] of collectDeclarations(source)) {
    const [first] = nodes;
    const exported = later.has(name) || nodes.some(isExported);
    if (first === undefined || !exported || nodes.some(hasDocstring)) continue;
    faults.push(`${path}:${getLine(first)} ${name} has no docstring`);
  }
  return faults;
}

function leftmostName(name: ts.EntityName): string {
  let left = name;
  while (ts.isQualifiedName(left)) left = left.left;
  return left.text;
}

/** Lists the `@param` tags of a file whose name is not a parameter of the function that they describe. */
export function findWrongParams(path: string, text: string): string[] {
  const faults = new Set<string>();
  visit(parse(path, text), (node) => {
    if (!ts.isFunctionLike(node)) return;
    const { parameters } = node;
    // A destructured parameter has no name of its own, so that any may be in the docstring.
    if (parameters.some((parameter) => !ts.isIdentifier(parameter.name))) return;
    const names = parameters.map((parameter) => parameter.name.getText());
    for (const tag of ts.getJSDocTags(node)) {
      if (!ts.isJSDocParameterTag(tag) || names.includes(leftmostName(tag.name))) continue;
      faults.add(`${path}:${getLine(tag)} @param ${tag.name.getText()} is no parameter`);
    }
  });
  return [...faults];
}

/**
 * Lists the code of a file's `@example` tags.
 *
 * @returns Code with its 1-based line; the code of a fenced block if the example has one, otherwise all of its text.
 */
export function readExamples(path: string, text: string): { line: number; code: string }[] {
  const source = parse(path, text);
  const tags = new Set<ts.JSDocTag>();
  visit(source, (node) => {
    for (const tag of ts.getJSDocTags(node)) if (tag.tagName.text === "example") tags.add(tag);
  });
  return [...tags].map((tag) => {
    const firstLine = source.getLineAndCharacterOfPosition(tag.tagName.end).line + 1;
    const lines = source.text.slice(tag.tagName.end, tag.end).split("\n");
    const bare = lines.map((line, index) =>
      index === 0 ? line.trim() : line.replace(/^\s*\* ?/, "").replace(/^\s*\/?$/, ""),
    );
    const start = bare.findIndex((line) => line.startsWith("```"));
    const end = bare.findIndex((line, index) => index > start && line.startsWith("```"));
    return start === -1
      ? { line: firstLine, code: bare.join("\n") }
      : { line: firstLine + start + 1, code: bare.slice(start + 1, end).join("\n") };
  });
}
