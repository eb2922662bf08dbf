import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import ts from "typescript";
import { removeFolder } from "../../support/remove-folder.ts";
import { PACKAGE_HOMES } from "./architecture.ts";
import { ENTRIES } from "./compiler.ts";
import type { DocProgram } from "./doc-programs.ts";
import { member, parseFacts } from "./package-facts.ts";
import { ROOT, readText, TARGET } from "./repository.ts";

const TIMEOUT_MS = 100_000;

/** Creates a link to a folder, and the folders above it. */
export function link(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(from, to, "junction");
}

/** Installs the package where programs below `folder` find it. */
export async function install(folder: string): Promise<void> {
  const packages = join(folder, "node_modules");
  // A program may import dependencies of the package, such as zod for a schema: npm installs them next to the package. The same
  // applies to packages that a host installs for it, such as a database.
  const peers = member(parseFacts(readText("package.json")), "peerDependencies");
  const names = new Set([...Object.keys(PACKAGE_HOMES), ...Object.keys(peers)]);
  for (const name of names) link(join(ROOT, "node_modules", name), join(packages, name));
  if (TARGET === "dist") return link(ROOT, join(packages, "sessiontree"));
  const home = join(packages, "sessiontree");
  await build({
    entryPoints: Object.fromEntries(
      Object.values(ENTRIES).map((name) => [name, join(ROOT, `src/${name}.ts`)]),
    ),
    outdir: join(home, "dist"),
    bundle: true,
    logLevel: "error",
    splitting: true,
    format: "esm",
    platform: "node",
    packages: "external",
    sourcemap: "inline",
  });
  cpSync(join(ROOT, "package.json"), join(home, "package.json"));
}

/** Temporary folder, with the package installed, in which programs run. */
export interface Workshop {
  /**
   * Runs a program in a separate process, working directory, and home folder.
   *
   * @param times - Number of runs, one after the other in the same folders.
   * @returns Error output of the process; undefined if it succeeded.
   */
  run(program: DocProgram, times?: number): Promise<string | undefined>;
  /** Removes the folder. */
  remove(): void;
}

/** Creates a workshop in the system's folder for temporary files. */
export async function openWorkshop(): Promise<Workshop> {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-docs-"));
  const remove = () => removeFolder(folder);
  try {
    await install(folder);
  } catch (error) {
    remove();
    throw error;
  }
  let count = 0;
  return {
    remove,
    async run(program, times = 1) {
      count += 1;
      const home = join(folder, `program-${count}`);
      const script = join(home, "program.mjs");
      mkdirSync(home);
      writeFileSync(script, transpile(program));
      for (let time = 1; time <= times; time++) {
        const fault = await execute(script, home);
        if (fault !== undefined) return times === 1 ? fault : `run ${time} of ${times}: ${fault}`;
      }
      return undefined;
    },
  };
}

function transpile(program: DocProgram): string {
  const { outputText } = ts.transpileModule(program.text, {
    fileName: program.file,
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
      verbatimModuleSyntax: true,
      inlineSourceMap: true,
      inlineSources: true,
    },
  });
  return outputText;
}

function execute(script: string, home: string): Promise<string | undefined> {
  const { PATH, SystemRoot } = process.env;
  const env = { PATH, SystemRoot, HOME: home, USERPROFILE: home, TMPDIR: home, TEMP: home, TMP: home };
  const options = { cwd: home, env, timeout: TIMEOUT_MS };
  return new Promise((resolve) => {
    execFile(process.execPath, ["--enable-source-maps", script], options, (error, _stdout, stderr) => {
      if (error === null) resolve(undefined);
      else resolve(error.killed ? `did not end within ${TIMEOUT_MS} ms` : stderr || error.message);
    });
  });
}
