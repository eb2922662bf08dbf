/**
 * Lets real processes append to one session, be killed, and replace its file, and counts what was acknowledged and is
 * lost.
 *
 * npm run stress -- --minutes 5 [--seed 1] [--system windows]   Exits with 1 if anything acknowledged is lost, or redacted text is back.
 */
import { parseArgs } from "node:util";
import { stress } from "../fault/support/stress.ts";
import { SYSTEMS } from "../fault/support/systems.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now()) },
    system: { type: "string", default: "posix" },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (!(minutes > 0) || !Number.isFinite(seed)) throw new TypeError("--minutes and --seed take numbers");

const system = SYSTEMS.find((one) => one === values.system);
if (system === undefined) throw new TypeError(`--system takes ${SYSTEMS.join(", ")}`);

const { lost, revealed, left, ...counts } = await stress(minutes * 60_000, seed, system);
console.log(JSON.stringify({ seed, minutes, ...counts }, undefined, 2));
console.log(`lost: ${lost.length}   revealed: ${revealed.length}   left over: ${left.length}`);
for (const [what, all] of Object.entries({ lost, revealed, left }))
  if (all.length > 0) console.log(what, all);
process.exitCode = lost.length + revealed.length + left.length > 0 ? 1 : 0;
