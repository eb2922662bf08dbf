import { appendFileSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { cli, temporaryFolder } from "../apps/cli/support/cli.ts";
import { serve } from "../apps/cli/support/served.ts";
import { Scribe, STEP_MS } from "../apps/cli/support/sessions.ts";
import { findingsOn } from "./support/axe.ts";
import { usePages } from "./support/browser.ts";
import { failingSession } from "./support/failing-session.ts";

const { open } = usePages();

const CHILD_ID = "0198aaaa-0000-7000-8000-00000000c41d";

const TURNS = 30;

/** A session with an open writer, whose last entry is from just now. */
function growing(folder = temporaryFolder()): Scribe {
  const scribe = new Scribe(folder, undefined, undefined, undefined, Date.now() - 2 * TURNS * STEP_MS);
  for (let turn = 0; turn < TURNS; turn++) {
    scribe.user(`Question ${turn}`);
    scribe.assistant(`Answer ${turn}`);
  }
  return scribe;
}

const distanceFromEnd = (page: Page) =>
  page.locator(".conversation").evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);

test("--live shows appended entries, and stays at the end if the reader is there", async () => {
  const scribe = growing();
  const { url, stop } = await serve([scribe.path, "--live"]);
  const { page, complaints } = await open(url);
  await page.locator(".live.is-now").waitFor();
  // Heights are only known for drawn entries.
  const scrollDown = async () => {
    await page.locator(".conversation").evaluate((list) => list.scrollTo(0, list.scrollHeight));
    return distanceFromEnd(page);
  };
  await expect.poll(scrollDown).toBeLessThan(60);
  scribe.call("bash", { command: "make" });
  await page.locator(".tool-use:has-text('no result here')").waitFor();
  scribe.result("broken", true);
  await page.locator(".tool-use.is-failed:has-text('broken')").waitFor();
  expect(await page.locator(".failures").textContent()).toBe("1 failed");
  for (let turn = 0; turn < 10; turn++) scribe.user(`Later ${turn}`);
  await page.locator(".entry:has-text('Later 9')").waitFor();
  await expect.poll(() => distanceFromEnd(page)).toBeLessThan(60);
  await page.locator(".path-bar:has-text('Current branch')").waitFor();
  expect(complaints).toEqual([]);

  await stop();
  await page.locator(".live.is-ended").waitFor();
});

test("--live moves nothing for a reader higher up, and keeps folds and branch", async () => {
  const scribe = growing();
  const { url } = await serve([scribe.path, "--live"]);
  const { page } = await open(url);
  const first = scribe.session.getEntries()[4]?.id ?? "";
  await page.locator(`.entry[data-entry="${first}"]`).getByLabel("Link to entry").click();
  await page.locator(`.entry.is-focused[data-entry="${first}"]`).waitFor();
  await page.keyboard.press("ArrowUp");
  const before = await page.locator(".conversation").evaluate((list) => list.scrollTop);
  scribe.user("Something new");
  await page.locator(".panel-facts:has-text('61 entries')").waitFor();
  expect(await page.locator(".conversation").evaluate((list) => list.scrollTop)).toBe(before);
  expect(await page.locator(".entry:has-text('Something new')").count()).toBe(0);
});

test("a search in a growing session finds new entries, and keeps its hits where the reader scrolled them", async () => {
  const scribe = growing();
  const { url } = await serve([scribe.path, "--live"]);
  const { page } = await open(url);
  await page.locator(".live.is-now").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("answer");
  await page.keyboard.press("Enter");
  const found = (count: number) => page.locator(`.panel-facts:has-text("${count} entries found")`).waitFor();
  await found(30);
  await page.locator(".hit.is-current").waitFor();
  const hits = page.locator(".hits");
  const top = await hits.evaluate((list) => {
    list.scrollTo(0, 600);
    return list.scrollTop;
  });
  expect(top).toBeGreaterThan(300);
  scribe.assistant("An answer more");
  await found(31);
  expect(await hits.evaluate((list) => list.scrollTop)).toBe(top);
  // A search for an entry also covers its label.
  scribe.session.appendLabelChange(scribe.session.getEntries()[0]?.id ?? "", "no answer");
  await found(33);
});

