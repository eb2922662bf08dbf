import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SessionTreeSaver } from "sessiontree/langgraph";
import { fileStore } from "sessiontree/stores";
import { removeFolder } from "../../support/remove-folder.ts";
import { bundle } from "./bundle.ts";
import { type DeletionEvent, THREADS, type Written } from "./deletion-events.ts";
import { Lives } from "./lives.ts";

interface Deletion {
  readonly deleting: string;
  readonly from: number;
  /** Undefined while it runs; the end of its process, if that was killed in the meantime. */
  until?: number;
  /** Whether it was acknowledged. */
  isDone?: boolean;
}

/** Result of the test. */
export interface DeletionReport {
  rounds: number;
  written: number;
  deleted: number;
  /** Number of writes that were rejected because of a deletion. */
  refused: number;
  killed: number;
  /** Acknowledged texts that are nowhere, and were not deleted. */
  lost: string[];
  /** Texts that were acknowledged before a deletion began, and exist after it was acknowledged. */
  returned: string[];
  /** Ids with more than one session. */
  doubled: string[];
  /** Errors, with the number of each. */
  failed: { [message: string]: number };
}

const TASKS = ["graph", "graph", "graph", "chat", "chat", "delete", "delete"];

const ROUND_MS = 10_000;

const PROGRAMS = fileURLToPath(new URL("../../../node_modules/.cache/sessiontree/", import.meta.url));

/** Runs real processes that write to threads of LangGraph and chats, die, and delete them, for the given time. */
export async function stressDeletion(milliseconds: number, seed: number): Promise<DeletionReport> {
  const report: DeletionReport = {
    ...{ rounds: 0, written: 0, deleted: 0, refused: 0, killed: 0 },
    ...{ lost: [], returned: [], doubled: [], failed: {} },
  };
  mkdirSync(PROGRAMS, { recursive: true });
  const programs = mkdtempSync(join(PROGRAMS, "deletion-"));
  const program = join(programs, "child.mjs");
  await bundle("fault/support/deletion-child.ts", program);
  try {
    const start = performance.now();
    const passed = () => performance.now() - start;
    const isLacking = () => [report.written, report.deleted, report.refused, report.killed].includes(0);
    while (passed() < milliseconds || (isLacking() && passed() < 10 * milliseconds)) {
      const left = Math.max(1_000, Math.min(ROUND_MS, milliseconds - passed()));
      await new DeletionRound(report).run(program, seed + report.rounds, left);
      report.rounds++;
    }
  } finally {
    removeFolder(programs);
  }
  return report;
}

const now = (): number => Number(process.hrtime.bigint() / 1_000n);

class DeletionRound {
  readonly #folder = mkdtempSync(join(tmpdir(), "sessiontree-deletion-"));
  readonly #report: DeletionReport;
  readonly #written: Written[] = [];
  readonly #deletions: Deletion[] = [];

  constructor(report: DeletionReport) {
    this.#report = report;
  }

  async run(program: string, seed: number, milliseconds: number): Promise<void> {
    const lives = new Lives(seed);
    const plans = TASKS.map((task, i) => this.#makePlan(program, task, `${task}${i}`));
    await lives.run(plans, milliseconds);
    this.#report.killed += lives.killed;
    await this.#check();
    removeFolder(this.#folder);
  }

  #makePlan(program: string, task: string, name: string) {
    // Those of this child that have not ended.
    const running: Deletion[] = [];
    const end = (until: number, isDone: boolean) => {
      for (const deletion of running.splice(0)) Object.assign(deletion, { until, isDone });
    };
    return {
      program,
      name,
      args: (life: string, random: number) => [task, this.#folder, life, String(random)],
      take: (line: string) => {
        const told: DeletionEvent = JSON.parse(line);
        if ("text" in told) this.#written.push(told);
        else if ("deleted" in told) end(told.until, true);
        else if ("deleting" in told) {
          const deletion = { ...told };
          running.push(deletion);
          this.#deletions.push(deletion);
        } else this.#count(told);
      },
      onEnd: () => end(now(), false),
    };
  }

  #count(told: { readonly refused: string } | { readonly failed: string }): void {
    const { failed } = this.#report;
    if ("refused" in told) this.#report.refused++;
    else {
      const message = told.failed.replaceAll(this.#folder, "");
      failed[message] = (failed[message] ?? 0) + 1;
    }
  }

  async #check(): Promise<void> {
    const report = this.#report;
    const files = readdirSync(this.#folder).filter((name) => name.endsWith(".jsonl"));
    const stored = files.map((name) => readFileSync(join(this.#folder, name), "utf8")).join("");
    report.written += this.#written.length;
    report.deleted += this.#deletions.filter(({ isDone }) => isDone).length;
    for (const { place, text, from, until } of this.#written) {
      const deletions = this.#deletions.filter(({ deleting }) => deleting === place);
      if (stored.includes(text)) {
        const isDeleted = deletions.some((one) => one.isDone && one.from > until);
        if (isDeleted) report.returned.push(text);
      } else if (!deletions.some((one) => (one.until ?? Number.POSITIVE_INFINITY) >= from)) {
        report.lost.push(text);
      }
    }
    // A process killed while creating a session leaves an empty file.
    const begun = files.filter((name) => statSync(join(this.#folder, name)).size > 0);
    const ids = begun.map((name) => name.replace(/^[^_]*_/, ""));
    report.doubled.push(...ids.filter((id, at) => ids.indexOf(id) !== at));
    // Stored data can be read.
    const saver = new SessionTreeSaver(fileStore({ sessionDir: this.#folder }));
    for (const thread_id of THREADS) await saver.getTuple({ configurable: { thread_id } });
  }
}
