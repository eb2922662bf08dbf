import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { member, parseFacts } from "./package-facts.ts";
import { ROOT, readText, TARGET } from "./repository.ts";

function compilerOptions(): ts.CompilerOptions {
  const { config, error } = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, "\n"));
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, ROOT);
  return options;
}

/** Options of a project that sets only `strict`: the default `lib` includes the DOM, whose types differ from Node's. */
export const DEFAULT_OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  types: ["node"],
  strict: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
};

/** Import names of the package, each with its file: `sessiontree/core` → `core`. */
export const ENTRIES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(member(parseFacts(readText("package.json")), "exports"))
    .filter((subpath) => !subpath.endsWith(".json"))
    .map((subpath) => [`sessiontree${subpath.slice(1)}`, subpath === "." ? "index" : subpath.slice(2)]),
);

/** Returns the file of the package's name: a source file, or the built declarations. */
export function entryFile(name: string): string {
  return join(ROOT, TARGET === "dist" ? `dist/${name}.d.ts` : `src/${name}.ts`);
}

/** Returns the absolute path of a virtual file: in a folder from which the checkout's packages are found. */
export function inventedPath(name: string): string {
  return join(ROOT, "test/contract", name);
}

/**
 * Creates a TypeScript program of the checkout's sources, or of its built declarations in a run on dist.
 *
 * @param files - Files of the checkout to start from, by absolute path.
 * @param invented - Files that exist in this program only: path from `inventedPath` → text. They are modules, import the
 *   package as a user would, and may leave variables unused.
 * @param packages - Further packages, by import name: paths of their declarations.
 * @param base - Options of the compiler; those of this repository by default.
 */
export function createProgram(
  files: readonly string[],
  invented: ReadonlyMap<string, string> = new Map(),
  packages: { readonly [name: string]: string[] } = {},
  base: ts.CompilerOptions = compilerOptions(),
): ts.Program {
  const options: ts.CompilerOptions = {
    ...base,
    paths: {
      ...Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, [entryFile(file)]])),
      ...packages,
    },
    moduleDetection: ts.ModuleDetectionKind.Force,
    noUnusedLocals: false,
    noUnusedParameters: false,
  };
  const host = ts.createCompilerHost(options);
  const { directoryExists, fileExists, getSourceFile } = host;
  const folders = new Set(Array.from(invented.keys(), dirname));
  host.directoryExists = (name) => folders.has(name) || directoryExists?.(name) !== false;
  host.fileExists = (name) => invented.has(name) || fileExists(name);
  host.getSourceFile = (name, languageVersion, ...rest) => {
    const text = invented.get(name);
    return text === undefined
      ? getSourceFile(name, languageVersion, ...rest)
      : ts.createSourceFile(name, text, languageVersion);
  };
  return ts.createProgram([...files, ...invented.keys()], options, host);
}

/** Lists the compiler's errors in one file of a program: line and message. */
export function diagnose(program: ts.Program, path: string): { line: number; message: string }[] {
  const source = program.getSourceFile(path);
  if (source === undefined) throw new Error(`${relative(ROOT, path)} is not part of the program.`);
  const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  return found.map(({ start = 0, messageText }) => ({
    line: source.getLineAndCharacterOfPosition(start).line + 1,
    message: ts.flattenDiagnosticMessageText(messageText, "\n"),
  }));
}
