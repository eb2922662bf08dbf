import { expect, test } from "vitest";
import { judge, makeCase, smallFixtures } from "../../fault/support/corruption.ts";
import { sandbox } from "../../fault/support/sandbox.ts";

/** Number of cases between which the event loop gets its turn. */
const BATCH = 500;

/** Tests that damaged files open, lose only damaged lines, do not change when read, and grow. */
export function testCorruption(firstSeed: number, count: number): void {
  test(`${count} files, damaged at random with the seeds from ${firstSeed} on`, async () => {
    const folder = sandbox();
    const fixtures = smallFixtures();
    let [issues, refused] = [0, 0];
    for (let seed = firstSeed; seed < firstSeed + count; seed++) {
      const outcome = judge(makeCase(fixtures, seed), folder);
      if (outcome.faults.length > 0) expect.fail(`seed ${seed}: ${outcome.faults.join("\n")}`);
      issues += outcome.issues;
      if (outcome.isRefused) refused++;
      if (seed % BATCH === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    console.info(`seeds ${firstSeed} to ${firstSeed + count - 1}: ${issues} issues, ${refused} no sessions`);
    // Most files have visible damage, and most are sessions nevertheless.
    expect(issues).toBeGreaterThan(count);
    expect(refused).toBeLessThan(count / 2);
  });
}
