import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSqliteStore } from "sessiontree/sqlite";
import { bundle } from "../../../fault/support/bundle.ts";
import { Lives } from "../../../fault/support/lives.ts";
import { removeFolder } from "../../../support/remove-folder.ts";
import { openTestDatabase } from "./test-database.ts";

/** Event that a child process reports. */
export type SqliteStressEvent =
  | { readonly session: string; readonly acknowledged: readonly string[] }
  | { readonly redacted: string };

/** Results of a run. */
export interface SqliteStressReport {
  rounds: number;
  acknowledged: number;
  redacted: number;
  killed: number;
  /** Acknowledged entries that are missing. */
  lost: string[];
  /** Issues of sessions, entries that are stored twice, and errors that SQLite finds in the file. */
  damaged: string[];
}

const TASKS = ["keep", "keep", "keep", "reopen", "reopen", "redact"];

const ROUND_MS = 10_000;

const PROGRAMS = fileURLToPath(new URL("../../../../node_modules/.cache/sessiontree/", import.meta.url));

/** Lets real processes append to sessions in one SQLite file and be killed, for a time; counts acknowledged and lost entries. */
export async function stressSqlite(milliseconds: number, seed: number): Promise<SqliteStressReport> {
  const report = { rounds: 0, acknowledged: 0, redacted: 0, killed: 0, lost: [], damaged: [] };
  mkdirSync(PROGRAMS, { recursive: true });
  const programs = mkdtempSync(join(PROGRAMS, "sqlite-"));
  const program = join(programs, "child.mjs");
  await bundle("stores/sqlite/support/stress-child.ts", program);
  try {
    const start = performance.now();
    const passed = () => performance.now() - start;
    while (passed() < milliseconds) {
      const left = Math.max(1_000, Math.min(ROUND_MS, milliseconds - passed()));
      await runRound(program, seed + report.rounds, left, report);
      report.rounds++;
    }
  } finally {
    removeFolder(programs);
  }
  return report;
}

async function runRound(
  program: string,
  seed: number,
  milliseconds: number,
  report: SqliteStressReport,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-sqlite-stress-"));
  const path = join(folder, "s.db");
  const acknowledged = new Map<string, string[]>();
  const take = (line: string) => {
    const told: SqliteStressEvent = JSON.parse(line);
    if ("redacted" in told) report.redacted++;
    else acknowledged.set(told.session, [...(acknowledged.get(told.session) ?? []), ...told.acknowledged]);
  };
  const lives = new Lives(seed);
  const plans = TASKS.map((task, i) => ({
    program,
    name: `${task}${i}`,
    args: (life: string, random: number) => [task, path, life, String(random)],
    take,
  }));
  await lives.run(plans, milliseconds);
  report.killed += lives.killed;
  await check(path, acknowledged, report);
  removeFolder(folder);
}

async function check(
  path: string,
  acknowledged: ReadonlyMap<string, readonly string[]>,
  report: SqliteStressReport,
): Promise<void> {
  const store = await openSqliteStore(path);
  for (const [id, entries] of acknowledged) {
    report.acknowledged += entries.length;
    const session = await store.open(id);
    const ids = session.getEntries().map((entry) => entry.id);
    const stored = new Set(ids);
    report.lost.push(...entries.filter((entry) => !stored.has(entry)));
    report.damaged.push(...session.issues.map(({ message }) => `${id}: ${message}`));
    if (stored.size < ids.length) report.damaged.push(`${id}: entries are stored twice`);
  }
  await store.close();
  const database = openTestDatabase(path);
  const [found] = database.prepare("pragma integrity_check").all();
  const { integrity_check: verdict } = Object(found);
  if (verdict !== "ok") report.damaged.push(String(verdict));
  database.close();
}