test("--live reopens the session when another file replaces it", async () => {
  const scribe = growing();
  const { url } = await serve([scribe.path, "--live"]);
  const { page } = await open(url);
  await page.locator(".live.is-now").waitFor();
  writeFileSync(`${scribe.path}.new`, failingSession().text);
  renameSync(`${scribe.path}.new`, scribe.path);
  await page.locator("h1:has-text('Why is the total off?')").waitFor();
});

test("--live adds a line that was torn when the page was built", async () => {
  const scribe = growing();
  const line = `{"type":"message","id":"torn0001","parentId":"${scribe.session.getLeafId()}","timestamp":"2026-02-03T23:30:00.000Z","message":{"role":"user","content":"Torn ✓ apart"}}\n`;
  const bytes = Buffer.from(line);
  const middle = bytes.indexOf("✓") + 1;
  appendFileSync(scribe.path, bytes.subarray(0, middle));
  const { url } = await serve([scribe.path, "--live"]);
  const { page } = await open(url);
  await page.locator(".live.is-now").waitFor();
  appendFileSync(scribe.path, bytes.subarray(middle));
  await page.keyboard.press("G");
  await page.locator(".panel-facts:has-text('61 entries')").waitFor();
  await page.keyboard.press("G");
  await page.locator(".entry:has-text('Torn ✓ apart')").waitFor();
  expect(await page.locator(".segments button[data-value=issues]").count()).toBe(0);
});

test("a folder is a list with search, and each session opens from it and returns to it", async () => {
  const folder = temporaryFolder();
  growing(folder);
  const other = new Scribe(folder, "0198aaaa-0000-7000-8000-000000000002");
  const asked = other.user("## Count the **herons**");
  other.assistant("A lighthouse keeper counts them.");
  const { url } = await serve([folder]);
  for (const colorScheme of ["light", "dark"] as const) {
    const { page, complaints } = await open(url, { colorScheme });
    const rows = page.locator(".session-row h2");
    expect((await rows.allTextContents()).sort()).toEqual(["Count the herons", "Question 0"]);
    expect(await findingsOn(page)).toEqual([]);
    const field = page.getByRole("textbox");
    await field.fill("heron");
    await page.locator(".index-bar:has-text('1 session')").waitFor();
    await field.fill("lighthouse");
    await page.locator(".index-empty:has-text('No title, project or id has “lighthouse”')").waitFor();
    await field.press("Enter");
    await page.locator(".session-hit:has-text('lighthouse')").waitFor();
    expect(await rows.allTextContents()).toEqual(["Count the herons"]);
    expect(await findingsOn(page)).toEqual([]);
    await page.locator(".session-hit").click();
    await page.locator(".entry.is-focused:has-text('lighthouse')").waitFor();
    await page.locator(`.entry[data-entry="${asked}"]`).waitFor();
    await page.getByLabel("All sessions").click();
    await rows.first().waitFor();
    await rows.filter({ hasText: "Question 0" }).click();
    await page.locator("h1:text-is('Question 0')").waitFor();
    expect(complaints).toEqual([]);
  }
});

