import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { bigSession } from "./support/big-session.ts";
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

test("actions never cover content, on any screen and with any focus", async () => {
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

test("on a phone every control is 44 pixels high and reachable", async () => {
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
        if (width === 0 || (height >= 44 && width >= 24) || one.matches(".search input")) return [];
        return `${one.className} ${one.getAttribute("aria-label") ?? one.textContent} ${width}×${height}`;
      }),
    );
    expect(small, hash).toEqual([]);
    await page.locator(".menu-button").tap();
    const outside = await page.evaluate(() =>
      [...document.querySelectorAll(".path-bar *, .top-bar *")].flatMap((one) => {
        const { left, right, width } = one.getBoundingClientRect();
        return width > 0 && (left < 0 || right > innerWidth + 1) ? [one.textContent] : [];
      }),
    );
    expect(outside, hash).toEqual([]);
    for (const name of ["Print", "Light or dark", "Signs", "Open or close everything"]) {
      expect(await page.getByRole("button", { name }).isVisible(), name).toBe(true);
    }
    if (hash === "#view=usage") continue;
    expect(await page.locator(".path-bar").textContent()).toMatch(/context (?:about )?[\d.]+k? tokens/);
    const head = page.locator(".is-focused .entry-head, .entry:has(.is-focused) > .entry-head").first();
    expect(await head.locator("time").isVisible()).toBe(true);
    expect(await head.getByLabel("Actions for entry").isVisible()).toBe(true);
  }
  const tree = await open(text, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await tree.page.getByRole("button", { name: "Tree" }).click();
  for (const row of await tree.page.locator(".tree-entry, .tree-run, .filter-choice, .filter-more").all()) {
    expect((await row.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  }
  const { page } = await open(text, {
    viewport: { width: 390, height: 844 },
    hash: `#entry=${parallel}&end=${parallel}`,
  });
  await page.getByText("Back to current").click();
  await page.locator(".path-bar:has-text('Current branch')").waitFor();
});

test("on a phone the page's header leaves room for the conversation and unfolds", async () => {
  const { text, failures, parallel } = failingSession((session) => session.line("{broken"));
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  for (const hash of ["", `#entry=${failures[1]}`, `#entry=${failures[0]}`, "#view=model", "#view=usage"]) {
    const { page } = await open(text, { ...phone, hash });
    const top = async () => (await page.locator("main > :not(.path-bar)").first().boundingBox())?.y ?? 999;
    expect(await top(), hash).toBeLessThan(120);
    if (hash === `#entry=${failures[1]}`) {
      await page.keyboard.press("m");
      for (const side of ["before the call", "with the result"]) {
        await page.getByText(side).tap();
        expect(await top(), side).toBeLessThan(120);
        // The cost is visible, and so are the controls.
        const right = async (selector: string) => {
          const box = await page.locator(selector).boundingBox();
          return (box?.x ?? 999) + (box?.width ?? 999);
        };
        expect(await right(".answer-cost")).toBeLessThanOrEqual(390);
        expect((await page.locator(".path-bar").boundingBox())?.height).toBeLessThan(75);
        expect(await right(".failures")).toBeLessThanOrEqual(390);
      }
      await page.getByText("Back", { exact: true }).tap();
    }
    // The button that unfolds the other views shows the current one; choosing one folds them.
    await page.locator(".menu-button").tap();
    await page.locator(".segments button[data-value=usage]").tap();
    await page.locator(".menu-button:has-text('Usage')").waitFor();
    expect(await page.locator(".segments button[data-value=usage]").isVisible()).toBe(false);
    await page.getByRole("button", { name: "Search", exact: true }).tap();
    await page.keyboard.type("output of three");
    await page.locator(".hit").first().tap();
    await page.locator(`.is-focused[data-entry="${failures[1]}"]`).waitFor();
  }
  expect(parallel).not.toBe("");
});

test("on a phone charts are readable and no table is cut", async () => {
  const { page } = await open(bigSession(200), {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    hash: "#view=usage",
  });
  await page.locator(".call-table").waitFor();
  const labels = await page.locator(".chart-line text").evaluateAll((all) =>
    all.map((one) => {
      const scale = one instanceof SVGTextElement ? (one.getScreenCTM()?.a ?? 0) : 0;
      return scale * Number.parseFloat(getComputedStyle(one).fontSize);
    }),
  );
  expect(labels.length).toBeGreaterThan(6);
  expect(Math.min(...labels)).toBeGreaterThanOrEqual(11);
  const cut = await page.locator(".model-table tbody :is(th, td), .table-scroll").evaluateAll((all) =>
    all.flatMap((one) => {
      const isCut = one.getBoundingClientRect().right > innerWidth || one.scrollWidth > one.clientWidth;
      return isCut ? [one.textContent] : [];
    }),
  );
  expect(cut).toEqual([]);
  // There, a call is a few lines: numbers of tokens show the names of their columns, which the cost, the time, and the model need not.
  const names = await page
    .locator(".call-table tbody tr")
    .first()
    .locator("td")
    .evaluateAll((all) => all.map((one) => getComputedStyle(one, "::before").content));
  expect(names).toEqual(["none", '"In"', '"From cache"', '"Out"', "none", "none"]);
  const heights = await page
    .locator(".call-table tbody tr")
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  expect(Math.max(...heights)).toBeLessThan(110);
});

test("a tap ends the path at a result", async () => {
  const { text, results } = failingSession();
  const { page } = await open(text, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    hash: `#entry=${results[0]}`,
  });
  const result = page.locator(`.tool-use[data-entry="${results[1]}"]`);
  await result.locator(".result .fold-summary").tap();
  await result.getByLabel(`Actions for entry ${results[1]}`).tap();
  await page.getByRole("button", { name: "Hide what follows" }).tap();
  await page.locator(`.path-bar:has-text("Branch to entry ${results[1]}")`).waitFor();
});

