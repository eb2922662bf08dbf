import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as after } from "node:timers/promises";

/** Options for the lives of a child. */
interface ChildPlan {
  readonly program: string;
  /** Unique for the task; the child gets it with the number of its life. */
  readonly name: string;
  /** Returns the arguments for a life, given its name and a random number. */
  readonly args: (life: string, random: number) => readonly string[];
  /** Called with each report of a child. */
  readonly take: (told: string) => void;
  /** Called when a child has ended, whether it was killed or not. */
  readonly onEnd?: () => void;
}

/** Processes that are killed and restarted until the end of the test. */
export class Lives {
  killed = 0;
  /** Children that have begun their work. */
  readonly #working = new Set<ChildProcess>();
  #seed: number;
  #isOver = false;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Runs children of these plans, and occasionally kills all of them at once. */
  async run(plans: readonly ChildPlan[], milliseconds: number): Promise<void> {
    const work = plans.map((plan) => this.#keepAlive(plan));
    for (const end = performance.now() + milliseconds; performance.now() < end; ) {
      await after(Math.min(1_000 + this.#random(2_000), Math.max(0, end - performance.now())));
      this.#killAll();
    }
    this.#isOver = true;
    await Promise.all(work);
  }

  #random(limit: number): number {
    this.#seed = (Math.imul(this.#seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((this.#seed / 2 ** 32) * limit);
  }

  /** Kills all working children, as a crash of the machine's programs does: no process remains to help another. */
  #killAll(): void {
    for (const child of this.#working) if (child.kill("SIGKILL")) this.killed++;
  }

  /** Starts a child, kills it after a while, and starts the next; the last one may end by itself. */
  async #keepAlive(plan: ChildPlan): Promise<void> {
    for (let life = 0; !this.#isOver; life++) {
      const args = plan.args(`${plan.name}x${life}`, this.#random(1e9));
      const child = spawn(process.execPath, [plan.program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
      let hasBegun = false;
      let hasEnded = false;
      const ended = listen(child, plan, () => {
        hasBegun = true;
        this.#working.add(child);
      });
      // Counted from its first report, because a busy machine takes long to start it.
      void ended.finally(() => {
        hasEnded = true;
      });
      for (let rest = 100 + this.#random(900); rest > 0 && !this.#isOver && !hasEnded; ) {
        await after(20);
        if (hasBegun) rest -= 20;
      }
      if (this.#isOver) child.stdin.end();
      else if (child.kill("SIGKILL")) this.killed++;
      await ended;
      this.#working.delete(child);
    }
  }
}

async function listen(
  child: ChildProcess,
  { name, take, onEnd }: ChildPlan,
  begin: () => void,
): Promise<void> {
  const { stdout } = child;
  if (stdout === null) throw new TypeError("the child's output is not piped");
  child.stdin?.on("error", () => undefined);
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  for await (const line of createInterface({ input: stdout })) {
    begin();
    take(line);
  }
  const code = await exit;
  onEnd?.();
  if (code !== 0 && code !== null) throw new Error(`${name} ended with ${code}`);
}
