import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { failingSession } from "./support/failing-session.ts";
import { coveredByActions } from "./support/overlaps.ts";
import { SessionWriter } from "./support/session-writer.ts";
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

test("on a phone everything that can be pressed is forty pixels high, and nothing is out of reach", async () => {
  const { text, failures, parallel } = failingSession();
  for (const hash of [
    `#entry=${failures[1]}`,
    `#entry=${parallel}&end=${parallel}`,
    `#entry=${failures[0]}`,
    "#view=usage",
  ]) {
    const { page } = await open(text, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
      hash,
    });
    const small = await page.evaluate(() =>
      [...document.querySelectorAll("button, .icon-button, .search input")].flatMap((one) => {
        const { width, height } = one.getBoundingClientRect();
        if (width === 0 || (height >= 40 && width >= 24) || one.matches(".search input")) return [];
        return `${one.className} ${one.getAttribute("aria-label") ?? one.textContent} ${width}×${height}`;
      }),
    );
    expect(small, hash).toEqual([]);
    const outside = await page.evaluate(() =>
      [...document.querySelectorAll(".path-bar *, .top-bar *")].flatMap((one) => {
        const { left, right, width } = one.getBoundingClientRect();
        return width > 0 && (left < 0 || right > innerWidth + 1) ? [one.textContent] : [];
      }),
    );
    expect(outside, hash).toEqual([]);
    if (hash === "#view=usage") continue;
    expect(await page.locator(".path-bar").textContent()).toMatch(/context (?:about )?[\d.]+k? tokens/);
    expect(await page.getByRole("button", { name: "Print" }).isVisible()).toBe(true);
    const head = page.locator(".is-focused .entry-head, .entry:has(.is-focused) > .entry-head").first();
    expect(await head.locator("time").isVisible()).toBe(true);
    expect(await head.getByLabel("Link to entry").isVisible()).toBe(true);
  }
  const tree = await open(text, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await tree.page.getByRole("button", { name: "Tree" }).click();
  for (const row of await tree.page.locator(".tree-entry, .tree-run, .filter-choice, .filter-more").all()) {
    expect((await row.boundingBox())?.height).toBeGreaterThanOrEqual(40);
  }
  const { page } = await open(text, {
    viewport: { width: 390, height: 844 },
    hash: `#entry=${parallel}&end=${parallel}`,
  });
  await page.getByText("Go to the leaf").click();
  await page.locator(".path-bar:has-text('Path to the leaf')").waitFor();
});

/** Waits until the conversation has stood still for ten frames. */
async function standStill(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const place = () => document.querySelector(".conversation")?.scrollTop;
    for (let still = 0, before = place(); still < 10; still++) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      if (place() !== before) still = 0;
      before = place();
    }
  });
}

test("what is looked at stands whole below the bar, its heading first", async () => {
  const { text, failures, parallel } = failingSession();
  for (const screen of SCREENS) {
    const { page } = await open(text, { ...screen, isMobile: screen.hasTouch });
    /** Pixels between the bar and an element, once nothing moves any more. */
    const gapAbove = async (selector: string) => {
      await page.locator(selector).first().waitFor();
      await standStill(page);
      return page
        .locator(selector)
        .first()
        .evaluate((one) => {
          const list = one.closest(".conversation")?.getBoundingClientRect();
          return one.getBoundingClientRect().top - (list?.top ?? Number.POSITIVE_INFINITY);
        });
    };
    for (const id of failures) {
      await page.keyboard.press("f");
      expect(await gapAbove(`.is-focused[data-entry="${id}"]`), id).toBeGreaterThanOrEqual(4);
    }
    await page.keyboard.press("F");
    await page.keyboard.press("F");
    await page.locator(`.is-focused[data-entry="${failures[1]}"]`).waitFor();
    await page.keyboard.press("m");
    await page.getByText("with the result").click();
    const seen = "[aria-label='What the model sees'] .is-focused";
    expect(await gapAbove(seen), "what the model saw").toBeGreaterThanOrEqual(4);
    await page.goto(`${page.url().split("#")[0]}#entry=${parallel}`);
    expect(await gapAbove(`.is-focused[data-entry="${parallel}"] .entry-head`)).toBeGreaterThanOrEqual(4);
  }
});

test("the heading of a turn is in sight when its only result has failed, however long that is", async () => {
  const session = new SessionWriter({ provider: "acme", model: "acorn-2" });
  for (let turn = 0; turn < 30; turn++) session.user(`Question ${turn}\n\n${"words ".repeat(turn * 9)}`);
  const failed = session.tool("bash", { command: "make" }, "no rule\n".repeat(300), { isError: true });
  for (let turn = 0; turn < 30; turn++) session.user(`Question ${turn}`);
  for (const screen of SCREENS) {
    const { page } = await open(session.text, { ...screen, isMobile: screen.hasTouch });
    for (const key of ["f", "m"]) {
      await page.keyboard.press(key);
      if (key === "m") await page.getByText("with the result").click();
      await page.locator(`.is-focused[data-entry="${failed}"]`).waitFor();
      await standStill(page);
      const gap = await page.locator(`.entry:has([data-entry="${failed}"]) .entry-head`).evaluate((head) => {
        const list = head.closest(".conversation")?.getBoundingClientRect();
        return head.getBoundingClientRect().top - (list?.top ?? Number.POSITIVE_INFINITY);
      });
      expect(gap, key).toBeGreaterThanOrEqual(2);
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
  const eye = page
    .locator(`[data-entry="${failures[1]}"]`)
    .getByLabel("What the model saw when it made this call");
  expect(await eye.evaluate((one) => getComputedStyle(one).opacity)).toBe("1");
  await eye.tap();
  await page.locator("[aria-label='What the model sees']").waitFor();
});