/** Waits until the conversation has not moved for ten frames. */
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

test("a focused entry is completely visible below the bar, heading first", async () => {
  const { text, failures, parallel } = failingSession();
  for (const screen of SCREENS) {
    const { page } = await open(text, { ...screen, isMobile: screen.hasTouch });
    /** Pixels between the bar and an element, after all movement has stopped. */
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

test("the heading of a turn is visible when its only result failed, regardless of its length", async () => {
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

test("the actions of a result work on a touch screen", async () => {
  const { text, failures } = failingSession();
  const { page } = await open(text, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    hash: `#entry=${failures[1]}`,
  });
  const menu = page.locator(`[data-entry="${failures[1]}"]`).getByLabel(`Actions for entry ${failures[1]}`);
  expect(await menu.evaluate((one) => getComputedStyle(one).opacity)).toBe("1");
  await menu.tap();
  await page.getByRole("dialog").getByText("What the model saw when it made this call").tap();
  await page.locator("[aria-label='What the model sees']").waitFor();
});

test("at 1024 pixels no button of a search covers another, and the search keeps its field", async () => {
  const { text } = failingSession();
  const { page } = await open(text, { viewport: { width: 1024, height: 768 } });
  await page.getByLabel("Search in all entries").fill("such");
  await page.locator(".search-count").waitFor();
  const covered = await page.locator(".top-bar :is(button, input)").evaluateAll((all) => {
    const boxes = all.map((one) => one.getBoundingClientRect()).filter(({ width }) => width > 0);
    return boxes.flatMap((box, index) =>
      boxes
        .slice(index + 1)
        .filter((other) => box.left < other.right - 0.5 && other.left < box.right - 0.5)
        .map((other) => `${box.left}–${box.right} and ${other.left}–${other.right}`),
    );
  });
  expect(covered).toEqual([]);
  expect((await page.locator(".search input").boundingBox())?.width).toBeGreaterThanOrEqual(40);
});

test("the facts about the session and about an answer are not cut while there is space", async () => {
  const session = new SessionWriter({ provider: "anthropic", model: "claude-opus-4-5" });
  session.user("Why is the total off?");
  const usage = { input: 12, output: 1597, cacheRead: 152_604, cacheWrite: 1536, totalTokens: 155_749 };
  const answer = session.assistant("The rate is rounded twice.", {
    usage: { ...usage, cost: { total: 0.1311 } },
  });
  session.user("Thanks.");
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 1280, height: 800 },
    { width: 1024, height: 768 },
  ]) {
    const { page } = await open(session.text, { viewport, hash: `#entry=${session.leaf}` });
    const parts = [page.locator(".title p"), page.locator(`.entry[data-entry="${answer}"] .entry-facts`)];
    expect(await parts[0]?.textContent()).toMatch(/ · started 3 Feb 2026, 09:00$/);
    expect(await parts[1]?.textContent()).toMatch(/^\$0\.13 · 154,152 in \(.*\), 1,597 out · 20 s$/);
    for (const part of parts) {
      const isCut = await part.evaluate((one) => one.scrollWidth > one.clientWidth);
      expect(isCut, `${viewport.width}: ${await part.textContent()}`).toBe(false);
      expect((await part.boundingBox())?.height).toBeLessThan(24);
    }
  }
});

test("facts about the session that do not fit on their line do not cover the title", async () => {
  const session = new SessionWriter({ provider: "acme", model: "acorn-2" });
  session.user("Why is the total off?");
  const text = session.text.replace("/home/ada/till", `/home/ada/${"x".repeat(240)}`);
  const { page } = await open(text, { viewport: { width: 1024, height: 768 } });
  const [title, facts] = [await page.locator(".title h1").boundingBox(), page.locator(".title p")];
  expect(await facts.textContent()).toContain("xxx");
  expect((await facts.boundingBox())?.y).toBeGreaterThanOrEqual(
    (title?.y ?? Number.NaN) + (title?.height ?? 0),
  );
});

test("an action that the last entry does not have leaves no hole among the others", async () => {
  const { text, failures } = failingSession();
  const end = failures[1] ?? "";
  const { page } = await open(text, { hash: `#entry=${end}&end=${end}` });
  const actions = page.locator(".tool-use.is-focused .result .entry-actions");
  await actions.waitFor();
  const boxes = await actions.locator(".icon-button:not(.entry-menu)").evaluateAll((all) =>
    all.flatMap((one) => {
      const { left, right, width } = one.getBoundingClientRect();
      return width === 0 ? [] : [{ left, right }];
    }),
  );
  expect(boxes).toHaveLength(3);
  for (const [index, { left }] of boxes.slice(1).entries())
    expect(left - (boxes[index]?.right ?? 0)).toBeLessThan(1);
});

test("help that is longer than the screen keeps its button in sight", async () => {
  const { text } = failingSession();
  const { page } = await open(text, { viewport: { width: 1024, height: 500 } });
  await page.keyboard.press("?");
  const help = page.locator("dialog.help");
  await help.waitFor();
  await help.evaluate((dialog) => dialog.scrollTo(0, dialog.scrollHeight));
  expect(await help.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0);
  const [button, dialog] = [await help.getByLabel("Close").boundingBox(), await help.boundingBox()];
  expect(button?.y).toBeGreaterThanOrEqual(dialog?.y ?? 0);
});
