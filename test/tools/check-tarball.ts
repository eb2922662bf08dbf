/**
 * Packs the package, installs the tarball in an empty project outside the checkout, and uses it there as a user would: runs it,
 * runs its command, compiles against its declarations, and bundles it. Needs a build.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { checkBundles } from "./check-bundles.ts";
import { checkSizes } from "./check-sizes.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const consumer = fileURLToPath(new URL("consumer/", import.meta.url));

/** Runs a command to its end and returns its output; its stderr goes to ours. */
function run(cwd: string, env: NodeJS.ProcessEnv, command: string, ...args: string[]): string {
  // On Windows, npm and npx are shell scripts.
  const shell = process.platform === "win32" && command !== process.execPath;
  return execFileSync(command, args, {
    cwd,
    env,
    shell,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}

function npm(cwd: string, ...args: string[]): string {
  return run(cwd, process.env, "npm", ...args, "--no-fund", "--no-audit", "--silent");
}

/** Runs a command of the project with the project as home folder, so that nothing reaches the user's. */
function runAtHome(project: string, command: string, ...args: string[]): string {
  return run(project, { ...process.env, HOME: project, USERPROFILE: project }, command, ...args);
}

/** Returns the release of a package that the checkout itself uses. */
function installedVersion(name: string): string {
  const facts: unknown = JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8"));
  if (typeof facts === "object" && facts !== null && "version" in facts) return String(facts.version);
  throw new Error(`${name} is not installed: run npm ci.`);
}

/** Compiles one file of the consumer's project with every check, including those of our declarations. */
function compile(project: string, file: string, options: object): void {
  const compilerOptions = {
    target: "ES2022",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    skipLibCheck: false,
    noEmit: true,
    ...options,
  };
  const config = `tsconfig.${file}.json`;
  writeFileSync(join(project, config), JSON.stringify({ compilerOptions, files: [file] }));
  runAtHome(project, "npx", "--no-install", "tsc", "--project", config);
  console.log(`${file} compiles against the declarations`);
}

/** Returns the number of files loaded for a file of the package: itself and its static imports, recursively. */
function countLoaded(folder: string, file: string): number {
  const { metafile } = buildSync({
    absWorkingDir: folder,
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    packages: "external",
  });
  const loaded = new Set([file]);
  for (const path of loaded) {
    const imports = metafile.inputs[path]?.imports ?? [];
    for (const one of imports) if (one.kind === "import-statement" && !one.external) loaded.add(one.path);
  }
  return loaded.size;
}

/** Checks that few files are loaded, which the chunks of tsup.config.ts ensure. */
function checkChunks(folder: string): void {
  for (const [file, max] of [
    ["index.js", 3],
    ["bin.js", 3],
  ] as const) {
    const count = countLoaded(folder, file);
    if (count === 1 || count > max)
      throw new Error(`${file} loads ${count} files; a few, at most ${max}, are right: see tsup.config.ts`);
    console.log(`${file} loads ${count} files`);
  }
}

/** Checks that no file of the build names a folder of this machine. */
function checkPaths(folder: string): void {
  const files = readdirSync(folder).filter((file) => file.endsWith(".js"));
  const naming = files.filter((file) => readFileSync(join(folder, file), "utf8").includes(root.slice(0, -1)));
  if (naming.length > 0) throw new Error(`files that name a folder of this machine: ${naming.join(", ")}`);
}

/** Checks that no declaration needs zod's types, so that users of another schema library need not install it. */
function checkDeclarations(folder: string): void {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".d.ts"),
  );
  const naming = files.filter((file) =>
    /^(?! *\*).*["']zod\b/m.test(readFileSync(join(folder, file), "utf8")),
  );
  if (files.length === 0 || naming.length > 0)
    throw new Error(`declarations that name zod: ${naming.join(", ") || "none at all"}`);
  console.log(`${files.length} files of declarations name no zod`);
}

/** Runs the README's first examples, where the package has them. */
function runExamples(project: string): void {
  for (const name of ["agent-runtime", "chat-app", "extension"]) {
    const example = `node_modules/sessiontree/docs/examples/${name}.ts`;
    const said = runAtHome(project, process.execPath, "--import", import.meta.resolve("tsx"), example);
    if (said.trim() === "") throw new Error(`${example} says nothing`);
    console.log(`${name}.ts runs`);
  }
}

/** Size of a file that another process reads. */
const LARGE_BYTES = 66 * 1024 ** 2;

/** Imports a session of Claude Code that is so large that another process reads it. */
function runLargeImport(project: string): void {
  const sessionId = "11111111-2222-4333-8444-555555555555";
  const folder = join(project, ".claude/projects/-large");
  const said = { role: "user", content: "x".repeat(LARGE_BYTES) };
  const record = { type: "user", uuid: "a", parentUuid: null, sessionId, cwd: "/large", message: said };
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, `${sessionId}.jsonl`),
    `${JSON.stringify({ ...record, timestamp: "2026-02-03T04:05:06.000Z" })}\n`,
  );
  const result = runAtHome(project, "npx", "--no-install", "sessiontree", "import", "--all");
  if (!/1 new/.test(result)) throw new Error(`the import of a large session printed: ${result}`);
  console.log("a large session is imported by another process");
}

function check(project: string): void {
  const packed = npm(root, "pack", "--ignore-scripts", `--pack-destination=${project}`).trim();
  const tarball = join(project, packed.split("\n").at(-1) ?? "");
  writeFileSync(join(project, "package.json"), '{"name":"consumer","private":true,"type":"module"}\n');
  const tools = ["typescript", "@types/node"].map((name) => `${name}@${installedVersion(name)}`);
  npm(project, "install", "--ignore-scripts", tarball, `ai@${installedVersion("ai6")}`, ...tools);
  cpSync(consumer, project, { recursive: true });

  const dist = join(project, "node_modules/sessiontree/dist");
  checkPaths(dist);
  checkDeclarations(dist);
  checkChunks(dist);
  // Not subpaths: the code finds them by name, and works without them.
  for (const name of ["sessiontree-import-worker.js", "sessiontree-search-worker.js"])
    if (!existsSync(join(dist, name))) throw new Error(`${name} is missing`);

  runAtHome(project, process.execPath, "names.mjs");
  const session = runAtHome(project, process.execPath, "run.mjs").trim();
  if (!existsSync(session)) throw new Error(`run.mjs left no session at ${session}`);
  console.log("a session in memory, one on disk, and core: as they should be");

  const command = (...args: string[]) => runAtHome(project, "npx", "--no-install", "sessiontree", ...args);
  for (const args of [
    ["verify", session],
    ["tree", session],
    ["context", session, "--json"],
    ["export", session, "--html", "-o", "page.html"],
    ["--help"],
  ]) {
    console.log(`$ sessiontree ${args.join(" ")}\n${command(...args)}`);
  }

  runLargeImport(project);
  runExamples(project);
  compile(project, "types.ts", { module: "NodeNext", moduleResolution: "NodeNext", types: ["node"] });
  compile(project, "core-types.ts", {
    module: "ESNext",
    moduleResolution: "Bundler",
    lib: ["ES2022", "DOM"],
    types: [],
  });
  checkBundles(project);
  checkSizes(project);
}

const project = mkdtempSync(join(tmpdir(), "sessiontree-consumer-"));
try {
  check(project);
} finally {
  rmSync(project, { recursive: true, force: true });
}
