/**
 * Measures one case in a separate process and prints one line of JSON.
 *
 * Usage: child.ts CASE IMPLEMENTATION PATH
 */
import { cases } from "./cases.ts";

/** Result of a measurement. */
export interface Measured {
  /** Milliseconds of the measured part. */
  readonly ms: number;
  /** Peak resident memory, in MB. */
  readonly rssMb: number;
  /** Peak resident memory before the measured part, in MB. */
  readonly rssBeforeMb: number;
  /** Outcome, so that implementations can be compared. */
  readonly result: number;
}

const [name = "", implementation = "", path = ""] = process.argv.slice(2);
const run = cases[name]?.[implementation];
if (run === undefined) throw new Error(`no case ${name} ${implementation}`);

const rssBeforeMb = process.memoryUsage().rss / 1e6;
const { ms, result } = await run(path);
const measured: Measured = { ms, result, rssBeforeMb, rssMb: process.resourceUsage().maxRSS / 1e3 };
console.log(JSON.stringify(measured));