test("the list shows failures and costs, marks hits, and uses plain words", async () => {
  const folder = temporaryFolder();
  const good = growing(folder);
  const bad = new Scribe(folder, "0198aaaa-0000-7000-8000-000000000002");
  bad.user("Count the herons");
  const cost = { input: 1, output: 0.25, cacheRead: 0, cacheWrite: 0, total: 1.25 };
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost };
  bad.assistant("I look at the lighthouse.", { usage });
  bad.call("bash", { command: "make" });
  bad.result("no rule", true);
  bad.session.appendMessage({
    role: "bashExecution",
    command: "ls lighthouse",
    output: "none",
    exitCode: 2,
    cancelled: false,
    truncated: false,
    timestamp: 0,
  });
  const { url } = await serve([folder]);
  const { page, complaints } = await open(url);
  const row = (title: string) => page.locator(`.session-row:has-text("${title}")`);
  await row("Count the herons").locator(".chip.is-failed:text-is('2 failed')").waitFor();
  expect(await row("Count the herons").locator("p").textContent()).toContain("5 messages");
  await row("Count the herons").locator(".session-cost:has-text('$1.25')").waitFor();
  expect(await row("Question 0").locator(".chip").count()).toBe(0);
  // Zeros that no provider billed are not shown as costs.
  expect(await row("Question 0").locator(".session-cost").textContent()).toBe("–450 tokens");
  // The search key of a session's page works here, too.
  await page.keyboard.press("/");
  await page.keyboard.type("the HERON");
  await expect.poll(() => page.locator(".session-row h2 mark").allTextContents()).toEqual(["the", "heron"]);
  await page.keyboard.press("Escape");
  await page.keyboard.type("lighthouse");
  await page.keyboard.press("Enter");
  await page.locator(".session-hit").nth(1).waitFor();
  expect(await page.locator(".session-hit mark").allTextContents()).toEqual(["lighthouse", "lighthouse"]);
  expect(await page.locator(".session-hit .tree-kind").allTextContents()).toEqual(["assistant", "command"]);
  // Changes are counted again.
  good.call("bash", { command: "make" });
  good.result("no rule", true);
  // The address keeps the query; a new visit has none.
  await page.goto(url);
  await row("Question 0").locator(".chip.is-failed:text-is('1 failed')").waitFor();
  expect(await findingsOn(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("the list sums up usage, groups sessions below those that started them, and filters and sorts", async () => {
  const folder = temporaryFolder();
  const spend = (dollars: number) => ({
    usage: {
      ...{ input: 1000, output: 500, cacheRead: 0, cacheWrite: 0, totalTokens: 1500 },
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: dollars },
    },
  });
  const cheap = new Scribe(folder, "0198aaaa-0000-7000-8000-000000000001", "/projects/shop");
  cheap.user("Fix the rounding");
  cheap.assistant("Done.", spend(0.5));
  const dear = new Scribe(folder, "0198aaaa-0000-7000-8000-000000000002", "/projects/shop");
  dear.user("Count the herons");
  dear.assistant("I ask another one.", { ...spend(2), model: "heron-1" });
  const child = new Scribe(folder, CHILD_ID, "/projects/shop", dear.path);
  child.session.appendCustomEntry("sessiontree.subagent", { toolCallId: "call-1" });
  child.user("Look behind the lighthouse");
  child.assistant("There is one.", spend(1));
  const other = new Scribe(folder, "0198aaaa-0000-7000-8000-000000000003", "/projects/notes");
  other.user("Write it down");
  other.assistant("Written.", { ...spend(0), model: "acorn-2" });
  const prices = join(folder, "prices.json");
  writeFileSync(prices, JSON.stringify({ "acorn-2": { input: 100, output: 200 } }));
  const { url } = await serve([folder, "--prices", prices]);
  const { page, complaints } = await open(url);
  const titles = () => page.locator(".session-row h2").allTextContents();
  const tile = (name: string) => page.locator(`.tile:has(.tile-name:text-is("${name}")) .tile-value`);
  await tile("Cost").waitFor();
  expect(await tile("Cost").textContent()).toBe("~$3.70");
  expect(await page.locator(".tile-note").first().textContent()).toBe("$0.20 of it estimated");
  expect(await page.locator(".index-summary .legend").textContent()).toBe(
    "anthropic/heron-1anthropic/claudeanthropic/acorn-2faded: estimated",
  );
  expect(await page.locator(".session-row:has-text('Write it down') .session-cost").textContent()).toBe(
    "~$0.201.5k tokens",
  );
  await page.getByLabel("Order").selectOption("cost");
  expect(await titles()).toEqual(["Count the herons", "Fix the rounding", "Write it down"]);
  expect(await page.locator(".session-row:has-text('herons') .session-cost").textContent()).toContain(
    "$3.00",
  );
  await page.locator(".subagents-line").click();
  expect(await titles()).toContain("Look behind the lighthouse");
  await page.getByLabel("Project").selectOption("/projects/notes");
  expect(await titles()).toEqual(["Write it down"]);
  expect(await tile("Cost").textContent()).toBe("~$0.20");
  // The address keeps the filter.
  await page.reload();
  await tile("Cost").waitFor();
  expect(await titles()).toEqual(["Write it down"]);
  await page.getByLabel("Project").selectOption("");
  // A bar of the chart selects its day, to which all of the cost belongs.
  await page.locator(".bar").first().click();
  await page.locator(".choice.is-chosen:has-text('2026-02-')").waitFor();
  expect(await tile("Cost").textContent()).toBe("~$3.70");
  // A search that finds a subagent shows its parent session.
  await page.getByLabel("Time").selectOption("");
  await page.getByRole("textbox").fill("lighthouse");
  expect(await titles()).toEqual(["Count the herons", "Look behind the lighthouse"]);
  expect(await findingsOn(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("an empty list shows the searched folder and the next step", async () => {
  const folder = temporaryFolder();
  const { url } = await serve([folder]);
  const { page } = await open(url);
  const empty = page.locator(".index-empty");
  expect(await empty.textContent()).toContain(`There are no sessions in ${folder}.`);
  expect(await empty.textContent()).toContain("sessiontree view --all");
  const other = temporaryFolder();
  growing(other);
  const { page: full } = await open((await serve([other])).url);
  await full.keyboard.press("/");
  await full.keyboard.type("heron");
  await full.keyboard.press("Enter");
  await full.locator(".index-empty:has-text('No session says “heron”.')").waitFor();
  expect(await findingsOn(full)).toEqual([]);
});

test("the list fits a phone", async () => {
  const folder = temporaryFolder();
  growing(folder);
  const { url } = await serve([folder]);
  const { page } = await open(url, { viewport: { width: 390, height: 844 }, hasTouch: true });
  await page.locator(".session-row").waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  // The sessions are on the first screen, and usage over time is a tap away.
  await page.locator(".index-summary").waitFor();
  const tops = await page
    .locator(".tile")
    .evaluateAll((all) => all.map((tile) => Math.round(tile.getBoundingClientRect().top)));
  expect(tops).toHaveLength(4);
  expect(new Set(tops).size).toBe(2);
  expect((await page.locator(".session-row").first().boundingBox())?.y).toBeLessThan(560);
  await page.getByText("Over time").tap();
  await page.locator(".chart-reading").waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});

test("links the session of a subagent on a server; a file explains how to open it", async () => {
  const scribe = growing();
  const folder = join(scribe.path, "..");
  const child = new Scribe(folder, CHILD_ID);
  child.user("I am the child.");
  scribe.call("task", { prompt: "Do it." }, "call-9");
  const result = scribe.result("Done.", false, "call-9");
  scribe.session.appendCustomEntry("sessiontree.subagent", { toolCallId: "call-9", sessionId: CHILD_ID });
  const { url } = await serve([scribe.path, "--live"]);
  const { page } = await open(url, { hash: `#entry=${result}` });
  const [opened] = await Promise.all([
    page.context().waitForEvent("page"),
    page.locator(`.tool-use[data-entry="${result}"]`).getByText("nested session").click(),
  ]);
  await opened.locator(".entry:has-text('I am the child.')").waitFor();
  expect(await findingsOn(page)).toEqual([]);

  const file = join(folder, "page.html");
  await cli(["view", scribe.path, "-o", file, "--no-open"]);
  const { page: alone } = await open(pathToFileURL(file).href, { hash: `#entry=${result}` });
  const hint = alone.locator(`.tool-use[data-entry="${result}"] .nested-link`);
  expect(await hint.textContent()).toBe(`nested session: sessiontree view ${child.path}`);
});

test("the page shows live only while a program writes, and its duration includes new entries", async () => {
  const scribe = growing();
  const setAge = (ms: number) => utimesSync(scribe.path, new Date(), new Date(Date.now() - ms));
  setAge(3_600_000);
  const { url } = await serve([scribe.path, "--live"]);
  const { page } = await open(url);
  await page.locator(".live.is-quiet").waitFor({ state: "attached" });
  expect(await page.locator(".live").textContent()).toBe("");
  const facts = page.locator(".title p");
  const before = await facts.textContent();
  scribe.user("Later");
  await page.locator(".live.is-now:text-is('live')").waitFor();
  await expect.poll(() => facts.textContent()).not.toBe(before);
  setAge(3_600_000);
  await page.locator(".live.is-quiet").waitFor({ state: "attached" });
});

test("a session whose messages are old is not live, even if an import or a new name changed its file just now", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("Long ago");
  const { url } = await serve([scribe.path, "--live"]);
  const { page } = await open(url);
  scribe.user("Still long ago");
  await page.locator(".entry:has-text('Still long ago')").waitFor();
  expect(await page.locator(".live").getAttribute("class")).toBe("live is-quiet");
  const parentId = scribe.session.getLeafId();
  const head = { id: "a0b1c2d3", parentId, timestamp: new Date().toISOString() };
  appendFileSync(scribe.path, `${JSON.stringify({ type: "session_info", ...head, name: "A new name" })}\n`);
  await page.locator("h1:has-text('A new name')").waitFor();
  expect(await page.locator(".live").getAttribute("class")).toBe("live is-quiet");
});

test("repairs of the context are shown after it, and stay while the session grows", async () => {
  const scribe = growing();
  scribe.call("bash", { command: "make" });
  const { url } = await serve([scribe.path, "--live"]);
  const { page } = await open(url);
  await page.keyboard.press("m");
  const repairs = page.locator(".is-unpaired");
  await repairs.waitFor();
  expect(await repairs.textContent()).toBe("1 tool call without a result");
  await page.evaluate(`
    globalThis.frames = [];
    (function look() {
      frames.push(document.querySelector(".is-unpaired") !== null);
      requestAnimationFrame(look);
    })();
  `);
  scribe.user("Go on");
  await page.locator(".panel-facts:has-text('62 entries')").waitFor();
  await page.keyboard.press("m");
  await repairs.waitFor({ state: "detached" });
  const seen = await page.evaluate("frames.splice(0)");
  expect(seen).toContain(true);
  // Only the last frames, of the other view, are without it.
  expect(String(seen)).toMatch(/^(?:true,)+false(?:,false)*$/);
  await page.keyboard.press("m");
  await repairs.waitFor();
});

test("counts entries that arrive while the reader is higher up, and the count links to them", async () => {
  const scribe = growing();
  const { url } = await serve([scribe.path, "--live"]);
  const { page } = await open(url);
  await page.locator(".live.is-now").waitFor();
  const button = page.locator(".new-entries");
  expect(await button.count()).toBe(0);
  for (let turn = 0; turn < 9; turn++) scribe.user(`News ${turn}`);
  scribe.session.appendSessionInfo("A name is no news");
  await expect.poll(() => button.textContent()).toBe("9 new ↓");
  expect(await findingsOn(page)).toEqual([]);
  await button.click();
  await page.locator(".entry:has-text('News 8')").waitFor();
  await button.waitFor({ state: "detached" });
  await expect.poll(() => distanceFromEnd(page)).toBeLessThan(60);
  // If the reader sees them arrive, there is nothing to count.
  scribe.user("More");
  await page.locator(".entry:has-text('More')").waitFor();
  expect(await button.count()).toBe(0);
});
