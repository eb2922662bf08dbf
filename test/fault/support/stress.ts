import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SessionManager } from "sessiontree";
import { importSessions } from "sessiontree/import";
import { fileStore } from "sessiontree/stores";
import { removeFolder } from "../../support/remove-folder.ts";
import { bundle } from "./bundle.ts";
import { Lives } from "./lives.ts";
import { findRecordIds, sourceBeside, sourceRecord } from "./stress-source.ts";
import type { System } from "./systems.ts";

/** Report of a child, sent after its event. */
export type Told =
  | { readonly acknowledged: string }
  | { readonly redacted: string }
  | { readonly replaced: "repair" | "merge" | "import" }
  | { readonly refused: string };

/** Durability of the appends in each round, alternating. */
const DURABILITIES = ["os", "fsync"] as const;

/** Result of the test. */
export interface StressReport {
  rounds: number;
  acknowledged: number;
  redacted: number;
  repaired: number;
  merged: number;
  imported: number;
  killed: number;
  /** Ids of acknowledged entries that are in no file. */
  lost: string[];
  /** Redacted texts in files other than backups. */
  revealed: string[];
  /** Rejections, with the number of each. */
  refused: { [message: string]: number };
  /** Temporary files at the end. */
  left: string[];
}

/** Tasks of the processes; in these numbers, a round of seconds reads and writes megabytes. */
const TASKS = ["keep", "keep", "reopen", "redact", "redact", "repair", "merge", "import"];

const ROUND_MS = 10_000;

/** Folder of the children's program, in which it finds the packages that it loads late. */
const PROGRAMS = fileURLToPath(new URL("../../../node_modules/.cache/sessiontree/", import.meta.url));

/**
 * Runs real processes that append to one file, die, and replace it, for the given time; counts acknowledged entries that are
 * lost.
 *
 * Rounds alternate between both durabilities. A slow machine takes longer, until every kind of process has worked with both; at
 * most ten times as long.
 */
export async function stress(
  milliseconds: number,
  seed: number,
  system: System = "posix",
): Promise<StressReport> {
  const report: StressReport = {
    rounds: 0,
    acknowledged: 0,
    redacted: 0,
    repaired: 0,
    merged: 0,
    imported: 0,
    killed: 0,
    lost: [],
    revealed: [],
    refused: {},
    left: [],
  };
  mkdirSync(PROGRAMS, { recursive: true });
  const programs = mkdtempSync(join(PROGRAMS, "stress-"));
  const program = join(programs, "child.mjs");
  await bundle("fault/support/stress-child.ts", program);
  try {
    const start = performance.now();
    const passed = () => performance.now() - start;
    while (passed() < milliseconds || (isLacking(report) && passed() < 10 * milliseconds)) {
      const left = Math.min(ROUND_MS, milliseconds / DURABILITIES.length, milliseconds - passed());
      const durability = DURABILITIES[report.rounds % DURABILITIES.length] ?? "os";
      await new Round(program, system, durability, seed + report.rounds, report).run(Math.max(1_000, left));
      report.rounds++;
    }
  } finally {
    removeFolder(programs);
  }
  return report;
}

/** Returns whether some kind of process has done nothing yet. */
function isLacking(report: StressReport): boolean {
  const { rounds, acknowledged, redacted, repaired, merged, imported, killed } = report;
  return (
    rounds < DURABILITIES.length || [acknowledged, redacted, repaired, merged, imported, killed].includes(0)
  );
}

/** File, and all processes that work on it. */
class Round {
  readonly #folder = mkdtempSync(join(tmpdir(), "sessiontree-stress-"));
  #path = join(this.#folder, "s.jsonl");
  readonly #program: string;
  readonly #system: System;
  readonly #durability: (typeof DURABILITIES)[number];
  readonly #report: StressReport;
  readonly #acknowledged: string[] = [];
  readonly #redacted: string[] = [];
  readonly #seed: number;

  constructor(
    program: string,
    system: System,
    durability: (typeof DURABILITIES)[number],
    seed: number,
    report: StressReport,
  ) {
    this.#program = program;
    this.#system = system;
    this.#durability = durability;
    this.#seed = seed;
    this.#report = report;
  }

  async run(milliseconds: number): Promise<void> {
    await this.#importFirst();
    const lives = new Lives(this.#seed);
    const plans = TASKS.map((task, i) => ({
      program: this.#program,
      name: `${task}${i}`,
      args: (life: string, random: number) => [
        ...[task, this.#path, life, String(random)],
        ...[this.#durability, this.#system],
      ],
      take: (told: string) => this.#take(JSON.parse(told)),
    }));
    await lives.run(plans, milliseconds);
    this.#report.killed += lives.killed;
    for await (const _ of this.#importAll());
    this.#check();
    removeFolder(this.#folder);
    rmSync(dirname(sourceBeside(this.#path)), { recursive: true, force: true });
  }

  /** Makes the session by an import. */
  async #importFirst(): Promise<void> {
    const source = sourceBeside(this.#path);
    mkdirSync(dirname(source));
    writeFileSync(source, sourceRecord("", "secret-first-0 "));
    for await (const { path } of this.#importAll()) if (path !== null) this.#path = path;
  }

  #importAll() {
    const source = sourceBeside(this.#path);
    const store = fileStore({ sessionDir: this.#folder });
    return importSessions({ paths: [source], store, cacheDir: `${source}.cache` });
  }

  #take(told: Told): void {
    const report = this.#report;
    if ("acknowledged" in told) this.#acknowledged.push(told.acknowledged);
    else if ("redacted" in told) this.#redacted.push(told.redacted);
    else if ("refused" in told) {
      const message = told.refused.replaceAll(this.#folder, "");
      report.refused[message] = (report.refused[message] ?? 0) + 1;
    } else if (told.replaced === "repair") report.repaired++;
    else if (told.replaced === "merge") report.merged++;
    else report.imported++;
  }

  #check(): void {
    const report = this.#report;
    const session = SessionManager.open(this.#path);
    // A last replacement removes leftovers.
    session.redactEntry(session.appendMessage({ role: "user", content: "last", timestamp: Date.now() }));
    const ids = new Set(session.getEntries().map(({ id }) => id));
    const text = readFileSync(this.#path, "utf8");
    report.acknowledged += this.#acknowledged.length;
    report.redacted += this.#redacted.length;
    report.lost.push(...this.#acknowledged.filter((id) => !ids.has(id)));
    // Each record of the transcript is an entry, redacted or not.
    const source = readFileSync(sourceBeside(this.#path), "utf8");
    report.lost.push(...findRecordIds(source).filter((uuid) => !ids.has(uuid.slice(0, 8))));
    report.revealed.push(...this.#redacted.filter((secret) => text.includes(`${secret} `)));
    report.left.push(...readdirSync(this.#folder).filter((name) => name.startsWith(".")));
  }
}
