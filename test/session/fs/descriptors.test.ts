import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { Children } from "../../fault/support/children.ts";
import { sandbox } from "../../fault/support/sandbox.ts";

const children = new Children();

/** Number of descriptors that a process had open, at several points. */
interface Counts {
  readonly before: number;
  readonly open: number;
  readonly used: number;
  readonly closed: number;
  readonly reopened: number;
  readonly collected: number;
}

function isCounts(value: unknown): value is Counts {
  return typeof value === "object" && value !== null && "collected" in value;
}

test("thousands of written sessions use few descriptors, and release them", async (context) => {
  if (!existsSync("/proc/self/fd")) context.skip("the system does not list the descriptors of a process");
  const [counts] = await children.run("openMany", [sandbox(), "5000"], ["--expose-gc"]);
  if (!isCounts(counts)) throw new Error(`not counted: ${JSON.stringify(counts)}`);
  const { before, open, used, closed, reopened, collected } = counts;
  // Some are kept open for the next append, up to a limit.
  expect(open - before).toBeGreaterThan(10);
  expect(open - before).toBeLessThan(100);
  expect(used - before).toBeLessThan(100);
  expect(closed - before).toBeLessThan(5);
  expect(reopened - closed).toBe(50);
  expect(collected - closed).toBeLessThan(5);
});
