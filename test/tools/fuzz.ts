/**
 * Damages session files at random, for a given time: `npm run fuzz -- --minutes 5 [--seed N] [--jobs N]`.
 *
 * Each case is opened, read in full, appended to, and read again, in monitored processes: one that hangs is ended and counted as
 * a hang, one that dies as a crash. Each failure is printed with its seed, with which `npm run fuzz -- --case SEED` reproduces
 * it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { judge, makeCase, smallFixtures } from "../fault/support/corruption.ts";

/** Number of cases between two messages of a worker. */
const BATCH = 200;

/** Time without a message after which a worker counts as hanging, in milliseconds. */
const HANG_MS = 20_000;

/** Number of seeds of one worker's turn. */
const TURN = 100_000;

/** A worker's progress since its last message. */
interface Progress {
  readonly nextSeed: number;
  readonly cases: number;
  readonly issues: number;
  readonly refused: number;
  readonly failures: readonly { readonly seed: number; readonly faults: readonly string[] }[];
}

const totals = { cases: 0, issues: 0, refused: 0, hangs: 0, crashes: 0, lost: 0, faults: 0 };

function isProgress(value: unknown): value is Progress {
  return typeof value === "object" && value !== null && "nextSeed" in value && "failures" in value;
}

/** Judges the cases of seeds from one on, endlessly. */
async function work(firstSeed: number): Promise<void> {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessiontree-fuzz-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  process.on("SIGTERM", () => process.exit());
  const fixtures = smallFixtures();
  for (let seed = firstSeed; ; ) {
    const failures: { seed: number; faults: readonly string[] }[] = [];
    let [issues, refused] = [0, 0];
    for (let i = 0; i < BATCH; i++, seed++) {
      const outcome = judge(makeCase(fixtures, seed), folder);
      issues += outcome.issues;
      if (outcome.isRefused) refused++;
      if (outcome.faults.length > 0) failures.push({ seed, faults: outcome.faults });
    }
    process.send?.({ nextSeed: seed, cases: BATCH, issues, refused, failures } satisfies Progress);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function note({ cases, issues, refused, failures }: Progress): void {
  totals.cases += cases;
  totals.issues += issues;
  totals.refused += refused;
  for (const { seed, faults } of failures) {
    const isLoss = faults.some((fault) => /lost/.test(fault));
    if (faults.some((fault) => fault.startsWith("threw"))) totals.crashes++;
    else if (isLoss) totals.lost++;
    else totals.faults++;
    console.error(`seed ${seed}: ${faults.join("\n  ")}`);
  }
}

/** Keeps one worker running until the deadline, and starts another one when it hangs or dies. */
async function supervise(firstSeed: number, deadline: number): Promise<void> {
  let seed = firstSeed;
  while (Date.now() < deadline) {
    const worker = fork(fileURLToPath(import.meta.url), ["--work", String(seed)]);
    worker.on("message", (message) => {
      if (!isProgress(message)) return;
      note(message);
      seed = message.nextSeed;
    });
    const end = await waitForEnd(worker, deadline);
    if (end === "deadline") return;
    totals[end === "hang" ? "hangs" : "crashes"]++;
    console.error(`a ${end} between the seeds ${seed} and ${seed + BATCH}`);
    seed += BATCH;
  }
}

/** Waits until a worker hangs, dies, or its time runs out, and ends it. */
function waitForEnd(worker: ChildProcess, deadline: number): Promise<"hang" | "crash" | "deadline"> {
  return new Promise((resolve) => {
    let lastSign = Date.now();
    worker.on("message", () => {
      lastSign = Date.now();
    });
    const finish = (end: "hang" | "crash" | "deadline") => {
      clearInterval(timer);
      worker.removeAllListeners();
      worker.kill(end === "hang" ? "SIGKILL" : "SIGTERM");
      resolve(end);
    };
    const timer = setInterval(() => {
      if (Date.now() >= deadline) finish("deadline");
      else if (Date.now() - lastSign > HANG_MS) finish("hang");
    }, 100);
    worker.on("exit", () => finish("crash"));
  });
}

function judgeOne(seed: number): void {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-fuzz-"));
  try {
    const one = makeCase(smallFixtures(), seed);
    console.log(one.damaged.toString());
    console.log(judge(one, folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function run(minutes: number, firstSeed: number, jobs: number): Promise<void> {
  console.log(`seed ${firstSeed}, ${minutes} minutes, ${jobs} processes`);
  const deadline = Date.now() + minutes * 60_000;
  const timer = setInterval(() => console.log(`${totals.cases} cases, ${totals.issues} issues`), 30_000);
  await Promise.all(Array.from({ length: jobs }, (_, i) => supervise(firstSeed + i * TURN * 100, deadline)));
  clearInterval(timer);
  const { cases, issues, refused, hangs, crashes, lost, faults } = totals;
  console.table({
    "cases tried": cases,
    "issues reported": issues,
    "refused as no session": refused,
    hangs,
    crashes,
    "lost lines": lost,
    "other faults": faults,
  });
  if (hangs + crashes + lost + faults > 0 || cases === 0) process.exitCode = 1;
}

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string" },
    jobs: { type: "string" },
    case: { type: "string" },
    work: { type: "string" },
  },
});

if (values.work !== undefined) await work(Number(values.work));
else if (values.case !== undefined) judgeOne(Number(values.case));
else {
  const seed = values.seed === undefined ? Date.now() % 1_000_000_000 : Number(values.seed);
  await run(Number(values.minutes), seed, Number(values.jobs ?? availableParallelism()));
}
