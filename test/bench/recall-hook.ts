/**
 * Measures `sessiontree recall --hook` on a thousand sessions of one project: the time that an agent waits, beyond a process of
 * Node that does nothing. Options: --calls N (of each event, default 100), --sessions N, --kb N (of each session), --data FOLDER.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { joinProjectFolder } from "../../src/session/log/session-paths.ts";
import { codingSessions, FAILURES, FILES, pickFrequent } from "./coding-sessions.ts";
import { seededRandom } from "./data.ts";

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "100" },
    sessions: { type: "string", default: "1000" },
    kb: { type: "string", default: "250" },
    data: { type: "string", default: join(tmpdir(), "sessiontree-bench-data") },
  },
});

/** Maximum latency in milliseconds: the 95th percentile, and of any call. */
const BOUNDS = { usual: 300, longest: 500 };

const BIN = new URL("../../dist/bin.js", import.meta.url).pathname;
const home = join(values.data, `hook-${values.sessions}-${values.kb}`);
const cwd = join(home, "shop");
mkdirSync(cwd, { recursive: true });
const agent = join(home, "agent");
codingSessions(
  joinProjectFolder(join(agent, "sessions"), cwd),
  cwd,
  Number(values.sessions),
  Number(values.kb) * 1000,
);

const env = {
  ...process.env,
  PI_CODING_AGENT_DIR: agent,
  XDG_CACHE_HOME: join(home, "cache"),
  XDG_DATA_HOME: join(home, "data"),
};
const random = seededRandom(7);
const common = { session_id: "running", transcript_path: join(home, "none.jsonl"), cwd };

const EVENTS: readonly (readonly [name: string, makeInput: () => object])[] = [
  ["start of a session", () => ({ ...common, hook_event_name: "SessionStart", source: "startup" })],
  [
    "failed command, known",
    () => {
      const { command, output } = pickFrequent(FAILURES, random);
      return failure(command, `Exit code 1\n${output}`);
    },
  ],
  [
    "failed command, new",
    () =>
      failure(
        "cargo build --release",
        `Exit code 101\nerror[E0${Math.floor(random() * 1000)}]: mismatched lifetimes`,
      ),
  ],
  ["before an edit", () => edit(join(cwd, pickFrequent(FILES, random)))],
  ["before an edit of a new file", () => edit(join(cwd, `src/new/file-${Math.floor(random() * 1e6)}.ts`))],
];

function failure(command: string, error: string): object {
  return {
    ...common,
    hook_event_name: "PostToolUseFailure",
    tool_name: "Bash",
    tool_input: { command },
    error,
  };
}

function edit(file_path: string): object {
  return { ...common, hook_event_name: "PreToolUse", tool_name: "Edit", tool_input: { file_path } };
}

function runNode(args: readonly string[], input?: string): { ms: number; output: string } {
  const start = performance.now();
  const output = execFileSync(process.execPath, args, {
    ...(input !== undefined && { input }),
    env,
    encoding: "utf8",
  });
  return { ms: performance.now() - start, output };
}

const sorted = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b);
const at = (numbers: readonly number[], part: number) =>
  numbers[Math.min(numbers.length - 1, Math.floor(numbers.length * part))] ?? Number.NaN;

function warmUp(): number {
  // A list fills the cache of summaries, and searches fill that of the texts' filters.
  const start = performance.now();
  execFileSync(process.execPath, [BIN, "list", "--all"], { cwd, env, stdio: "ignore" });
  for (const word of ["rounding", "currency"])
    execFileSync(process.execPath, [BIN, "search", word, "--all", "--limit", "100000"], {
      cwd,
      env,
      stdio: "ignore",
    });
  return performance.now() - start;
}

console.log(`first list and searches: ${warmUp().toFixed(0)} ms`);
for (const [name, makeInput] of EVENTS) {
  const bare: number[] = [];
  const beyond: number[] = [];
  let [answers, maxBytes] = [0, 0];
  for (let i = 0; i < Number(values.calls); i++) {
    const { ms: bareMs } = runNode(["--input-type=module", "-e", "0"]);
    const { ms, output } = runNode([BIN, "recall", "--hook"], JSON.stringify(makeInput()));
    bare.push(bareMs);
    beyond.push(ms);
    if (output !== "") answers++;
    maxBytes = Math.max(maxBytes, Buffer.byteLength(output));
  }
  // One start of Node may be disturbed; the usual time is subtracted.
  const usual = at(sorted(bare), 0.5);
  const times = sorted(beyond.map((ms) => ms - usual));
  const [p50, p95, max] = [at(times, 0.5), at(times, 0.95), at(times, 1)];
  const isMet = p95 <= BOUNDS.usual && max <= BOUNDS.longest;
  console.log(
    `${name.padEnd(30)} bare ${usual.toFixed(0).padStart(4)} ms, beyond: median ${p50.toFixed(0).padStart(4)}, 95 of 100 ${p95.toFixed(0).padStart(4)}, longest ${max.toFixed(0).padStart(4)} ms; ${answers} answers, at most ${maxBytes} bytes${isMet ? "" : "  TOO SLOW"}`,
  );
}
