import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { temporaryFolder } from "../apps/cli/support/cli.ts";
import { serve } from "../apps/cli/support/served.ts";
import { Scribe } from "../apps/cli/support/sessions.ts";
import { findingsOn } from "./support/axe.ts";
import { usePages } from "./support/browser.ts";
import { makeManySessions } from "./support/many-sessions.ts";

const { open } = usePages();

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const TABLET = { viewport: { width: 768, height: 1024 } };
const LAPTOP = { viewport: { width: 1024, height: 768 } };
const SCREENS = [PHONE, TABLET, LAPTOP];

async function openList(folder: string, settings: object, hash = "") {
  const opened = await open((await serve([folder])).url, { ...settings, hash });
  await opened.page.locator(".index-note:has-text('Adding up')").waitFor({ state: "detached" });
  return opened;
}

/** Creates a folder with a long title, a subagent, a damaged file, and a text that is found only after many other words. */
function makeCrowdedSessions(): string {
  const folder = temporaryFolder();
  const [first, second] = ["0198aaaa-0000-7000-8000-000000000001", "0198aaaa-0000-7000-8000-000000000002"];
  const parent = new Scribe(folder, first, "/projects/health-tester-of-the-summer");
  parent.user("Fix the rounding of all the receipts that are one cent off when there is a discount");
  parent.assistant(`${"The <status>completed</status> of the ".repeat(6)} heron ${"is here ".repeat(20)}`);
  const child = new Scribe(folder, second, "/projects/shop", parent.path);
  child.session.appendCustomEntry("sessiontree.subagent", { toolCallId: "call-1" });
  child.user("Look for other roundings");
  child.assistant("Done.");
  appendFileSync(parent.path, "{broken\n");
  return folder;
}

const getBox = (page: Page, selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      return { left, right, top, bottom };
    });

test("on a phone, the four tiles are in two rows, and the choices in one that names them whole", async () => {
  const { page } = await openList(makeManySessions(), PHONE);
  const countRows = (selector: string) =>
    page
      .locator(selector)
      .evaluateAll((all) => new Set(all.map((one) => one.getBoundingClientRect().top)).size);
  expect(await page.locator(".tile").count()).toBe(4);
  expect(await countRows(".tile")).toBe(2);
  expect(await page.locator(".choice").count()).toBe(4);
  expect(await countRows(".choice")).toBe(1);
  const cut = await page.locator(".choice select").evaluateAll((all) =>
    all.flatMap((one) => {
      const { font, paddingLeft, paddingRight } = getComputedStyle(one);
      const context = document.createElement("canvas").getContext("2d");
      if (context === null || !(one instanceof HTMLSelectElement)) return ["no text"];
      context.font = font;
      const word = one.selectedOptions[0]?.text ?? "";
      const room = one.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
      return context.measureText(word).width > room ? [word] : [];
    }),
  );
  expect(cut).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});

test("the choices stay in sight at every width, and cover no session that a key leads to", async () => {
  const folder = makeManySessions();
  for (const screen of SCREENS) {
    const { page } = await openList(folder, screen);
    await page.locator(".index-main").evaluate((main) => main.scrollTo(0, 1200));
    const header = await getBox(page, ".top-bar");
    const choices = await getBox(page, ".choice select");
    expect(choices.top, String(screen.viewport.width)).toBeGreaterThanOrEqual(header.bottom);
    expect(choices.bottom).toBeLessThan(header.bottom + 90);
    await page.getByLabel("Order").selectOption("messages");
    for (const [key, times] of [
      ["j", 25],
      ["k", 20],
    ] as const)
      for (let i = 0; i < times; i++) await page.keyboard.press(key);
    await page.locator(".session-row > a:focus").waitFor();
    const focused = await getBox(page, ".session-row > a:focus");
    expect(focused.top).toBeGreaterThanOrEqual((await getBox(page, ".choice select")).bottom);
  }
});

test("on a phone, the chart that is opened pushes the sessions down", async () => {
  const { page } = await openList(makeManySessions(), PHONE);
  await page.getByText("Over time").tap();
  await page.locator(".chart-reading").waitFor();
  const chart = await getBox(page, ".index-chart .chart");
  expect((await getBox(page, ".session-list")).top).toBeGreaterThanOrEqual(chart.bottom);
});

