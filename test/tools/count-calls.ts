/**
 * Counts which functions of the sources an open, a first context, and an append run, as V8 counts them, in a newly started
 * process: `npx tsx test/tools/count-calls.ts` prints the counts, and with `--names` each function.
 */
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transformSync } from "esbuild";

const SOURCES = fileURLToPath(new URL("../../src/", import.meta.url));
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/sessiontree/", import.meta.url));

/** Functions that one operation runs. */
export interface Count {
  readonly files: number;
  readonly functions: number;
  readonly calls: number;
  /** File, function, and number of calls, in the order of files. */
  readonly names: readonly string[];
}

/** Operations that are counted. */
export type Operation = "open" | "context" | "appendAndContext";

/** Runs in the measured process: plain JavaScript, so that nothing else is loaded. */
const PROGRAM = `
  import { Session } from "node:inspector";
  import { writeFileSync } from "node:fs";
  const [module, path] = process.argv.slice(2);
  const inspector = new Session();
  inspector.connect();
  const post = (method, params) => {
    let answer;
    inspector.post(method, params, (error, result) => {
      if (error) throw error;
      answer = result;
    });
    return answer;
  };
  const { SessionManager } = await import(module);
  post("Profiler.enable");
  post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const counts = {};
  const count = (name, call) => {
    post("Profiler.takePreciseCoverage");
    const result = call();
    counts[name] = post("Profiler.takePreciseCoverage").result;
    return result;
  };
  const user = (content) => ({ role: "user", content, timestamp: 1770109205000 });
  const session = count("open", () => SessionManager.open(path));
  count("context", () => session.buildSessionContext());
  count("firstAppend", () => session.appendMessage(user("First.")));
  session.buildSessionContext();
  count("appendAndContext", () => {
    session.appendMessage(user("Later."));
    session.buildSessionContext();
  });
  console.log(JSON.stringify(counts));
`;

/** Creates a session of ordinary entries, as this library and pi write them. */
function ordinarySession(entries: number): string {
  const lines: object[] = [
    {
      type: "session",
      version: 3,
      id: "counted",
      timestamp: "2026-02-03T09:00:00.000Z",
      cwd: "/home/ada/till",
    },
  ];
  for (let i = 0; i < entries; i++) {
    const content = [{ type: "text", text: `Message ${i}.` }];
    const timestamp = 1_770_109_205_000 + i;
    lines.push({
      type: "message",
      id: i.toString(16).padStart(8, "0"),
      parentId: i === 0 ? null : (i - 1).toString(16).padStart(8, "0"),
      timestamp: new Date(timestamp).toISOString(),
      message:
        i % 2 === 0
          ? { role: "user", content, timestamp }
          : { role: "assistant", content, provider: "p", model: "m", stopReason: "stop", timestamp },
    });
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Writes each source as a separate module without types, so that functions are counted where they are written. */
function transpileSources(folder: string): void {
  for (const name of readdirSync(SOURCES, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts") || name.endsWith(".d.ts") || name.startsWith("apps/page/")) continue;
    const { code } = transformSync(readFileSync(join(SOURCES, name), "utf8"), {
      loader: "ts",
      format: "esm",
      target: "node20",
    });
    const target = join(folder, name.replace(/\.ts$/, ".mjs"));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code.replaceAll(/((?:from|import\(?)\s*"\.[^"]*)\.ts"/g, '$1.mjs"'));
  }
}

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    functionName: string;
    ranges: readonly { startOffset: number; count: number }[];
  }[];
}

function countCalled(scripts: readonly ScriptCoverage[], folder: string): Count {
  const root = pathToFileURL(`${folder}/`).href;
  const files = new Set<string>();
  const names: string[] = [];
  let [functions, calls] = [0, 0];
  for (const { url, functions: all } of scripts) {
    if (!url.startsWith(root)) continue;
    for (const { functionName, ranges } of all) {
      const { count = 0, startOffset = 0 } = ranges[0] ?? {};
      // Loading a module is not a function call.
      if (count === 0 || (functionName === "" && startOffset === 0)) continue;
      files.add(url);
      functions++;
      calls += count;
      names.push(
        `${url.slice(root.length).replace(/\.mjs$/, ".ts")} ${functionName || "(anonymous)"} ${count}`,
      );
    }
  }
  return { files: files.size, functions, calls, names };
}

/** Counts the operations' calls on a session with a number of ordinary entries. */
export function countCalls(
  entries = 40,
): { readonly [operation in Operation]: Count } & { firstAppend: Count } {
  mkdirSync(CACHE, { recursive: true });
  // Inside node_modules, so that packages resolve.
  const folder = mkdtempSync(join(CACHE, "counted-"));
  try {
    const sources = join(folder, "src");
    transpileSources(sources);
    const session = join(folder, "session.jsonl");
    const program = join(folder, "count.mjs");
    writeFileSync(session, ordinarySession(entries));
    // The session was written a while ago, as most opened sessions were.
    utimesSync(session, 1_770_000_000, 1_770_000_000);
    writeFileSync(program, PROGRAM);
    const args = [program, pathToFileURL(join(sources, "index.mjs")).href, session];
    const output = execFileSync(process.execPath, args, { encoding: "utf8", maxBuffer: 2 ** 28 });
    const raw: { [name: string]: ScriptCoverage[] } = JSON.parse(output);
    const of = (name: string) => countCalled(raw[name] ?? [], sources);
    return {
      open: of("open"),
      context: of("context"),
      firstAppend: of("firstAppend"),
      appendAndContext: of("appendAndContext"),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [operation, { files, functions, calls, names }] of Object.entries(countCalls())) {
    console.log(`${operation}: ${files} files, ${functions} functions, ${calls} calls`);
    if (process.argv.includes("--names")) for (const name of names) console.log(`  ${name}`);
  }
}
