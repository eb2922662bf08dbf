import { expect, test } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { failingSession } from "./support/failing-session.ts";
import { coveredByActions } from "./support/overlaps.ts";
import { smallSession } from "./support/small-session.ts";

const open = useBrowser();

const SCREENS = [
  { viewport: { width: 1280, height: 800 }, hasTouch: false },
  { viewport: { width: 390, height: 844 }, hasTouch: true },
];

test("actions never cover content: on no screen, and whatever is looked at", async () => {
  const failing = failingSession();
  const small = smallSession();
  for (const screen of SCREENS) {
    for (const [text, ids] of [
      [failing.text, [failing.parallel, ...failing.results, ...failing.failures, failing.single]],
      [small.text, [small.question, small.edit, small.compaction, small.last]],
    ] as const) {
      const { page } = await open(text, screen);
      for (const id of ids) {
        await page.goto(`${page.url().split("#")[0]}#entry=${id}`);
        await page.locator(`.is-focused[data-entry="${id}"]`).waitFor();
        expect(await page.locator(".entry-actions .icon-button").count()).toBeGreaterThan(2);
        expect(await coveredByActions(page), id).toEqual([]);
      }
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(screen.viewport.width);
    }
  }
});

test("a finger reaches the actions of a result", async () => {
  const { text, failures } = failingSession();
  const { page } = await open(text, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    hash: `#entry=${failures[1]}`,
  });
  const eye = page.locator(`[data-entry="${failures[1]}"]`).getByLabel("What the model saw with this");
  expect(await eye.evaluate((one) => getComputedStyle(one).opacity)).toBe("1");
  await eye.tap();
  await page.locator("[aria-label='What the model sees']").waitFor();
});
