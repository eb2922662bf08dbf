/** Checks the package's size in a bundled program and in `node_modules`. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildSync, type Metafile } from "esbuild";

const KB = 1000;

/** Maximum size of the package in `node_modules`, in bytes. */
const MAX_UNPACKED = 6_000 * KB;

/** Maximum size of an import in bytes, minified and compressed: with everything loaded later, and at the program's start. */
const BUDGETS = [
  { names: "SessionManager", from: "sessiontree", isForNode: true, total: 83 * KB, atStart: 65 * KB },
  {
    names: "toAnthropic, fromAnthropicResponse",
    from: "sessiontree/convert",
    isForNode: false,
    total: 24 * KB,
    atStart: 24 * KB,
  },
  { names: "convertToLlm", from: "sessiontree/core", isForNode: false, total: 4 * KB, atStart: 4 * KB },
] as const;

/** Returns the files that a bundle loads when it starts: the entry and its static imports, recursively. */
function filesAtStart({ outputs }: Metafile): ReadonlySet<string> {
  const entry = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === "<stdin>");
  const loaded = new Set(entry);
  for (const path of loaded)
    for (const one of outputs[path]?.imports ?? [])
      if (one.kind === "import-statement" && one.external !== true) loaded.add(one.path);
  return loaded;
}

/** Measures an import as a bundler leaves it, in bytes. */
function measureImport(project: string, { names, from, isForNode }: (typeof BUDGETS)[number]) {
  const { metafile, outputFiles } = buildSync({
    absWorkingDir: project,
    stdin: { contents: `export { ${names} } from "${from}";`, resolveDir: project },
    outdir: "sizes",
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: isForNode ? "node" : "browser",
    logLevel: "error",
  });
  const files = filesAtStart(metafile);
  const isAtStart = (path: string) => files.has(path.slice(path.indexOf("sizes")));
  let [total, atStart] = [0, 0];
  for (const { path, contents } of outputFiles) {
    const bytes = gzipSync(contents).length;
    total += bytes;
    if (isAtStart(path)) atStart += bytes;
  }
  return { total, atStart };
}

function toKb(bytes: number): string {
  return `${(bytes / KB).toFixed(1)} kB`;
}

function unpackedBytes(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0);
}

/**
 * Checks the sizes against their budgets.
 *
 * @param project - Folder of a project in which the package is installed.
 */
export function checkSizes(project: string): void {
  const unpacked = unpackedBytes(join(project, "node_modules/sessiontree"));
  console.log(`unpacked, the package takes ${toKb(unpacked)}`);
  const faults = unpacked > MAX_UNPACKED ? [`unpacked: ${toKb(unpacked)} of ${toKb(MAX_UNPACKED)}`] : [];
  for (const budget of BUDGETS) {
    const { total, atStart } = measureImport(project, budget);
    console.log(`${budget.names}: ${toKb(total)} compressed, ${toKb(atStart)} of them loaded at the start`);
    if (atStart === 0) faults.push(`${budget.names}: nothing was measured`);
    if (total > budget.total) faults.push(`${budget.names}: ${toKb(total)} of ${toKb(budget.total)}`);
    if (atStart > budget.atStart)
      faults.push(`${budget.names} at the start: ${toKb(atStart)} of ${toKb(budget.atStart)}`);
  }
  if (faults.length > 0) throw new Error(`Over budget, see test/tools/check-sizes.ts: ${faults.join("; ")}`);
}
