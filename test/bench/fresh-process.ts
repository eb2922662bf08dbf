import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildSync } from "esbuild";
import type { Measured } from "./child.ts";

const CHILD = fileURLToPath(new URL("./fresh.mjs", import.meta.url));
const BIN = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const NAIVE = fileURLToPath(new URL("./naive.ts", import.meta.url));

/** The plainest correct implementation with the same members, as one module without types. */
const NAIVE_MODULE = `
  import { naiveAppend, naiveContext, naiveOpen } from ${JSON.stringify(NAIVE)};
  export const SessionManager = {
    create(cwd, folder) {
      const file = folder + "/a.jsonl";
      const session = { entries: [], byId: new Map() };
      let parentId = null;
      naiveAppend(file, { type: "session", version: 3, id: "a", timestamp: new Date().toISOString(), cwd });
      return {
        appendMessage(message) {
          const id = session.entries.length.toString(16).padStart(8, "0");
          const entry = { type: "message", id, parentId, timestamp: new Date().toISOString(), message };
          naiveAppend(file, entry);
          session.entries.push(entry);
          session.byId.set(id, entry);
          parentId = id;
        },
        buildSessionContext: () => ({ messages: naiveContext(session) }),
      };
    },
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

/** Measures of a new session, in a separate folder. */
const ON_NEW_SESSION = new Set(["turns", "appends"]);

/** Measures importing a module, and the first operations of a user with it, in a newly started process: see `fresh.mjs`. */
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
  const folder = ON_NEW_SESSION.has(measure) ? mkdtempSync(join(tmpdir(), "sessiontree-bench-")) : undefined;
  try {
    const args = [CHILD, module, measure, folder ?? path];
    const measured: Measured = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
    return measured;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true });
  }
}

/** Measures a command of the command line as a whole process, minus a process of Node that does nothing. */
export function measureCommand(command: string, path: string, cache: string): Measured {
  const operands = command === "list" ? ["--dir", dirname(path)] : command.startsWith("-") ? [] : [path];
  const measureMs = (args: readonly string[]) => {
    const start = performance.now();
    execFileSync(process.execPath, args, {
      stdio: "ignore",
      env: { ...process.env, XDG_CACHE_HOME: cache, NO_COLOR: "1" },
    });
    return performance.now() - start;
  };
  const bare = measureMs(["--input-type=module", "-e", "0"]);
  const whole = measureMs([BIN, command, ...operands]);
  return { ms: whole - bare, result: 1, rssBeforeMb: 0, rssMb: 0 };
}
