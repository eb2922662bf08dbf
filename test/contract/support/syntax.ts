import ts from "typescript";

/** Import of a module in a file. */
export interface ImportRecord {
  /** As written; null if it is computed when the program runs. */
  readonly specifier: string | null;
  readonly line: number;
  /** Whether the module is loaded on evaluation: `import(…)`. */
  readonly isDynamic: boolean;
}

/** Parses one file, without types. */
export function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

/** Returns the 1-based line of a node. */
export function getLine(node: ts.Node): number {
  const source = node.getSourceFile();
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}

/** Visits every node below a node, parents first. */
export function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  const step = (child: ts.Node): void => {
    look(child);
    ts.forEachChild(child, step);
  };
  ts.forEachChild(node, step);
}

function moduleNamedBy(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isExternalModuleReference(node)) return node.expression;
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : node;
  if (!ts.isCallExpression(node)) return undefined;
  const callee = node.expression;
  const loads =
    callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === "require");
  return loads ? (node.arguments[0] ?? node) : undefined;
}

/** Lists every module that a file names: imports, re-exports, import types, dynamic imports, `require`. */
export function readImports(source: ts.SourceFile): ImportRecord[] {
  const records: ImportRecord[] = [];
  visit(source, (node) => {
    const named = moduleNamedBy(node);
    if (named === undefined) return;
    records.push({
      specifier: ts.isStringLiteralLike(named) ? named.text : null,
      line: getLine(node),
      isDynamic: ts.isCallExpression(node),
    });
  });
  return records;
}

/**
 * Reads the string literals of a union type.
 *
 * @param source - File that declares it.
 * @param name - Name of the type alias.
 */
export function readStringUnion(source: ts.SourceFile, name: string): string[] {
  const alias = source.statements.find(
    (statement): statement is ts.TypeAliasDeclaration =>
      ts.isTypeAliasDeclaration(statement) && statement.name.text === name,
  );
  if (alias === undefined) throw new Error(`${source.fileName} declares no type ${name}.`);
  const members = ts.isUnionTypeNode(alias.type) ? [...alias.type.types] : [alias.type];
  return members.map((member) => {
    if (ts.isLiteralTypeNode(member) && ts.isStringLiteral(member.literal)) return member.literal.text;
    throw new Error(`${source.fileName}: type ${name} is more than a union of string literals.`);
  });
}
