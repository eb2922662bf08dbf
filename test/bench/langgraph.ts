/**
 * Measures threads of LangGraph over our checkpointer and over LangGraph's own, in the same run, over the build:
 * npm run bench:langgraph -- --savers FOLDER
 *
 * FOLDER has `@langchain/langgraph-checkpoint-sqlite`, `@langchain/langgraph-checkpoint-postgres`, and `better-sqlite3@12`
 * installed; without it, only MemorySaver and ours over files and PostgreSQL are measured. Options: --turns LIST (default 50,200,600), --runs N (default 3), --only NAMES, --json,
 * --url postgres://… of a server on which databases may be created; else one is started on loopback, as the tests do.
 *
 * Each measurement is a separate process; savers alternate, and the median counts.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import pg from "pg";
import { startServer } from "../postgres-server/support/server.ts";
import type { MeasuredThread } from "./langgraph-child.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    savers: { type: "string" },
    turns: { type: "string", default: "50,200,600" },
    runs: { type: "string", default: "3" },
    only: { type: "string", default: "" },
    url: { type: "string" },
  },
});

const CHILD = fileURLToPath(new URL("./langgraph-child.ts", import.meta.url));

/** Savers, and the storage of a thread. */
const SAVERS: ReadonlyMap<string, "memory" | "folder" | "database"> = new Map([
  ["MemorySaver", "memory"],
  ["SqliteSaver", "folder"],
  ["files", "folder"],
  ["SQLite", "folder"],
  ["PostgresSaver", "database"],
  ["PostgreSQL", "database"],
]);

interface Measured extends MeasuredThread {
  readonly bytes: number;
}

function runChild(saver: string, turns: number, address: string): MeasuredThread {
  const args = ["--import", "tsx", CHILD, saver, String(turns), address, values.savers ?? ""];
  const cache = join(tmpdir(), "sessiontree-bench-data", "cache");
  const env = { ...process.env, XDG_CACHE_HOME: cache };
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", env }));
}

function measureInFolder(saver: string, turns: number): Measured {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-langgraph-"));
  try {
    const measured = runChild(saver, turns, folder);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) =>
      statSync(join(folder, name)),
    );
    const bytes = files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
    return { ...measured, bytes };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Measures a saver in a separate database, minus the size of a database with empty tables. */
async function measureInDatabase(client: pg.Pool, url: string, saver: string, turns: number) {
  const name = "sessiontree_bench_langgraph";
  const address = Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const measure = async (turns: number): Promise<Measured> => {
    await client.query(`drop database if exists ${name}`);
    await client.query(`create database ${name}`);
    const measured = runChild(saver, turns, address);
    const { rows } = await client.query("select pg_database_size($1)::float8 as bytes", [name]);
    await client.query(`drop database ${name}`);
    return { ...measured, bytes: rows[0].bytes };
  };
  const empty = await measure(0);
  const full = await measure(turns);
  return { ...full, bytes: full.bytes - empty.bytes };
}

function report(turns: number, saver: string, all: readonly Measured[]): void {
  const median = (of: (one: Measured) => number) => all.map(of).sort((a, b) => a - b)[all.length >> 1] ?? 0;
  const cpuMs = median((one) => one.cpuMs);
  const elapsedMs = median((one) => one.elapsedMs);
  const bytes = median((one) => one.bytes);
  const runs = all.map((one) => Math.round(one.cpuMs));
  if (values.json) console.log(JSON.stringify({ turns, saver, cpuMs, elapsedMs, bytes, runs }));
  else
    console.log(
      `${String(turns).padStart(5)} turns  ${saver.padEnd(14)} ${(cpuMs / 1e3).toFixed(2).padStart(8)} s CPU ${(elapsedMs / 1e3).toFixed(2).padStart(8)} s ${(bytes / 1e6).toFixed(2).padStart(9)} MB  runs: ${runs.join(" ")} ms`,
    );
}

const wanted = [...SAVERS].filter(
  ([name]) =>
    (values.only === "" || values.only.split(",").includes(name)) &&
    (values.savers !== undefined || !/^(?:SqliteSaver|PostgresSaver|SQLite)$/.test(name)),
);
const needsServer = values.url === undefined && wanted.some(([, place]) => place === "database");
const server = needsServer ? await startServer() : undefined;
const url = values.url ?? server?.url() ?? "";
const client = new pg.Pool({ connectionString: url });
try {
  for (const turns of values.turns.split(",").map(Number)) {
    const all = new Map<string, Measured[]>();
    for (let run = 0; run < Number(values.runs); run++) {
      for (const [saver, place] of wanted) {
        const measured =
          place === "database"
            ? await measureInDatabase(client, url, saver, turns)
            : measureInFolder(saver, turns);
        all.set(saver, [...(all.get(saver) ?? []), measured]);
      }
    }
    for (const [saver, measured] of all) report(turns, saver, measured);
  }
} finally {
  await client.end();
  await server?.remove();
}
