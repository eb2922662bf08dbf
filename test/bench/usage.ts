/**
 * Measures `sessiontree stats` over a thousand made-up sessions with 30 calls each, with the price table and without.
 *
 * Usage: npx tsup --silent && npx tsx test/bench/usage.ts [--runs 11]
 * Each measurement is a separate process; commands alternate. Prints for each the median, and the ratio to the command
 * without prices. `node` is an empty program.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "11" },
    data: { type: "string", default: join(tmpdir(), "sessiontree-bench-data") },
  },
});

const SESSIONS = 1_000;
const CALLS = 30;
const MODELS = [
  ["anthropic", "claude-sonnet-4-5"],
  ["openai", "gpt-5-codex"],
  ["google", "gemini-2.5-pro"],
  ["anthropic", "claude-opus-4-1"],
] as const;
const FREE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

function writeSession(folder: string, n: number): void {
  const start = Date.UTC(2026, 0, 1) + n * 7_000_000;
  const [provider, model] = MODELS[n % MODELS.length] ?? MODELS[0];
  const toIso = (ms: number) => new Date(ms).toISOString();
  const lines: object[] = [
    { type: "session", version: 3, id: `u${n}`, timestamp: toIso(start), cwd: `/projects/${n % 20}` },
  ];
  let parentId: string | null = null;
  for (let i = 0; i < CALLS * 2; i++) {
    const id = String(i).padStart(8, "0");
    const timestamp = start + i * 60_000;
    const usage = { input: i * 1000, output: 100, cacheRead: i * 5000, cacheWrite: 10, cost: FREE };
    const answer = {
      role: "assistant",
      content: [{ type: "text", text: "x".repeat(300) }],
      ...{ provider, model, api: "made-up", stopReason: "stop", timestamp },
      usage: { ...usage, totalTokens: i * 6000 + 110 },
    };
    const message = i % 2 === 1 ? answer : { role: "user", content: "continue", timestamp };
    lines.push({ type: "message", id, parentId, timestamp: toIso(timestamp), message });
    parentId = id;
  }
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(join(folder, `u${n}.jsonl`), text);
}

/** Returns a folder with the sessions; creates them unless an earlier run did. */
function makeSessions(): string {
  const folder = join(values.data, `usage-${SESSIONS}`);
  if (existsSync(folder)) return folder;
  const temporary = `${folder}.tmp`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  for (let n = 0; n < SESSIONS; n++) writeSession(temporary, n);
  renameSync(temporary, folder);
  return folder;
}

const sessions = makeSessions();
const noPrices = join(values.data, "no-prices.json");
writeFileSync(noPrices, "{}");
const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const stats = [bin, "stats", "--all", "--dir", sessions, "--json"];
const commands: ReadonlyMap<string, readonly string[]> = new Map([
  ["node", ["--eval", "0"]],
  ["without prices", [...stats, "--prices", noPrices]],
  ["with prices", stats],
  ["with prices, by model", [...stats, "--by", "model"]],
  ["with prices, by day", [...stats, "--by", "day"]],
]);
const env = { ...process.env, XDG_CACHE_HOME: join(values.data, "cache") };
const times = new Map<string, number[]>();
// The first round fills the cache of summaries.
for (let run = -1; run < Number(values.runs); run++) {
  for (const [name, args] of commands) {
    const start = performance.now();
    execFileSync(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 });
    if (run >= 0) times.set(name, [...(times.get(name) ?? []), performance.now() - start]);
  }
}
const getMedian = (name: string) => {
  const all = (times.get(name) ?? []).toSorted((a, b) => a - b);
  return all[all.length >> 1] ?? Number.NaN;
};
for (const name of commands.keys()) {
  const ratio = getMedian(name) / getMedian("without prices");
  console.log(`${name.padEnd(24)} ${getMedian(name).toFixed(0).padStart(5)} ms  ${ratio.toFixed(2)}`);
}
