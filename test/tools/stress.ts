/**
 * Lets real processes append to one session, be killed, and replace its file, and counts acknowledged and lost entries. Half of
 * the time they write to threads of LangGraph and to chats, and delete them: nothing may be lost or return.
 *
 * npm run stress -- --minutes 5 [--seed 1] [--system windows]   Exits with 1 if anything acknowledged is lost, or redacted text is back.
 */
import { parseArgs } from "node:util";
import { stressDeletion } from "../fault/support/deletion-stress.ts";
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

/** Prints counts, and everything that should be empty; returns whether all of it is. */
function report(counts: object, faults: { readonly [what: string]: readonly string[] }): boolean {
  console.log(JSON.stringify(counts, undefined, 2));
  const found = Object.entries(faults);
  console.log(found.map(([what, all]) => `${what}: ${all.length}`).join("   "));
  for (const [what, all] of found) if (all.length > 0) console.log(what, all);
  return found.every(([, all]) => all.length === 0);
}

// Threads and chats are deleted as on this system.
const isBoth = system === "posix";
const milliseconds = minutes * 60_000 * (isBoth ? 0.5 : 1);
const { lost, revealed, left, ...counts } = await stress(milliseconds, seed, system);
const isClean = [report({ seed, minutes, ...counts }, { lost, revealed, left })];
if (isBoth) {
  const { lost, returned, doubled, ...counts } = await stressDeletion(milliseconds, seed);
  isClean.push(report(counts, { lost, returned, doubled }));
}
process.exitCode = isClean.every(Boolean) ? 0 : 1;
