/**
 * Runs all benchmarks and prints a table, or JSON with --json. Options: --runs N (default 5; 31 of what is short), --huge, --only TEXT.
 *
 * Every measurement is a separate process; implementations alternate, and the median counts.
 */
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Measured } from "./child.ts";
import { sessionFile, sessionFolder } from "./data.ts";
import { measureCommand, measureFresh } from "./fresh-process.ts";
import { measurePage } from "./page.ts";
import { piSessionManager } from "./pi.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    huge: { type: "boolean", default: false },
    runs: { type: "string" },
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
  /** Number of measurements of each implementation. Default: 5. */
  readonly runs?: number;
  /** Runs before each measurement. */
  readonly before?: () => void;
  /** Measures in another way than by `child.ts`. */
  readonly measureBy?: (implementation: string, measure: string, path: string) => Measured;
}

const dropCache = () => rmSync(cache, { recursive: true, force: true });
const large = () => file("large.jsonl", 100_000, 2_000);
/** Equally long, and on one path without a compaction. */
const uncompacted = () => file("uncompacted.jsonl", 100_000, 0);
const million = () =>
  sessionFile(join(data, "million.jsonl"), {
    entries: 1_000_000,
    textBytes: 100,
    compactEvery: 2_000,
    seed: 1_000_000,
  });
const small = () => file("small.jsonl", 1_000, 0);
/** The shape of the large one: regular compactions, the last of which is the last entry. */
const smallCompacted = () => file("small-compacted.jsonl", 1_000, 200);
const many = () => sessionFolder(join(data, "many"), 2_000, 500e6, 7);

const smallIdsLast = () =>
  sessionFile(join(data, "small-ids-last.jsonl"), {
    entries: 1_000,
    textBytes: 900,
    compactEvery: 0,
    seed: 1_000,
    idsLast: true,
  });
const largeIdsLast = () =>
  sessionFile(join(data, "large-ids-last.jsonl"), {
    entries: 100_000,
    textBytes: 900,
    compactEvery: 2_000,
    seed: 100_000,
    idsLast: true,
  });

const pi = await piSessionManager(join(data, "pi"));
if ("reason" in pi) console.error(`Nothing is measured of pi, whose package cannot be had: ${pi.reason}`);

const modules = { ours: "../../dist/index.js", pi: "path" in pi ? pi.path : "" };
const freshRow = (name: string, measure: string, path: () => string): Row => ({
  name: `${name}, fresh process`,
  measure,
  path,
  implementations: measure.startsWith("import") ? ["ours", "pi"] : ["ours", "pi", "naive"],
  runs: 31,
  measureBy: (implementation, what, file) => measureFresh(implementation, modules, what, file),
});
/**
 * Small sessions as they are opened all day: a number of entries, with a compaction after every three tenths of them, or none.
 */
const openRows = [200, 1_000, 3_000].flatMap((entries) =>
  [0, entries * 0.3].map((compactEvery) =>
    freshRow(
      `open and first context, ${entries.toLocaleString("en")} entries${compactEvery > 0 ? ", compacted" : ""}`,
      "open",
      () => file(`fresh-${entries}-${compactEvery}.jsonl`, entries, compactEvery),
    ),
  ),
);
/** The small one alone in a folder, for measures that list a folder. */
const alone = () =>
  sessionFile(join(data, "alone", "small.jsonl"), {
    entries: 1_000,
    textBytes: 900,
    compactEvery: 0,
    seed: 1_000,
  });
const commandRow = (command: string): Row => ({
  name: `sessiontree ${command}, 1.2 MB, beyond bare node`,
  measure: command,
  path: alone,
  implementations: ["ours"],
  measureBy: (_implementation, what, file) => measureCommand(what, file, cache),
});

const rows: Row[] = [
  freshRow("import the package", "import", small),
  ...openRows,
  freshRow("open and first context, 1,000 entries, ids last in each line", "open", smallIdsLast),
  freshRow("import, open and first context, 1,000 entries", "import and open", small),
  freshRow("200 appends, a context after every fourth", "turns", small),
  freshRow("20,000 appends, CPU time", "appends", small),
  ...["--version", "list", "tree", "show", "stats", "context"].map(commandRow),
  {
    name: "open and first context, 100,000 entries, ids last in each line",
    measure: "open and first context",
    path: largeIdsLast,
    implementations: ["ours", "naive", "pi"],
  },
  {
    name: "open and first context, 100,000 entries",
    measure: "open and first context",
    path: large,
    implementations: ["ours", "naive", "pi", "readFileSync alone"],
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
    implementations: ["ours", "naive", "pi"],
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
    implementations: ["ours", "naive", "pi", "writeSync alone"],
  },
  {
    name: "append 20,000, after as many",
    measure: "append 20,000, warm",
    path: small,
    implementations: ["ours", "naive", "pi", "writeSync alone"],
  },
  {
    name: "list 2,000 sessions, first time",
    measure: "list",
    path: many,
    implementations: ["ours", "naive", "pi"],
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
  ...[
    "first screen",
    "all read",
    "search",
    "search everywhere",
    "served, first screen",
    "served, all read",
  ].map((measure) => ({
    name: `page of 100,000 entries in Chromium, ${measure}`,
    measure,
    path: large,
    implementations: ["ours"],
    measureBy: measurePage,
  })),
  ...[
    "first screen",
    "all read",
    "served, first screen",
    "served, all read",
    "served, a key",
    "served, a key of another view, first",
    "served, a key of another view, later",
    "served, a wheel event",
    "served, from the end to the first entry",
  ].map((measure) => ({
    name: `page of 100,000 uncompacted entries in Chromium, ${measure}`,
    measure,
    path: uncompacted,
    implementations: ["ours"],
    measureBy: measurePage,
  })),
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

/** Reads the measured files, so that they are in the system's cache whichever implementation comes first. */
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
  if (row.measureBy !== undefined) return row.measureBy(implementation, row.measure, path);
  const output = execFileSync(
    process.execPath,
    ["--import", "tsx", child, row.measure, implementation, path],
    {
      encoding: "utf8",
      env: {
        ...process.env,
        XDG_CACHE_HOME: cache,
        PI_SESSION_MANAGER: modules.pi,
        NODE_OPTIONS: "--max-old-space-size=8192",
      },
    },
  );
  const measured: Measured = JSON.parse(output.trim().split("\n").at(-1) ?? "");
  return measured;
}

const median = (numbers: readonly number[]) =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;

for (const row of rows.filter(({ name }) => name.includes(values.only))) {
  const path = row.path();
  const implementations = row.implementations.filter((name) => name !== "pi" || modules.pi !== "");
  const runs = new Map<string, Measured[]>(implementations.map((implementation) => [implementation, []]));
  for (let i = 0; i < Number(values.runs ?? row.runs ?? 5); i++) {
    // Alternates forward and backward, so that none always follows the same one.
    const turns = i % 2 === 0 ? [...runs] : [...runs].reverse();
    for (const [implementation, measured] of turns) measured.push(measure(row, implementation, path));
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
