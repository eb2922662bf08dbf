import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { temporaryFolder } from "../apps/cli/support/cli.ts";
import { serve } from "../apps/cli/support/served.ts";
import { Scribe } from "../apps/cli/support/sessions.ts";
import { joinLines } from "../interop/import/support/claude-records.ts";
import { meta, numbered, said, THREAD_ID, turn } from "../interop/import/support/codex-records.ts";
import { findingsOn } from "./support/axe.ts";
import { usePages } from "./support/browser.ts";
import { makeManySessions } from "./support/many-sessions.ts";

const { open } = usePages();

const idOf = (number: number) => `0198aaaa-0000-7000-8000-0000000000${String(number).padStart(2, "0")}`;

const serveMany = async () => open((await serve([makeManySessions()])).url);

async function searchFor(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox").fill(text);
  await page.keyboard.press("Enter");
  await page.locator(".session-hit").first().waitFor();
}

const getTop = (page: Page, selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => Math.round(element.getBoundingClientRect().top));
const getScroll = (page: Page) => page.locator(".index-main").evaluate(({ scrollTop }) => scrollTop);

test("Back restores the query, the scroll position, and the opened hit", async () => {
  const { page, complaints } = await serveMany();
  await searchFor(page, "lighthouse");
  expect(new URL(page.url()).hash).toBe("#search=lighthouse");
  const hit = page.locator(".session-hit", { hasText: "lighthouse 17" });
  await hit.scrollIntoViewIfNeeded();
  await hit.evaluate((element) => element.scrollIntoView({ block: "center" }));
  const before = await hit.evaluate((element) => Math.round(element.getBoundingClientRect().top));
  await hit.click();
  await page.locator(".page").waitFor();
  await page.goBack();
  await page.locator(".session-hit:focus").waitFor();
  expect(await page.locator(".session-hit:focus").textContent()).toContain("lighthouse 17");
  expect(await page.getByRole("textbox").inputValue()).toBe("lighthouse");
  await page.locator(".session-cost").first().waitFor();
  const after = await hit.evaluate((element) => Math.round(element.getBoundingClientRect().top));
  expect(Math.abs(after - before)).toBeLessThan(3);
  expect(await getScroll(page)).toBeGreaterThan(0);
  // One step further back, the words filter titles, as before the search.
  await page.goBack();
  await page.locator(".session-hit").first().waitFor({ state: "detached" });
  expect(new URL(page.url()).hash).toBe("#filter=lighthouse");
  expect(complaints).toEqual([]);
});

