import { expect, test } from "vitest";
import { findingsOn } from "./support/axe.ts";
import { useBrowser } from "./support/browser.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

function forked() {
  const writer = new SessionWriter({ provider: "acme", model: "acorn-2" });
  writer.user("Make it quick.");
  const asked = writer.assistant("How?");
  const left = writer.user("With a cache.");
  writer.tool("edit", { path: "src/a.ts", oldText: "slow", newText: "quick" }, "Edited.");
  writer.assistant("The cache is there.");
  writer.add("custom", { customType: "acme.reminder-of-the-tokens-left", data: { left: 3 } });
  writer.leaf = asked;
  writer.user("With an index.");
  const end = writer.tool("bash", { command: "make index" }, "no rule", { isError: true });
  return { text: writer.text, left, end };
}

test("shows two branches side by side from their fork, at a separate address", async () => {
  const { text, left } = forked();
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ]) {
    const { page, complaints } = await open(text, { viewport, hash: `#entry=${left}&records=shown` });
    await page.locator(`.entry[data-entry="${left}"]`).hover();
    await page.getByLabel("Compare two branches").first().click();
    const columns = page.locator(".beside-column");
    await columns.nth(1).waitFor();
    const said = () =>
      columns.evaluateAll((all) => all.map((one) => one.querySelector(".entry-body")?.textContent?.trim()));
    await expect.poll(said).toEqual(["With a cache.", "With an index."]);
    expect(await columns.first().locator("p").first().textContent()).toMatch(
      /5 entries · \$[\d.]+ · 1 min 20 s$/,
    );
    // Both show the duration and cost of a turn.
    expect(await columns.locator(".entry-facts:text-matches('^turn: ')").count()).toBe(2);
    // The time of an entry is on one line.
    const times = page.locator(".beside .entry-end time");
    for (const height of await times.evaluateAll((all) =>
      all.map((one) => one.getBoundingClientRect().height),
    ))
      expect(height).toBeLessThan(30);
    // It shares the line with the entry's kind; the actions join them when the entry is focused.
    const state = columns.locator(".entry.is-small").first();
    const [what, when] = [state.locator(".entry-kind"), state.locator(".entry-end time")];
    const topOf = async (part: typeof what) => (await part.boundingBox())?.y ?? Number.NaN;
    expect(Math.abs((await topOf(what)) - (await topOf(when)))).toBeLessThan(8);
    // Neither column shows the common entries.
    expect(await page.locator(".beside").textContent()).not.toContain("How?");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
    await page.reload();
    await expect.poll(said).toEqual(["With a cache.", "With an index."]);
    expect(await findingsOn(page)).toEqual([]);
    await columns
      .nth(1)
      .getByRole("button", { name: /^Branch to|^Current branch/ })
      .click();
    await page.locator(".path-bar:has-text('Current branch')").waitFor();
    expect(complaints).toEqual([]);
  }
});

test("side by side, both branches state what their records cost, and the marked entry is aligned and in the tree", async () => {
  const writer = new SessionWriter({ provider: "acme", model: "acorn-2" });
  const record = (total: number) =>
    writer.add("usage", {
      kind: "acme.cost",
      ...writer.model,
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { total } },
    });
  const usage = { input: 54_684, output: 2338, cacheRead: 0, cacheWrite: 0, totalTokens: 57_022 };
  const asked = writer.user("Make it quick.");
  writer.assistant("With a cache.", { usage });
  record(0.25);
  writer.leaf = asked;
  const marked = writer.assistant("With an index.", { usage });
  writer.user("Thanks.");
  record(0.5);
  for (const width of [1440, 1024]) {
    const { page } = await open(writer.text, { viewport: { width, height: 800 } });
    await page.getByLabel("Compare two branches").first().click();
    const columns = page.locator(".beside-column");
    await columns.nth(1).waitFor();
    expect(await columns.locator("p > span").allTextContents()).toEqual([
      expect.stringMatching(/^2 entries · \$0\.50/),
      expect.stringMatching(/^1 entry · \$0\.25/),
    ]);
    const current = page.locator(".tree-row.is-current");
    await expect.poll(() => current.textContent()).toContain("With an index.");
    // The head of the marked entry has as many lines as that of the other.
    await page.locator(`.is-focused[data-entry="${marked}"]`).waitFor();
    const heads = await columns.evaluateAll((all) =>
      all.map((one) => one.querySelector(".entry-head")?.getBoundingClientRect().height),
    );
    expect(new Set(heads).size, heads.join()).toBe(1);
    const facts = columns.locator(".entry-facts").first();
    expect(await facts.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
  }
});

