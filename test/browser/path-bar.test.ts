import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { failingSession } from "./support/failing-session.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** A session with a failed call after hundreds of turns, as long as a full day's. */
function longSession() {
  const session = new SessionWriter({ provider: "anthropic", model: "claude-sonnet-4-5" });
  for (let turn = 0; turn < 700; turn++) {
    session.user(`Question ${turn}`);
    session.assistant(`Answer ${turn}`);
  }
  const failed = session.tool("bash", { command: "make" }, "no rule", { isError: true });
  session.user("Go on.");
  return { text: session.text, failed, leaf: session.leaf ?? "" };
}

/** The bar's visible facts, each with whether it is completely readable. */
function factsIn(page: Page): Promise<{ text: string; isWhole: boolean }[]> {
  return page.locator(".path-facts").evaluate((facts) => {
    const frame = facts.getBoundingClientRect();
    return [...facts.children].flatMap((fact) => {
      const box = fact.getBoundingClientRect();
      if (box.top >= frame.bottom || box.left >= frame.right) return [];
      const isCut = fact.scrollWidth > fact.clientWidth;
      const isWhole = !isCut && box.right <= frame.right + 0.5 && box.bottom <= frame.bottom + 0.5;
      return { text: (fact.textContent ?? "").trim(), isWhole };
    });
  });
}

test("at every width the bar shows messages, tokens, and cost of a context, none of them cut", async () => {
  const { text, failed } = longSession();
  for (const viewport of [
    ...[1024, 1100, 1279, 1280, 1366, 1440, 1536, 1920].map((width) => ({ width, height: 800 })),
    PHONE.viewport,
  ]) {
    const { page } = await open(text, viewport.width === 390 ? PHONE : { viewport });
    await page.getByRole("button", { name: "Next failure" }).click();
    await page.locator(`.is-focused[data-entry="${failed}"]`).waitFor();
    await page.keyboard.press("m");
    for (const side of ["before", "with"]) {
      await page.locator(`.path-bar.is-asked [data-value=${side}]`).click();
      await page.locator(`.path-bar [data-value=${side}][aria-pressed=true]`).waitFor();
      const facts = await factsIn(page);
      const where = `${viewport.width}, ${side}`;
      expect(
        facts.filter(({ isWhole }) => !isWhole),
        where,
      ).toEqual([]);
      expect(facts[0]?.text, where).toMatch(/^·?1,40\d messages$/);
      expect(facts[1]?.text, where).toMatch(/^·?(?:about )?[\d.]+k tokens$/);
      expect(facts[2]?.text, where).toMatch(/^·?answer \$[\d.]+$/);
    }
    // The ID is available as a tooltip.
    expect(await page.locator(".path-bar > strong").getAttribute("title")).toBe(`tool result ${failed}`);
  }
});

test("on a phone the bar shows size and end of a path and a context, and what failed", async () => {
  const { text, failed } = longSession();
  const { page } = await open(text, { ...PHONE, hash: `#entry=${failed}` });
  await page.locator(`.is-focused[data-entry="${failed}"]`).waitFor();
  for (const view of ["path", "model"]) {
    if (view === "model") {
      await page.locator(".menu-button").tap();
      await page.locator(".segments button[data-value=model]").tap();
    }
    const facts = await factsIn(page);
    expect(
      facts.filter(({ isWhole }) => !isWhole),
      view,
    ).toEqual([]);
    expect(facts[0]?.text, view).toMatch(/1,40\d (?:entries|messages)$/);
    expect(facts[1]?.text, view).toMatch(/k tokens$/);
    const isCut = await page
      .locator(".path-bar > strong")
      .evaluate((one) => one.scrollWidth > one.clientWidth);
    expect(isCut, view).toBe(false);
  }
  await page.locator(".marked-context").tap();
  // On a narrow screen, failures are shown as a number only.
  const status = page.locator(".path-bar.is-asked .failures [data-short]");
  expect((await status.boundingBox())?.width).toBeGreaterThan(15);
  expect(await status.evaluate((one) => getComputedStyle(one, "::before").content)).toContain('"1/1"');
  const title = page.locator(".title h1");
  expect((await title.boundingBox())?.height).toBeGreaterThan(0);
});

test("a context other than the focused entry's has a notice that links to that entry's", async () => {
  const { text, failures, parallel } = failingSession();
  for (const screen of [{ viewport: { width: 1280, height: 800 } }, PHONE]) {
    const { page } = await open(text, { ...screen, hash: `#entry=${failures[1]}` });
    await page.locator(`.is-focused[data-entry="${failures[1]}"]`).waitFor();
    expect(await page.locator(".marked-context").count()).toBe(0);
    if (screen === PHONE) await page.locator(".menu-button").tap();
    await page.locator(".segments button[data-value=model]").click();
    expect(await page.locator(".path-bar > strong").textContent()).toBe("What the model sees now");
    const instead = page.locator(".marked-context");
    expect(await instead.textContent()).toBe(`See it at entry ${failures[1]} instead`);
    await instead.click();
    await page.locator(".path-bar.is-asked").waitFor();
    expect(await page.locator(".path-bar > strong").getAttribute("title")).toBe(`tool result ${failures[1]}`);
    expect(await page.locator(`.entry[data-entry="${parallel}"]`).count()).toBe(0);
    expect(await instead.count()).toBe(0);
  }
});

test("at the focused entry's own context, the bar offers no other", async () => {
  const { text, leaf } = longSession();
  const { page } = await open(text, { hash: `#entry=${leaf}&view=model` });
  await page.locator(`.is-focused[data-entry="${leaf}"]`).waitFor();
  expect(await page.locator(".marked-context").count()).toBe(0);
});

test("the buttons for other failures keep the shape and color of their group", async () => {
  const { text } = failingSession();
  const { page } = await open(text);
  const button = page.getByRole("button", { name: "Next failure" });
  await button.hover();
  const { background, corner } = await button.evaluate((one) => {
    const { backgroundColor, borderTopRightRadius } = getComputedStyle(one);
    return { background: backgroundColor, corner: Number.parseFloat(borderTopRightRadius) };
  });
  const [red = 0, green = 0, blue = 0] = background.match(/\d+/g)?.map(Number) ?? [];
  expect(red - Math.max(green, blue)).toBeGreaterThan(20);
  expect(corner).toBeGreaterThanOrEqual(13);

  // A tap leaves no highlight.
  const { page: phone } = await open(text, PHONE);
  const tapped = phone.getByRole("button", { name: "Next failure" });
  await tapped.tap();
  expect(await tapped.evaluate((one) => getComputedStyle(one).backgroundColor)).toBe("rgba(0, 0, 0, 0)");
});
