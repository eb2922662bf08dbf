import ts from "typescript";
import { getLine, visit } from "./syntax.ts";

/** Globals that a program has from its host and not from the language. */
const HOST_NAMES = new Set([
  ...["process", "Buffer", "global", "require", "__dirname", "__filename", "console", "navigator"],
  ...["performance", "crypto", "fetch", "setTimeout", "setInterval", "setImmediate"],
]);

function findDeclaredNames(source: ts.SourceFile): Set<string> {
  const names = new Set<string>();
  visit(source, (node) => {
    const declares =
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isBindingElement(node) ||
      ts.isFunctionDeclaration(node) ||
      ts.isImportSpecifier(node);
    if (declares && node.name !== undefined && ts.isIdentifier(node.name)) names.add(node.name.text);
  });
  return names;
}

function isPropertyName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node;
  if (ts.isQualifiedName(parent)) return parent.right === node;
  if (ts.isBindingElement(parent)) return parent.propertyName === node;
  return (
    (ts.isPropertyAssignment(parent) || ts.isClassElement(parent) || ts.isTypeElement(parent)) &&
    parent.name === node
  );
}

/** Returns the name of the clock, random source, or host that a node uses, if any. */
function outsideReachedBy(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node)) {
    const text = node.getText();
    return text === "Math.random" || text === "Date.now" ? text : undefined;
  }
  if (ts.isNewExpression(node) || ts.isCallExpression(node)) {
    const callee = node.expression;
    const noArguments = (node.arguments?.length ?? 0) === 0;
    return ts.isIdentifier(callee) && callee.text === "Date" && noArguments ? "the clock" : undefined;
  }
  if (!ts.isIdentifier(node) || isPropertyName(node)) return undefined;
  return HOST_NAMES.has(node.text) ? node.text : undefined;
}

/** Lists the places at which a file of the pure floors reads a clock, draws a random number, or uses its host. */
export function checkPurity(source: ts.SourceFile): string[] {
  const faults: string[] = [];
  const own = findDeclaredNames(source);
  visit(source, (node) => {
    const outside = outsideReachedBy(node);
    if (outside === undefined || own.has(outside)) return;
    faults.push(
      `${source.fileName}:${getLine(node)} uses ${outside}: on this floor such things are handed in`,
    );
  });
  return faults;
}
