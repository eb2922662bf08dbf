/**
 * Measures one case in a process of its own and prints one line of JSON.
 *
 * Usage: child.ts CASE IMPLEMENTATION PATH
 */
import { cases } from "./cases.ts";

/** What a measurement gives. */
export interface Measured {
  /** Milliseconds of the part that counts. */
  readonly ms: number;
  /** Most memory that was resident, in MB. */
  readonly rssMb: number;
  /** The same before the part that counts began. */
  readonly rssBeforeMb: number;
  /** What came out, so that implementations can be compared. */
  readonly result: number;
}

const [name = "", implementation = "", path = ""] = process.argv.slice(2);
const run = cases[name]?.[implementation];
if (run === undefined) throw new Error(`no case ${name} ${implementation}`);

const rssBeforeMb = process.memoryUsage().rss / 1e6;
const { ms, result } = await run(path);
const measured: Measured = { ms, result, rssBeforeMb, rssMb: process.resourceUsage().maxRSS / 1e3 };
console.log(JSON.stringify(measured));
