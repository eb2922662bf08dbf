import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildSync } from "esbuild";
import type { Measured } from "./child.ts";

const CHILD = fileURLToPath(new URL("./fresh.mjs", import.meta.url));
const BIN = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const NAIVE = fileURLToPath(new URL("./naive.ts", import.meta.url));

/** The plainest correct way with the same members, as one module without types. */
const NAIVE_MODULE = `
  import { naiveContext, naiveOpen } from ${JSON.stringify(NAIVE)};
  export const SessionManager = {
    open(path) {
      const session = naiveOpen(path);
      return { buildSessionContext: () => ({ messages: naiveContext(session) }) };
    },
  };
`;

let naive: string | undefined;

function naiveModule(): string {
  if (naive !== undefined && existsSync(naive)) return naive;
  naive = join(mkdtempSync(join(tmpdir(), "sessiontree-bench-")), "naive.mjs");
  buildSync({
    stdin: { contents: NAIVE_MODULE, resolveDir: "/" },
    outfile: naive,
    bundle: true,
    format: "esm",
    platform: "node",
  });
  return naive;
}

/** Measures importing a module, opening a session with it, or both, each in a process that has just started. */
export function measureFresh(
  implementation: string,
  modules: { readonly ours: string; readonly pi: string },
  measure: string,
  path: string,
): Measured {
  const module =
    implementation === "ours"
      ? new URL(modules.ours, import.meta.url).href
      : pathToFileURL(implementation === "pi" ? modules.pi : naiveModule()).href;
  const output = execFileSync(process.execPath, [CHILD, module, measure, path], { encoding: "utf8" });
  const measured: Measured = JSON.parse(output);
  return measured;
}

/** Measures a command of the command line as a whole process, less a process of Node that does nothing. */
export function measureCommand(command: string, path: string, cache: string): Measured {
  const operands = command === "list" ? ["--dir", dirname(path)] : command.startsWith("-") ? [] : [path];
  const timeOf = (args: readonly string[]) => {
    const start = performance.now();
    execFileSync(process.execPath, args, {
      stdio: "ignore",
      env: { ...process.env, XDG_CACHE_HOME: cache, NO_COLOR: "1" },
    });
    return performance.now() - start;
  };
  const bare = timeOf(["--input-type=module", "-e", "0"]);
  const whole = timeOf([BIN, command, ...operands]);
  return { ms: whole - bare, result: 1, rssBeforeMb: 0, rssMb: 0 };
}
