/**
 * Lets real processes append to sessions in one SQLite file, redact, and be killed, and counts acknowledged and lost entries.
 *
 * npm run stress:sqlite -- --minutes 5 [--seed 1]   Needs Node 22.13. Exits with 1 if anything acknowledged is lost, or the file is damaged.
 */
import { parseArgs } from "node:util";
import { stressSqlite } from "../stores/sqlite/support/sqlite-stress.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now()) },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (!(minutes > 0) || !Number.isFinite(seed)) throw new TypeError("--minutes and --seed take numbers");

const report = await stressSqlite(minutes * 60_000, seed);
console.log(JSON.stringify({ seed, minutes, ...report }, undefined, 2));
if (report.lost.length + report.damaged.length > 0) process.exitCode = 1;
