/**
 * Runs all benchmarks and prints a table, or JSON with --json. Options: --runs N (default 5), --huge, --only TEXT.
 *
 * Every measurement is a process of its own; implementations take turns, and the median counts.
 */
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Measured } from "./child.ts";
import { sessionFile, sessionFolder } from "./data.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    huge: { type: "boolean", default: false },
    runs: { type: "string", default: "5" },
    only: { type: "string", default: "" },
    data: { type: "string", default: join(tmpdir(), "sessiontree-bench-data") },
  },
});

const data = values.data;
const child = new URL("./child.ts", import.meta.url).pathname;
const cache = join(data, "cache");
mkdirSync(cache, { recursive: true });

const file = (name: string, entries: number, compactEvery: number, imageEvery = 0) =>
  sessionFile(join(data, name), { entries, textBytes: 900, compactEvery, imageEvery, seed: entries });

interface Row {
  readonly name: string;
  readonly measure: string;
  readonly path: () => string;
  readonly implementations: readonly string[];
  /** Run before each measurement. */
  readonly before?: () => void;
}

const dropCache = () => rmSync(cache, { recursive: true, force: true });
const large = () => file("large.jsonl", 100_000, 2_000);
const million = () =>
  sessionFile(join(data, "million.jsonl"), {
    entries: 1_000_000,
    textBytes: 100,
    compactEvery: 2_000,
    seed: 1_000_000,
  });
const small = () => file("small.jsonl", 1_000, 0);
/** The shape of the large one: a compaction every so often, and the last entry is one. */
const smallCompacted = () => file("small-compacted.jsonl", 1_000, 200);
const many = () => sessionFolder(join(data, "many"), 2_000, 500e6, 7);

const rows: Row[] = [
  {
    name: "open and first context, 100,000 entries",
    measure: "open and first context",
    path: large,
    implementations: ["ours", "naive", "readFileSync alone"],
  },
  {
    name: "open and first context, 1,000 entries, in a running process",
    measure: "open and first context, running",
    path: smallCompacted,
    implementations: ["ours", "naive"],
  },
  {
    name: "open and first context, 1,000 entries, first thing in a process",
    measure: "open and first context",
    path: smallCompacted,
    implementations: ["ours", "naive"],
  },
  {
    name: "open and first context, 1,000 messages that all count, running",
    measure: "open and first context, running",
    path: small,
    implementations: ["ours", "naive"],
  },
  { name: "1,000 turns at 1,000 entries", measure: "a turn", path: small, implementations: ["ours"] },
  {
    name: "1,000 turns at 100,000 entries",
    measure: "a turn",
    path: large,
    implementations: ["ours", "rebuilt"],
  },
  {
    name: "getEntries, 100,000 entries",
    measure: "getEntries",
    path: large,
    implementations: ["ours", "naive"],
  },
  { name: "getTree, 100,000 entries", measure: "getTree", path: large, implementations: ["ours", "naive"] },
  {
    name: "getBranch, 100,000 entries",
    measure: "getBranch",
    path: large,
    implementations: ["ours", "naive"],
  },
  {
    name: "append 20,000",
    measure: "append 20,000",
    path: small,
    implementations: ["ours", "naive", "writeSync alone"],
  },
  {
    name: "append 20,000, after as many",
    measure: "append 20,000, warm",
    path: small,
    implementations: ["ours", "naive", "writeSync alone"],
  },
  {
    name: "list 2,000 sessions, first time",
    measure: "list",
    path: many,
    implementations: ["ours", "naive"],
    before: dropCache,
  },
  {
    name: "list 2,000 sessions, again",
    measure: "list",
    path: many,
    implementations: ["ours", "readdir and stat alone"],
  },
  {
    name: "list 2,000 sessions, one grown",
    measure: "list, one grown",
    path: many,
    implementations: ["ours"],
  },
  {
    name: "list 2,000 sessions, first row",
    measure: "list, first row",
    path: many,
    implementations: ["ours"],
    before: dropCache,
  },
  {
    name: "search 2,000 sessions for what a third of them hold",
    measure: "search",
    path: many,
    implementations: ["ours", "naive"],
  },
  {
    name: "search 2,000 sessions for what none holds",
    measure: "search, nowhere",
    path: many,
    implementations: ["ours", "naive"],
  },
  {
    name: "search 2,000 sessions, first hit",
    measure: "search, first hit",
    path: many,
    implementations: ["ours"],
  },
  ...(values.huge
    ? [
        {
          name: "2 GB: open, context, append",
          measure: "open, context, append, huge",
          path: () => file("huge.jsonl", 36_100, 200, 10),
          implementations: ["ours"],
        },
        {
          name: "open and first context, 1,000,000 entries",
          measure: "open and first context",
          path: million,
          implementations: ["ours", "naive", "readFileSync alone"],
        },
      ]
    : []),
];

const buffer = Buffer.allocUnsafe(1024 * 1024);

/** Reads what is measured, so that the system has it in its cache whichever implementation comes first. */
function warm(path: string): void {
  if (statSync(path).isDirectory()) {
    for (const name of readdirSync(path)) warm(join(path, name));
    return;
  }
  const fd = openSync(path, "r");
  while (readSync(fd, buffer) > 0);
  closeSync(fd);
}

function measure(row: Row, implementation: string, path: string): Measured {
  row.before?.();
  warm(path);
  const output = execFileSync(
    process.execPath,
    ["--import", "tsx", child, row.measure, implementation, path],
    {
      encoding: "utf8",
      env: { ...process.env, XDG_CACHE_HOME: cache, NODE_OPTIONS: "--max-old-space-size=8192" },
    },
  );
  const measured: Measured = JSON.parse(output.trim().split("\n").at(-1) ?? "");
  return measured;
}

const median = (numbers: readonly number[]) =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;

for (const row of rows.filter(({ name }) => name.includes(values.only))) {
  const path = row.path();
  const runs = new Map<string, Measured[]>(row.implementations.map((implementation) => [implementation, []]));
  for (let i = 0; i < Number(values.runs); i++) {
    for (const [implementation, measured] of runs) measured.push(measure(row, implementation, path));
  }
  const ours = median((runs.get("ours") ?? []).map(({ ms }) => ms));
  for (const [implementation, measured] of runs) {
    const ms = median(measured.map((one) => one.ms));
    const extraMb = median(measured.map((one) => one.rssMb - one.rssBeforeMb));
    const rssMb = median(measured.map((one) => one.rssMb));
    const line = { name: row.name, implementation, ms, timesOurs: ms / ours, extraMb, rssMb };
    if (values.json) console.log(JSON.stringify(line));
    else
      console.log(
        `${row.name.padEnd(62)} ${implementation.padEnd(24)} ${ms.toFixed(1).padStart(10)} ms ${line.timesOurs.toFixed(2).padStart(8)} × ours ${extraMb.toFixed(0).padStart(6)} MB more ${rssMb.toFixed(0).padStart(6)} MB in all`,
      );
  }
}
