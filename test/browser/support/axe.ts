import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Gives what axe-core finds on a page, of any weight: rule, weight, and where. */
export async function findingsOn(page: Page): Promise<string[]> {
  // As an expression of the debugger, which no policy of the page stops.
  await page.evaluate(AXE);
  const results: AxeResults = await page.evaluate("axe.run()");
  return results.violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id} (${impact}): ${html.slice(0, 160)}\n${failureSummary}`),
  );
}