test("a hit opens with its query, and the session's page continues the search from it", async () => {
  const { page, complaints } = await serveMany();
  await searchFor(page, "lighthouse");
  const hit = page.locator(".session-row", { hasText: "Count" }).locator(".session-hit").first();
  const number = Number(/number (\d)/.exec((await hit.textContent()) ?? "")?.[1]);
  const next = (number + 1) % 5;
  await hit.click();
  const field = page.getByLabel("Search in all entries");
  await field.waitFor();
  expect(await field.inputValue()).toBe("lighthouse");
  const count = page.locator(".search-count");
  await expect.poll(() => count.textContent()).toBe(`${number + 1} of 5`);
  await page.waitForFunction(() => (CSS.highlights.get("found")?.size ?? 0) > 0);
  await page.keyboard.press("n");
  await expect.poll(() => count.textContent()).toBe(`${next + 1} of 5`);
  expect(await page.locator(".entry.is-focused").textContent()).toContain(`number ${next}`);
  // The address has the query until the reader clears it.
  await page.reload();
  await expect.poll(() => count.textContent()).toBe(`${next + 1} of 5`);
  await page.keyboard.press("Escape");
  await expect.poll(() => new URL(page.url()).hash).toMatch(/^#entry=[0-9a-f]+$/);
  await page.goBack();
  await page.locator(".session-hit:focus").waitFor();
  expect(await page.locator(".session-hit:focus").textContent()).toContain(`number ${number}`);
  expect(complaints).toEqual([]);
});

test("the order of search results is named, and can be changed to the latest", async () => {
  const folder = temporaryFolder();
  const often = new Scribe(folder, idOf(1), "/projects/shop", undefined, Date.now() - 86_400_000);
  often.user("Heron, heron, heron");
  const once = new Scribe(folder, idOf(2), "/projects/shop", undefined, Date.now() - 3_600_000);
  once.user(`Once ${"there was a long story of other birds ".repeat(20)} and a heron`);
  const { page } = await open((await serve([folder])).url);
  const order = page.getByLabel("Order");
  const getName = () =>
    order.evaluate((one) => (one instanceof HTMLSelectElement ? one.selectedOptions[0]?.text : undefined));
  const getTitles = () =>
    page.locator(".session-row h2").evaluateAll((all) => all.map((one) => one.textContent?.slice(0, 4)));
  await page.locator(".session-row").first().waitFor();
  expect(await getName()).toBe("latest first");
  await searchFor(page, "heron");
  expect(await getName()).toBe("best first");
  expect(await getTitles()).toEqual(["Hero", "Once"]);
  await order.selectOption("latest");
  expect(await getName()).toBe("latest first");
  await expect.poll(getTitles).toEqual(["Once", "Hero"]);
  await page.getByRole("textbox").press("Escape");
  await page.locator(".session-hit").first().waitFor({ state: "detached" });
  expect(await getName()).toBe("latest first");
});

test("an address with a query or a filter shows the results", async () => {
  const { page, url } = await serveMany();
  await page.getByRole("textbox").fill("nothing here");
  await expect.poll(() => new URL(page.url()).hash).toBe("#filter=nothing+here");
  await page.reload();
  await page.locator(".session-row").first().waitFor();
  expect(await page.locator(".session-row h2").allTextContents()).toEqual(["Nothing here"]);
  await page.goto(`${url}#search=lighthouse+21`);
  await page.reload();
  await page.locator(".session-hit").first().waitFor();
  expect(await page.locator(".session-row h2").allTextContents()).toEqual(["Task 21"]);
});

test("results start at the top, below folded tiles", async () => {
  const { page } = await serveMany();
  const tile = page.locator(".tile").first();
  await tile.waitFor();
  expect(await tile.isVisible()).toBe(true);
  await page.getByRole("textbox").fill("task");
  await page.locator(".session-row", { hasText: "Count" }).waitFor({ state: "detached" });
  await page.locator(".index-main").evaluate((main) => main.scrollTo(0, main.scrollHeight));
  expect(await getScroll(page)).toBeGreaterThan(100);
  await page.getByRole("textbox").press("Enter");
  await page.locator(".session-hit").first().waitFor();
  expect(await getScroll(page)).toBe(0);
  expect(await tile.isVisible()).toBe(false);
  const bar = await page.locator(".index-bar").boundingBox();
  expect(await getTop(page, ".session-row")).toBeLessThan((bar?.y ?? 0) + (bar?.height ?? 0) + 80);
  await page.getByText("Usage of these sessions").click();
  expect(await tile.isVisible()).toBe(true);
  await page.getByRole("textbox").press("Escape");
  await page.locator(".session-hit").first().waitFor({ state: "detached" });
  expect(await tile.isVisible()).toBe(true);
});

test("arrow keys move from the field through the hits and back, and Enter opens one", async () => {
  const { page, complaints } = await serveMany();
  const focused = page.locator(".session-hit:focus");
  await searchFor(page, "lighthouse");
  const hits = await page.locator(".session-hit").allTextContents();
  for (const [key, at] of [
    ["ArrowDown", 0],
    ["ArrowDown", 1],
    ["ArrowDown", 2],
    ["ArrowUp", 1],
  ] as const) {
    await page.keyboard.press(key);
    expect(await focused.textContent()).toBe(hits[at]);
  }
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  expect(await page.getByRole("textbox").evaluate((field) => field.matches(":focus"))).toBe(true);
  // Without a search, they move through the sessions.
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const titles = await page.locator(".session-row h2").allTextContents();
  expect(await page.locator(".session-row > a:focus h2").textContent()).toBe(titles[1]);
  await searchFor(page, "lighthouse");
  await page.keyboard.press("ArrowDown");
  const address = await focused.getAttribute("href");
  await page.keyboard.press("Enter");
  await page.locator(".page").waitFor();
  expect(page.url()).toContain(address);
  expect(complaints).toEqual([]);
});

test("shows more hits of a session on demand, and again after Back", async () => {
  const { page } = await serveMany();
  await searchFor(page, "lighthouse");
  const row = page.locator(".session-row", { hasText: "Count" });
  expect(await row.locator(".session-hit").count()).toBe(3);
  await row.getByRole("button", { name: "2 more in this session" }).press("Enter");
  await expect.poll(() => row.locator(".session-hit").count()).toBe(5);
  await page.locator(".session-hit:focus").waitFor();
  const text = await page.locator(".session-hit:focus").textContent();
  expect(await row.locator(".session-hit").nth(3).textContent()).toBe(text);
  expect(await findingsOn(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.locator(".page").waitFor();
  await page.goBack();
  await page.locator(".session-hit:focus").waitFor();
  expect(await page.locator(".session-hit:focus").textContent()).toBe(text);
});

test("choosing a filter does not move the filters, and leaves no hole above the list", async () => {
  const { page } = await serveMany();
  await page.locator(".index-chart").waitFor();
  const project = page.getByLabel("Project");
  const top = await getTop(page, ".choices");
  /** Returns the space from the end of what is above the list to the list, in pixels. */
  const getHole = (above: string, below: string) =>
    page.evaluate(
      ([last, next]) => {
        const [end, start] = [last, next].map((one) =>
          document.querySelector(one ?? "")?.getBoundingClientRect(),
        );
        return (start?.top ?? Number.NaN) - (end?.bottom ?? Number.NaN);
      },
      [above, below],
    );
  await project.selectOption("/projects/notes");
  await expect.poll(() => page.locator(".session-row").count()).toBe(2);
  expect(await getTop(page, ".choices")).toBe(top);
  expect(await getHole(".index-chart .chart", ".session-list")).toBeLessThan(24);
  await page.getByLabel("Time").selectOption("today");
  await page.locator(".index-empty").waitFor();
  expect(await getTop(page, ".choices")).toBe(top);
  expect(await getHole(".choices", ".index-empty")).toBeLessThan(24);
  await page.getByLabel("Time").selectOption("");
  await project.selectOption("");
  await page.locator(".index-main").evaluate((main) => main.scrollTo(0, 150));
  expect(await getTop(page, ".choices")).toBe(top);
  await project.selectOption("/projects/notes");
  await expect.poll(() => page.locator(".session-row").count()).toBe(2);
  expect(await getTop(page, ".choices")).toBe(top);
});

test("rows show the day, the program, and the model", async () => {
  const folder = temporaryFolder();
  const day = 86_400_000;
  const now = Date.now();
  const days = [0, 1, 3].map((ago) => now - (now % day) - ago * day + 3_600_000);
  for (const [number, startMs] of days.entries()) {
    const scribe = new Scribe(folder, idOf(number), "/projects/shop", undefined, startMs);
    scribe.user(`Task ${number}`);
    scribe.assistant("Done.", { model: "acorn-2" });
    scribe.session.appendSessionInfo(`Task ${number}`);
  }
  const { page } = await open((await serve([folder])).url);
  await page.locator(".session-row p", { hasText: "acorn-2" }).first().waitFor();
  const facts = await page.locator(".session-row p").allTextContents();
  const weekday = new Date(days[2] ?? 0).toLocaleDateString("en-US", { weekday: "long", timeZone: "UTC" });
  expect(facts.map((line) => line.replace(/\d\d:\d\d/, "00:00"))).toEqual([
    "shop · used today, 00:00 · 2 messages · acorn-2",
    "shop · used yesterday, 00:00 · 2 messages · acorn-2",
    `shop · used ${weekday}, 00:00 · 2 messages · acorn-2`,
  ]);
});

test("a page without sessions lists sessions that can be imported", async () => {
  const home = temporaryFolder();
  const codex = join(home, ".codex/sessions/2026/11/22", `rollout-2026-11-22T05-00-00-${THREAD_ID}.jsonl`);
  mkdirSync(join(codex, ".."), { recursive: true });
  writeFileSync(codex, joinLines(numbered([meta(), ...turn("Count the taps", said("assistant", "Three."))])));
  const { url } = await serve(["--all"], { env: { HOME: home }, cwd: home });
  const { page, complaints } = await open(url);
  await page.getByText("1 session that can be imported").waitFor();
  expect(await page.locator(".index-importable li").allTextContents()).toEqual(["codex 1"]);
  expect(await page.locator(".index-empty").textContent()).toContain("sessiontree import --all");
  expect(await findingsOn(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("a search with more hits than the list shows says that it shows the best ones", async () => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder);
  for (let at = 0; at < 501; at++) scribe.user("herons");
  const { page } = await open((await serve([folder])).url);
  await searchFor(page, "herons");
  await page.getByText("The best 500 entries with “herons” in 1 session").waitFor();
});
