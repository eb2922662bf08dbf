/** Bundles an installed package with the usual bundlers, for Node and for other platforms, and runs the bundles. */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BUNDLE = fileURLToPath(new URL("bundle.mjs", import.meta.url));

/** Bundlers of `bundle.mjs`. */
const BUNDLERS = ["esbuild", "esbuild-neutral", "rollup", "vite", "webpack"];

/** A program to bundle, and the expected output of its bundle. */
const PROGRAMS = [
  { entry: "run.mjs", isForNode: true, status: 0, shows: /sessions.*\.jsonl/ },
  { entry: "worker.mjs", isForNode: false, status: 0, shows: /1 session in memory/ },
  { entry: "root-in-browser.mjs", isForNode: false, status: 1, shows: /import from sessiontree\/core/ },
] as const;

/** Lists Node's modules that the files of a bundle import. */
function listNodeImports(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".js"))
    .flatMap((file) => {
      const found = readFileSync(join(folder, file), "utf8").matchAll(
        /(?:from|import)\s*\(?["'](node:\w+)["']/g,
      );
      return Array.from(found, ([, name]) => `${file} imports ${name}`);
    });
}

/**
 * Bundles each program with each bundler and runs it.
 *
 * @param project - Folder of a project in which the package is installed.
 */
export function checkBundles(project: string): void {
  for (const name of BUNDLERS)
    for (const { entry, isForNode, status, shows } of PROGRAMS) {
      const folder = join(project, "bundles", name, entry);
      const platform = isForNode ? "node" : "browser";
      execFileSync(process.execPath, [BUNDLE, name, project, entry, folder, platform], { stdio: "inherit" });
      const foreign = isForNode ? [] : listNodeImports(folder);
      if (foreign.length > 0) throw new Error(`Bundled with ${name}: ${foreign.join(", ")}`);
      const env = { ...process.env, HOME: project, USERPROFILE: project };
      const options = { cwd: project, env, encoding: "utf8" } as const;
      const done = spawnSync(process.execPath, [join(folder, "main.js")], options);
      if (done.status !== status || !shows.test(done.stdout + done.stderr))
        throw new Error(
          `${entry}, bundled with ${name}, ends with ${done.status}: ${done.stdout}${done.stderr}`,
        );
      console.log(`${entry}, bundled with ${name}, runs as it should`);
    }
}
