import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Returns the findings of axe-core on a page, of any severity: rule, severity, and position. */
export async function findingsOn(page: Page): Promise<string[]> {
  // As an expression of the debugger, which the page's policy does not block.
  await page.evaluate(AXE);
  const results: AxeResults = await page.evaluate("axe.run()");
  return results.violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id} (${impact}): ${html.slice(0, 160)}\n${failureSummary}`),
  );
}
