/**
 * Damages session files at random and reads them, until the time is over: npm run fuzz -- [--minutes N] [--seed N]
 *
 * Every case is judged as in test/property/corruption: it opens or is refused, loses nothing but what is damaged, is
 * left as it was by looking, and grows. Ends with 1 if a case fails; its seed is printed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { judge, makeCase, smallFixtures } from "../test/fault/support/corruption.ts";

/** A case that takes longer counts as one that hangs. */
const HANG_MS = 10_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});

const folder = mkdtempSync(join(tmpdir(), "sessiontree-fuzz-"));
const fixtures = smallFixtures();
const firstSeed = Number(values.seed);
const end = Date.now() + Number(values.minutes) * 60_000;
const counts = { tried: 0, issues: 0, refused: 0, hangs: 0, crashes: 0, faults: 0 };

console.log(`From seed ${firstSeed} on, for ${values.minutes} minutes.`);
try {
  for (let seed = firstSeed; Date.now() < end; seed++) {
    const start = Date.now();
    try {
      const outcome = judge(makeCase(fixtures, seed), folder);
      counts.issues += outcome.issues;
      if (outcome.isRefused) counts.refused++;
      if (outcome.faults.length > 0) {
        counts.faults++;
        console.error(`seed ${seed}: ${outcome.faults.join("\n  ")}`);
      }
    } catch (error) {
      counts.crashes++;
      console.error(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`);
    }
    if (Date.now() - start > HANG_MS) {
      counts.hangs++;
      console.error(`seed ${seed}: took ${Date.now() - start} ms`);
    }
    counts.tried++;
  }
} finally {
  rmSync(folder, { recursive: true });
}

console.log(
  `${counts.tried} cases tried, ${counts.issues} issues reported, ${counts.refused} refused as no sessions,`,
  `${counts.hangs} hangs, ${counts.crashes} crashes, ${counts.faults} with lost or changed lines`,
);
process.exitCode = counts.hangs + counts.crashes + counts.faults > 0 ? 1 : 0;