test("keys move through two branches side by side, scroll to the target, and swap the sides", async () => {
  const writer = new SessionWriter({ provider: "acme", model: "acorn-2" });
  const asked = writer.user("Go on.");
  const left = writer.assistant("Left.");
  for (let turn = 0; turn < 30; turn++) writer.user(`Question ${turn}`);
  const last = writer.leaf;
  writer.leaf = asked;
  writer.assistant("Right.");
  const { page } = await open(writer.text, { hash: `#entry=${left}` });
  await page.getByLabel("Compare two branches").click();
  const said = () =>
    page
      .locator(".beside-column")
      .evaluateAll((all) => all.map((one) => one.querySelector(".entry-body")?.textContent?.trim()));
  await expect.poll(said).toEqual(["Left.", "Right."]);
  await page.keyboard.press("G");
  await page.locator(`.beside-column .is-focused[data-entry="${last}"]`).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("j");
  await page.keyboard.press("l");
  await expect.poll(said).toEqual(["Right.", "Left."]);
});

test("changed files, the timeline, and facts of a turn link to their entries", async () => {
  const { text, left, end } = forked();
  const { page, complaints } = await open(text, { hash: `#entry=${left}` });
  const head = page.locator(`.entry[data-entry="${left}"] .entry-facts`);
  expect(await head.textContent()).toMatch(/^turn: 2 calls · \$[\d.]+ · 1 min$/);
  await page.getByRole("button", { name: "Changes" }).click();
  const file = page.locator(".file-changes");
  expect(await file.locator("h2").textContent()).toBe("src/a.ts+1 −1");
  expect(await file.locator(".diff-line").allTextContents()).toEqual(["-slow", "+quick"]);
  expect(await findingsOn(page)).toEqual([]);
  await file.getByRole("button", { name: /^edit/ }).click();
  await page.locator(".tool-use.is-focused:has-text('src/a.ts')").waitFor();
  await page.keyboard.press("L");
  expect(await page.locator(".stretch title").count()).toBe(0);
  await page.locator(".stretch.is-failed").hover();
  expect(await page.locator(".stretch title").allTextContents()).toEqual([
    expect.stringMatching(/^\d+ .*: .+ .+/),
  ]);
  await page.locator(".stretch.is-failed").click();
  await page.locator(`.is-focused[data-entry="${end}"]`).waitFor();
  expect(complaints).toEqual([]);
});

test("side by side, the excerpt of a result has the room of actions that are not shown", async () => {
  const { text, left } = forked();
  const { page } = await open(text, { viewport: { width: 1024, height: 768 }, hash: `#entry=${left}` });
  await page.locator(`.entry[data-entry="${left}"]`).hover();
  await page.getByLabel("Compare two branches").first().click();
  const excerpt = page.locator(".beside-column .result .fold-excerpt:text-is('Edited.')");
  await excerpt.waitFor();
  expect(await excerpt.evaluate((one) => one.clientWidth >= one.scrollWidth)).toBe(true);
  expect((await excerpt.boundingBox())?.width).toBeGreaterThan(150);
  const heights = await page
    .locator(".beside-column > p")
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  expect(new Set(heights).size).toBe(1);
});
