import ts from "typescript";
import { getLine, parse, visit } from "./syntax.ts";

/** Declaration with a name that callers read. */
interface NamedNode {
  readonly name: string;
  readonly line: number;
  readonly isFunction: boolean;
  /** Text of a function at the top of its file, whatever its layout; undefined for everything else. */
  readonly meaning: string | undefined;
}

/** Exceptions to these rules: name → reason. */
export type AllowedNames = Readonly<Record<string, string>>;

function isFunction(node: ts.Node | undefined): boolean {
  return node !== undefined && (ts.isArrowFunction(node) || ts.isFunctionExpression(node));
}

function isNameable(node: ts.Node): node is ts.NamedDeclaration {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isMethodSignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertySignature(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node)
  );
}

function isFunctionLike(node: ts.NamedDeclaration): boolean {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node))
    return true;
  // Renamed in a destructuring, it is ours to name.
  if (ts.isBindingElement(node)) return node.propertyName !== undefined || isFunction(node.initializer);
  const { initializer, type } = node as { initializer?: ts.Node; type?: ts.Node };
  return isFunction(initializer) || (type !== undefined && ts.isFunctionTypeNode(type));
}

function isAtTop(node: ts.Node): boolean {
  if (ts.isVariableDeclaration(node)) return isAtTop(node.parent.parent);
  return ts.isSourceFile(node.parent);
}

function isOverload(node: ts.Node): boolean {
  return ts.isFunctionDeclaration(node) && node.body === undefined;
}

/** Names in files that were parsed before, by text. */
const known = new Map<string, NamedNode[]>();

/** Lists the declarations of a file: functions, methods, members, variables, and parameters. */
function listNames(path: string, text: string): NamedNode[] {
  const before = known.get(text);
  if (before !== undefined) return before;
  const found: NamedNode[] = [];
  known.set(text, found);
  visit(parse(path, text), (node) => {
    if (!isNameable(node) || node.name === undefined || isOverload(node)) return;
    if (!ts.isIdentifier(node.name) && !ts.isPrivateIdentifier(node.name)) return;
    const isCallable = isFunctionLike(node);
    found.push({
      name: node.name.text.replace(/^#/, ""),
      line: getLine(node),
      isFunction: isCallable,
      meaning: isCallable && isAtTop(node) ? node.getText().replace(/^export |\s+/g, " ") : undefined,
    });
  });
  return found;
}

/** Matches bounds such as `MOST_FILES`, `LEAST`, and `mostFiles`. */
const BOUND = /(?:^|_)(?:MOST|LEAST)(?:_|$)|^(?:most|least)(?![a-z])/;

/**
 * Lists the functions of a file whose names lack a verb or a noun, or do not show that they may find nothing, and bounds that
 * are not named `MAX_` or `MIN_`.
 *
 * @param allowed - Names that the field uses.
 */
export function findNameFaults(path: string, text: string, allowed: AllowedNames): string[] {
  return listNames(path, text).flatMap(({ name, line, isFunction }) => {
    if (Object.hasOwn(allowed, name)) return [];
    if (BOUND.test(name)) return [`${path}:${line} ${name}: name a bound MAX_ or MIN_`];
    if (!isFunction || !/[a-z](?:Of|In)$/.test(name)) return [];
    return [`${path}:${line} ${name}: name a function by a verb and a noun`];
  });
}

/** Folders in which each file or folder has the same steps for another format, program, or command. */
const FAMILIES = [
  "src/interop/convert/",
  "src/interop/history/sources/",
  "src/interop/import/",
  "src/apps/cli/commands/",
];

/**
 * Lists the names of functions at the top of files that have more than two meanings; in a family, a step may have one name
 * everywhere.
 *
 * @param sources - Path → text.
 * @param allowed - Names that may be shared by more.
 */
export function findSharedNames(sources: ReadonlyMap<string, string>, allowed: AllowedNames): string[] {
  const byName = new Map<string, Map<string, string>>();
  for (const [path, text] of sources) {
    const home = FAMILIES.find((family) => path.startsWith(family));
    for (const { name, meaning } of listNames(path, text)) {
      if (meaning === undefined || Object.hasOwn(allowed, name)) continue;
      const meanings = byName.get(name) ?? new Map<string, string>();
      byName.set(name, meanings.set(home ?? meaning, path));
    }
  }
  return [...byName]
    .filter(([, meanings]) => meanings.size > 2)
    .map(([name, meanings]) => `${name}: ${[...meanings.values()].join(", ")}`);
}