test("on a phone, everything in a list that can be pressed is 44 pixels high", async () => {
  const folder = makeCrowdedSessions();
  for (const hash of ["", "#search=heron", "#filter=rounding"]) {
    const { page } = await openList(folder, PHONE, hash);
    await page.locator(".session-row").first().waitFor();
    if (hash === "#search=heron") await page.locator(".session-hit").waitFor();
    const small = await page.locator("a, button, select, summary, .search").evaluateAll((all) =>
      all.flatMap((one) => {
        const { width, height } = one.getBoundingClientRect();
        return width === 0 || height >= 44 ? [] : `${one.className} ${one.textContent} ${height}`;
      }),
    );
    expect(small, hash).toEqual([]);
    expect(await findingsOn(page)).toEqual([]);
  }
});

test("on a phone, a finger that is next to the number of failures opens the first", async () => {
  const folder = temporaryFolder();
  const session = new Scribe(folder);
  session.user("Fix the rounding");
  session.assistant("No.", { stopReason: "error", errorMessage: "overloaded" });
  const { page } = await openList(folder, PHONE);
  const chip = page.locator(".chip.is-failed");
  await chip.waitFor();
  const isHit = await chip.evaluate((one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    return [-20, 20].map(
      (far) => document.elementFromPoint(left + width / 2, top + height / 2 + far) === one,
    );
  });
  expect(isHit).toEqual([true, true]);
});

test("on a phone, a hit shows the match, a long title has two lines, and no fact is broken", async () => {
  const { page } = await openList(makeCrowdedSessions(), PHONE, "#search=heron");
  const hit = page.locator(".session-hit").first();
  await hit.waitFor();
  const [shown, mark] = await Promise.all([
    getBox(page, ".session-hit > span"),
    getBox(page, ".session-hit mark"),
  ]);
  expect(mark.bottom).toBeLessThanOrEqual(shown.bottom);
  expect(mark.right).toBeLessThanOrEqual(shown.right);
  const title = await getBox(page, ".session-row h2");
  expect(title.bottom - title.top).toBeGreaterThan(40);
  const facts = page.locator(".session-fact");
  expect(await facts.count()).toBeGreaterThan(2);
  const broken = await facts.evaluateAll((all) =>
    all.flatMap((one) => (one.getBoundingClientRect().height > 24 ? [one.textContent] : [])),
  );
  expect(broken).toEqual([]);
});

test("the lines of the note on damaged lines are not pushed apart by its link", async () => {
  const { page } = await openList(makeCrowdedSessions(), PHONE);
  const note = page.locator(".index-note:has-text('damaged lines')");
  await note.waitFor();
  const gap = await note.evaluate((one) => {
    const range = new Range();
    range.selectNodeContents(one.lastChild ?? one);
    const [first, last] = [range.getClientRects()[0], [...range.getClientRects()].at(-1)];
    return (last?.top ?? 0) - (first?.top ?? 0);
  });
  expect(gap).toBeGreaterThan(0);
  expect(gap).toBeLessThan(24);
});

test("tiles, titles, lines, and the search field have common edges at every width", async () => {
  const folder = makeManySessions();
  for (const screen of SCREENS) {
    const { page } = await openList(folder, screen);
    await page.locator(".tile").first().waitFor();
    const tiles = await getBox(page, ".tiles");
    const chart = screen === LAPTOP ? ".index-chart .chart" : ".index-chart > summary";
    for (const selector of [".session-row", chart]) {
      const { left, right } = await getBox(page, selector);
      expect([left, right], selector).toEqual([tiles.left, tiles.right]);
    }
    expect((await getBox(page, ".session-row h2")).left).toBe(tiles.left);
    if (screen === LAPTOP) continue;
    const field = await getBox(page, ".search");
    expect([field.left, field.right]).toEqual([tiles.left, tiles.right]);
  }
});

test("a list without sessions has no choices, and none without hits has usage", async () => {
  const { page } = await openList(join(temporaryFolder(), "."), LAPTOP);
  await page.locator(".index-empty").waitFor();
  expect(await page.locator(".choice").count()).toBe(0);
  const { page: full } = await openList(makeCrowdedSessions(), LAPTOP, "#search=egret");
  await full.getByText("No session says “egret”.").waitFor();
  expect(await full.locator(".index-fold").count()).toBe(0);
  expect(await full.locator(".choice").count()).toBe(4);
});
