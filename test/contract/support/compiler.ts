import { join, relative } from "node:path";
import ts from "typescript";
import { ROOT, TARGET } from "./repository.ts";

function compilerOptions(): ts.CompilerOptions {
  const { config, error } = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, "\n"));
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, ROOT);
  return options;
}

/** What a user imports the package by, and the file that each name stands for. */
export const ENTRIES = {
  sessiontree: "index",
  "sessiontree/core": "core",
  "sessiontree/import": "import",
  "sessiontree/postgres": "postgres",
  "sessiontree/testing": "testing",
} as const;

/** Gives the file that the package's name stands for: a source file, or the built declarations. */
export function entryFile(name: (typeof ENTRIES)[keyof typeof ENTRIES]): string {
  return join(ROOT, TARGET === "dist" ? `dist/${name}.d.ts` : `src/${name}.ts`);
}

/** Gives an invented file its absolute path: in a folder from which the checkout's packages are found. */
export function inventedPath(name: string): string {
  return join(ROOT, "test/contract", name);
}

/**
 * Makes a TypeScript program of the checkout's sources, or of its built declarations in a run on dist.
 *
 * @param files - Files of the checkout to start from, by absolute path.
 * @param invented - Files that exist in this program only: path from `inventedPath` → text. They are
 * modules, import the package as a user would, and may leave variables unused.
 */
export function createProgram(
  files: readonly string[],
  invented: ReadonlyMap<string, string> = new Map(),
): ts.Program {
  const options: ts.CompilerOptions = {
    ...compilerOptions(),
    paths: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, [entryFile(file)]])),
    moduleDetection: ts.ModuleDetectionKind.Force,
    noUnusedLocals: false,
    noUnusedParameters: false,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (name) => invented.has(name) || fileExists(name);
  host.getSourceFile = (name, languageVersion, ...rest) => {
    const text = invented.get(name);
    return text === undefined
      ? getSourceFile(name, languageVersion, ...rest)
      : ts.createSourceFile(name, text, languageVersion);
  };
  return ts.createProgram([...files, ...invented.keys()], options, host);
}

/** Lists what the compiler finds wrong in one file of a program: line and message. */
export function diagnose(program: ts.Program, path: string): { line: number; message: string }[] {
  const source = program.getSourceFile(path);
  if (source === undefined) throw new Error(`${relative(ROOT, path)} is not part of the program.`);
  const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  return found.map(({ start = 0, messageText }) => ({
    line: source.getLineAndCharacterOfPosition(start).line + 1,
    message: ts.flattenDiagnosticMessageText(messageText, "\n"),
  }));
}
