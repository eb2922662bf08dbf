import ts from "typescript";
import { createProgram, ENTRIES, entryFile } from "./compiler.ts";

/** Exports of a module: name → kind. */
export type PublicNames = Readonly<Record<string, string>>;

/** Path of the checked-in list of exports per entry point. */
export const PUBLIC_NAMES_PATH = "test/contract/public-names.json";

const KINDS: readonly [ts.SymbolFlags, string][] = [
  [ts.SymbolFlags.Class, "class"],
  [ts.SymbolFlags.Function, "function"],
  [ts.SymbolFlags.Variable, "const"],
  [ts.SymbolFlags.Enum, "enum"],
  [ts.SymbolFlags.Interface, "interface"],
  [ts.SymbolFlags.TypeAlias, "type"],
  [ts.SymbolFlags.Module, "namespace"],
];

function isTypeOnly(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some(
    (declaration) => ts.isExportSpecifier(declaration) && ts.isTypeOnlyExportDeclaration(declaration),
  );
}

function getKind(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const kinds = KINDS.filter(([flag]) => target.flags & flag).map(([, kind]) => kind);
  const isValue = (target.flags & ts.SymbolFlags.Value) !== 0;
  return `${isValue && isTypeOnly(symbol) ? "type of " : ""}${kinds.join(" and ") || "unresolved"}`;
}

/** Reads the exports of a program's module, sorted by name. */
export function readExports(program: ts.Program, path: string): PublicNames {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const symbol = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (symbol === undefined) throw new Error(`${path} is no module.`);
  const exported = checker.getExportsOfModule(symbol);
  const pairs = exported.map((item) => [item.name, getKind(item, checker)] as const);
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Creates a program of all entry points, which takes seconds. */
export function createEntriesProgram(): ts.Program {
  return createProgram(Object.values(ENTRIES).map(entryFile));
}

/** Lists the exported classes and interfaces that have a `close` and no `Symbol.asyncDispose`. */
export function findUndisposable(program: ts.Program, path: string): string[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const symbol = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (symbol === undefined) throw new Error(`${path} is no module.`);
  return checker.getExportsOfModule(symbol).flatMap((item) => {
    const target = item.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(item) : item;
    if (!(target.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface))) return [];
    const members = checker.getDeclaredTypeOfSymbol(target).getProperties();
    const isClosable = members.some(({ name }) => name === "close");
    const isDisposable = members.some(({ name }) => name.startsWith("__@asyncDispose"));
    return isClosable && !isDisposable ? [item.name] : [];
  });
}

/** Reads the current exports of the package, by entry point. */
export function readPublicNames(program = createEntriesProgram()): Readonly<Record<string, PublicNames>> {
  return Object.fromEntries(
    Object.entries(ENTRIES).map(([name, file]) => [name, readExports(program, entryFile(file))]),
  );
}

/** Lists the differences between the exports and the list: one line for each name. */
export function compareNames(listed: PublicNames, exported: PublicNames): string[] {
  const faults: string[] = [];
  for (const name of new Set([...Object.keys(listed), ...Object.keys(exported)])) {
    const was = listed[name];
    const is = exported[name];
    if (was === is) continue;
    if (was === undefined) faults.push(`+ ${is} ${name}: exported, not in the list`);
    else if (is === undefined) faults.push(`- ${was} ${name}: in the list, not exported`);
    else faults.push(`! ${name}: the list says ${was}, it is ${is}`);
  }
  return faults;
}
