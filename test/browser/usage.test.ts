import { expect, test } from "vitest";
import { findingsOn } from "./support/axe.ts";
import { useBrowser } from "./support/browser.ts";
import { failingSession } from "./support/failing-session.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

test("usage states what each number covers: the whole session, or the path and its end", async () => {
  const { text, single, failures } = failingSession();
  const { page } = await open(text, { hash: `#entry=${failures[1]}` });
  await page.locator(`.is-focused[data-entry="${failures[1]}"]`).waitFor();
  await page.keyboard.press("u");
  const cost = page.locator(".tile:has-text('Cost') .tile-note");
  expect(await cost.textContent()).toMatch(/^\$[\d.]+ on the current branch$/);
  const whole = await cost.textContent();
  const titles = await page
    .locator(".chart figcaption")
    .evaluateAll((all) => all.map(({ firstChild }) => firstChild?.textContent?.trim()));
  expect(titles).toHaveLength(4);
  for (const title of titles) expect(title).toContain("whole session");

  await page.goto(`${page.url().split("#")[0]}#entry=${single}&end=${single}`);
  await page.locator(`.is-focused[data-entry="${single}"]`).waitFor();
  await page.keyboard.press("u");
  const notes = await page.locator(".tile-note:has-text('branch')").allTextContents();
  expect(notes).toHaveLength(4);
  for (const note of notes) expect(note).toMatch(new RegExp(` on the branch to entry ${single}$`));
  expect(await cost.textContent()).not.toBe(whole);
  expect(await page.locator(".legend").first().textContent()).toContain(
    `faded: not on the branch to entry ${single}`,
  );
});

test("usage shows a number once if all of the session is on the path, and draws no bar for a cost without tokens", async () => {
  const session = new SessionWriter({ provider: "acme", model: "acorn-2" });
  session.user("Count.");
  session.assistant("One.");
  session.assistant("Two.");
  session.add("usage", { kind: "cost", provider: "acme", model: "acorn-2", usage: { cost: { total: 1 } } });
  const { page } = await open(session.text, { hash: "#view=usage" });
  await page.locator(".tile").first().waitFor();
  const notes = await page.locator(".tile-note").allTextContents();
  expect(notes.filter((note) => note.includes("branch"))).toEqual(["all on the current branch"]);
  expect(await page.locator(".chart").first().locator(".bar").count()).toBe(2);
});

test("the bars of a chart can be read and chosen by keys and by touch", async () => {
  const { text, single } = failingSession();
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    const { page } = await open(text, { viewport, hash: "#view=usage" });
    const reading = page.locator(".chart-reading");
    expect(await page.getByRole("slider").count()).toBe(0);
    // The Tab key reaches one bar, and arrow keys move from there.
    await page.locator('.bar[tabindex="0"]').focus();
    const read = async () => (await reading.locator("span").textContent()) ?? "";
    const last = await read();
    expect(last).toMatch(/^acme\/acorn-2 · in, from cache: [\d,]+ · .*out: [\d,]+$/);
    expect(await page.locator(".bar:focus").getAttribute("aria-label")).toBe(last.replaceAll(" · ", ", "));
    await page.keyboard.press("ArrowLeft");
    await expect.poll(read).not.toBe(last);
    expect(await page.locator(".bar.is-told").count()).toBe(1);
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    expect(
      await page
        .locator(".bar")
        .nth(2)
        .evaluate((bar) => bar.matches(":focus.is-told")),
    ).toBe(true);
    expect(await findingsOn(page)).toEqual([]);
    if (viewport.width === 390) await reading.getByRole("button", { name: "Show the entry" }).click();
    else await page.keyboard.press("Enter");
    await page.locator(`.entry.is-focused:has([data-entry="${single}"])`).waitFor();
  }
});

test("values of tiles are on one line, and labels of charts have their size, where names take two lines", async () => {
  const { text } = failingSession();
  const { page } = await open(text, { hash: "#view=usage", viewport: { width: 1024, height: 768 } });
  await page.locator(".tile").first().waitFor();
  const getHeights = (selector: string) =>
    page.locator(selector).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
  expect(new Set(await getHeights(".tile-value")).size).toBe(1);
  const lines = await page.locator(".tile-name").evaluateAll((all) =>
    all.map((one) => {
      const range = new Range();
      range.selectNodeContents(one);
      return range.getClientRects().length;
    }),
  );
  expect(Math.max(...lines)).toBe(2);
  const sizes = await page.locator(".chart-line text").evaluateAll((all) =>
    all.map((one) => {
      const scale = one instanceof SVGTextElement ? (one.getScreenCTM()?.a ?? 0) : 0;
      return scale * Number.parseFloat(getComputedStyle(one).fontSize);
    }),
  );
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(10.9);
  const cut = await page
    .locator(".table-scroll")
    .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
  expect(cut).toBe(0);
});
