import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli, temporaryFolder } from "../apps/cli/support/cli.ts";
import { bigSession, NEEDLE } from "./support/big-session.ts";
import { IS_FIREFOX, type OpenedPage, useBrowser } from "./support/browser.ts";
import { failingSession } from "./support/failing-session.ts";
import { SessionWriter } from "./support/session-writer.ts";
import { smallSession } from "./support/small-session.ts";

const open = useBrowser();
const SIZE = 10_000;

function expectHarmless({ requests, dialogs, complaints }: OpenedPage): void {
  expect({ requests, dialogs, complaints }).toEqual({ requests: [], dialogs: [], complaints: [] });
}

test("shows the path to the leaf: Markdown, code, an image, folded tools, and thinking", async () => {
  const opened = await open(smallSession().text);
  const { page } = opened;
  await page.waitForSelector("h1:text-is('Fix the totals')");
  expect(await page.title()).toBe("Fix the totals · sessiontree");
  await page.locator(".folded-line.is-compacted").click();
  expect(await page.locator(".conversation strong").textContent()).toBe("total");
  expect(await page.locator(".conversation .hljs-keyword").textContent()).toBe("const");
  expect(await page.locator("img.picture").evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
  expect(await page.locator(".conversation").textContent()).not.toContain("Hide the cent");

  const thinking = page.locator(".thinking");
  expect(await thinking.locator(".fold-body").count()).toBe(0);
  await thinking.locator("button").click();
  expect(await thinking.locator(".fold-body").textContent()).toContain("too early");
  await page.locator(".call button").click();
  const lines = await page.locator(".diff-line").allTextContents();
  expect(lines).toEqual([" a", "-b", "+c"]);
  expectHarmless(opened);
});

test("switches to another branch by the tree, the branch switch, and keys", async () => {
  const { text, leftAnswer } = smallSession();
  const { page } = await open(text);
  await page.locator(`.tree-entry[data-entry="${leftAnswer}"]`).click();
  await page.locator(`.entry[data-entry="${leftAnswer}"].is-focused`).waitFor();
  expect(await page.locator(".conversation").textContent()).toContain("not honest");
  expect(await page.locator(".path-bar").textContent()).not.toContain("Current branch");
  expect(await page.locator(".branch-switch").textContent()).toContain("branch 1 of 2");

  await page.getByLabel("Next branch").click();
  await page.locator(".path-bar:has-text('Current branch')").waitFor();
  await page.keyboard.press("h");
  await page.locator(`.entry[data-entry="${leftAnswer}"].is-focused`).waitFor();
  await page.getByText("Back to current").click();
  await page.locator(".path-bar:has-text('Current branch')").waitFor();
});

test("shows what the model sees, and folds and grays out compacted entries", async () => {
  const { text, question, kept, compaction, edit } = smallSession();
  const opened = await open(text);
  const { page } = opened;
  const stateOf = (id: string) => page.locator(`.entry[data-entry="${id}"]`).getAttribute("class");
  expect(await stateOf(kept)).toContain("state-seen");
  expect(await page.locator(`[data-entry="${question}"].entry`).count()).toBe(0);
  expect(await page.locator(".folded-line.is-compacted").textContent()).toContain("5 entries summarized");
  await page.locator(".folded-line.is-compacted").click();
  expect(await stateOf(question)).toContain("state-compacted");

  await page.locator(".segments button[data-value=model]").click();
  await page.locator(".conversation[aria-label='What the model sees']").waitFor();
  const ids = () =>
    page.locator(".entry").evaluateAll((all) => all.map((one) => one.getAttribute("data-entry")));
  expect((await ids())[0]).toBe(compaction);
  expect(await ids()).not.toContain(question);
  expect(await page.locator(".entry").first().textContent()).toContain("The total is rounded once");

  // If the path ends before the compaction, nothing is folded.
  await page.keyboard.press("m");
  await page.locator(`.tool-use[data-entry="${edit}"]`).hover();
  await page.locator(`.tool-use[data-entry="${edit}"]`).getByLabel("Hide what follows").click();
  await page.locator(`.path-bar:has-text("${edit}")`).waitFor();
  expect(await page.locator(".state-compacted").count()).toBe(0);
  expectHarmless(opened);
});

test("an address opens an entry, its branch, and its view", async () => {
  const { text, leftAnswer, kept } = smallSession();
  const { page, url } = await open(text, { hash: `#entry=${leftAnswer}` });
  await page.locator(`.entry[data-entry="${leftAnswer}"].is-focused`).waitFor();
  await page.goto(`${url}#entry=${kept}&view=model`);
  await page.locator(`[aria-label='What the model sees'] .entry[data-entry="${kept}"].is-focused`).waitFor();
  await page.locator(".segments button[data-value=path]").click();
  await page.keyboard.press("j");
  await page.locator(`.entry.is-focused:has-text("Rounded once")`).waitFor();
  const address = new URL(page.url());
  expect(address.hash).toMatch(/^#entry=[0-9a-f]{8}$/);
  await page.reload();
  await page.locator(`.entry.is-focused:has-text("Rounded once")`).waitFor();
});

test("has keys for everything", async () => {
  const { text, last } = smallSession();
  const { page } = await open(text);
  await page.keyboard.press("?");
  await page.locator("dialog.help").waitFor();
  expect(await page.locator("dialog.help").textContent()).toContain("next and previous entry");
  await page.keyboard.press("Escape");
  await page.locator("dialog.help").waitFor({ state: "detached" });
  await page.keyboard.press("G");
  await page.locator(`.entry[data-entry="${last}"].is-focused`).waitFor();
  await page.keyboard.press("[");
  await page.locator(".entry.is-focused:has-text('Then round once')").waitFor();
  await page.keyboard.press("e");
  await page.locator(".fold.is-open").first().waitFor();
  await page.keyboard.press("u");
  await page.locator(".usage .bar").first().waitFor();
  await page.keyboard.press("t");
  expect(await page.locator(".panel").count()).toBe(0);
});

test("every icon has a description, both in place and in the help", async () => {
  const { text, leftAnswer, question } = smallSession();
  const { page } = await open(text, { hash: "#records=shown" });
  await page.locator(".folded-line.is-compacted").click();
  const titleOf = (selector: string) => page.locator(selector).first().getAttribute("title");
  expect(await titleOf(`.entry[data-entry="${question}"]`)).toContain(
    "Compacted: the model sees a summary instead",
  );
  expect(await titleOf(".entry.state-aside")).toContain("the model does not see this");
  expect(await titleOf(`.tree-entry[data-entry="${leftAnswer}"]`)).toContain("On another branch");
  await page.keyboard.press("/");
  await page.keyboard.type("total");
  await page.locator(".search-count:has-text(' found')").waitFor();
  expect(await titleOf(".search-count")).toContain("Enter goes to the first");
  await page.keyboard.press("Enter");
  await page.locator(".search-count:has-text('1 of ')").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  const help = (await page.locator("dialog.help").textContent()) ?? "";
  for (const sign of [
    "now",
    "Blue line",
    "+12",
    "some of those failed",
    "Gray text",
    "Faded bars",
    "3 of 19",
  ]) {
    expect(help).toContain(sign);
  }
  await page.keyboard.press("Escape");
  // While the dialog is closing, it gets all keys.
  await page.locator("dialog.help").waitFor({ state: "detached" });
  await page.keyboard.press("u");
  expect(await page.locator(".legend").first().textContent()).toContain("faded: not on the current branch");
  expect(await page.locator(".bar.is-aside title").first().textContent()).toContain(
    "not on the current branch",
  );

  const failing = failingSession();
  const { page: other } = await open(failing.text, { hash: `#entry=${failing.failures[3]}` });
  const run = other.locator(".tree-run").first();
  expect(await run.getAttribute("title")).toMatch(/^Show the [\d,]+ entries that follow/);
});

test("a number has the same name and digits everywhere, as on the command line", async () => {
  const writer = new SessionWriter({ provider: "acme", model: "small" });
  writer.user("Start.");
  const usage = (total: number) => ({
    usage: {
      ...{ input: 100, output: 7, cacheRead: 2000, cacheWrite: 30, totalTokens: 2137 },
      cost: { input: total, output: 0, cacheRead: 0, cacheWrite: 0, total },
    },
  });
  const first = writer.assistant("One.", usage(0.344));
  writer.model = { provider: "acme", model: "large" };
  writer.assistant("Two.", usage(0.0123));
  writer.compact("So far.", first);
  const path = join(temporaryFolder(), "session.jsonl");
  writeFileSync(path, writer.text);
  const { stdout } = await cli(["stats", path]);
  const { page } = await open(writer.text);
  expect(await page.locator(`.entry[data-entry="${first}"] .entry-facts`).textContent()).toBe(
    "$0.34 · 2,130 in (2,000 from the cache, 30 written to it), 7 out · 20 s",
  );
  expect(await page.locator(".tone-summary .entry-facts").textContent()).toMatch(
    /^the context had [\d.]+k tokens before$/,
  );
  await page.keyboard.press("u");
  const models = page.locator(".model-table:not(.call-table)");
  expect(await models.locator("thead th").allTextContents()).toEqual([
    "Model",
    "Calls",
    "In",
    "From cache",
    "To cache",
    "Out",
    "Cache share",
    "Cost",
  ]);
  const rows = models.locator("tbody tr");
  expect(await rows.locator("th").allTextContents()).toEqual(["acme/small", "acme/large", "total"]);
  const costs = await rows.locator("td:last-child").allTextContents();
  expect(costs).toEqual(["$0.34", "$0.0123", "$0.36"]);
  for (const cost of costs) expect(stdout).toContain(cost);
  expect(await page.locator(".tile:has-text('Cost') .tile-value").textContent()).toBe("$0.36");
  expect(await page.locator(".call-table td:nth-child(2)").allTextContents()).toEqual(["$0.34", "$0.0123"]);
  expect(await page.locator(".call-table td:nth-child(3)").allTextContents()).toEqual(["2,130", "2,130"]);
});

test("shows the exact usage of an answer, and links the most expensive call to its entry", async () => {
  const session = new SessionWriter({ provider: "acme", model: "acorn-2" });
  session.user("Start.");
  const answers = [0.25, 1.5, 0.5].map((total, i) =>
    session.assistant(`Answer ${i}`, {
      usage: {
        ...{ input: 1234, output: 567, cacheRead: i * 1000, cacheWrite: 0, totalTokens: 1801 + i * 1000 },
        cost: { input: total, output: 0, cacheRead: 0, cacheWrite: 0, total },
      },
    }),
  );
  const { page } = await open(session.text);
  const facts = page.locator(`.entry[data-entry="${answers[1]}"] .entry-facts`);
  expect(await facts.textContent()).toBe("$1.50 · 2,234 in (1,000 from the cache), 567 out · 20 s");
  await page.keyboard.press("u");
  const rows = page.locator(".call-table tbody tr");
  const entries = () => rows.locator("button").allTextContents();
  expect(await entries()).toEqual(["Answer 1", "Answer 2", "Answer 0"]);
  expect(await rows.first().locator("td").allTextContents()).toEqual([
    "$1.50",
    "2,234",
    "1,000",
    "567",
    expect.stringMatching(/^\d\d:\d\d$/),
    "acme/acorn-2",
  ]);
  await page.locator(".call-table").locator("..").locator("..").getByText("in order").click();
  expect(await entries()).toEqual(["Answer 0", "Answer 1", "Answer 2"]);
  await rows.getByText("Answer 1").click();
  await page.locator(`.entry[data-entry="${answers[1]}"].is-focused`).waitFor();
});

test("finds and marks text on all branches and in folds", async () => {
  const { text, leftAnswer, edit } = smallSession();
  const { page } = await open(text);
  await page.keyboard.press("/");
  await page.keyboard.type("hide the CENT");
  await page.locator(".hit.tone-assistant:has-text('other branch')").waitFor();
  await page.keyboard.press("Enter");
  await page.locator(`.entry[data-entry="${leftAnswer}"].is-focused`).waitFor();
  await page.waitForFunction(() => (CSS.highlights.get("found")?.size ?? 0) > 0);

  // Enter uses the current text of the field, regardless of how soon it is pressed.
  await page.getByLabel("Search in all entries").fill("Replaced.");
  await page.keyboard.press("Enter");
  await page
    .locator(`.tool-use[data-entry="${edit}"].is-focused .result .fold-body:has-text("Replaced.")`)
    .waitFor();
  await page.locator(".search-count:text-is('1 of 1')").waitFor();
  await page.getByLabel("Search in all entries").fill("nothing like it");
  await page.keyboard.press("Enter");
  await page.locator(".search-count:text-is('0 found')").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".tree").waitFor();
});

test.skipIf(IS_FIREFOX)(
  "of 10,000 entries, only the visible ones are in the document, and all are found",
  async () => {
    const opened = await open(bigSession(SIZE));
    const { page } = opened;
    expect(await page.locator(".panel-facts").textContent()).toMatch(/^10,0\d\d entries/);
    // Entries that are not visible are not in the document.
    expect(await page.locator(".entry").count()).toBeLessThan(80);
    expect(await page.locator(".tree-row").count()).toBeLessThan(80);

    await page.locator(".conversation").evaluate(async (list) => {
      for (let frame = 0; frame < 60; frame++) {
        list.scrollTop += 900;
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    });
    expect(await page.locator(".entry").count()).toBeLessThan(80);

    await page.keyboard.press("G");
    await page.locator(".entry.is-focused").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type(NEEDLE);
    await page.locator(".hit").waitFor();
    await page.keyboard.press("Enter");
    await page.locator(`.entry.is-focused:has-text("${NEEDLE}")`).waitFor();
    await page.keyboard.press("Escape");
    for (const detail of ["all", "turns", "branches"]) {
      await page.locator(`.panel-bar button[data-value=${detail}]`).click();
      await page.locator(".tree-row.is-current").waitFor();
    }
    expectHarmless(opened);
  },
);

test("the tree follows the focused entry", async () => {
  const { page } = await open(bigSession(1000), { hash: "#records=shown" });
  // Compacted entries are folded and far away.
  await page.locator(".tree-row.is-current:not(:has-text('A very long session'))").waitFor();
  await page.keyboard.press("g");
  await page.locator(".tree-row.is-current:has-text('A very long session')").waitFor();
  await page.locator(".conversation").evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await page.locator(".tree-row.is-current:not(:has-text('A very long session'))").waitFor();
  await page.keyboard.press("G");
  await page.locator(".tree-row.is-current .is-leaf").waitFor();
});

test.skipIf(IS_FIREFOX)("is light or dark as the system or the reader prefers", async () => {
  const { page } = await open(smallSession().text, { colorScheme: "dark" });
  const brightness = () =>
    page.evaluate(() => {
      const [red = 0] = getComputedStyle(document.body).backgroundColor.match(/\d+/g)?.map(Number) ?? [];
      return red;
    });
  expect(await brightness()).toBeLessThan(60);
  await page.getByLabel("Light or dark").click();
  expect(await brightness()).toBeGreaterThan(200);
  await page.keyboard.press("d");
  expect(await brightness()).toBeLessThan(60);
});

test.skipIf(IS_FIREFOX)("fits a phone: nothing is wider, and the tree opens and closes", async () => {
  const { text, leftAnswer } = smallSession();
  const { page } = await open(text, { viewport: { width: 390, height: 844 }, hasTouch: true });
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  expect(await width()).toBe(390);
  expect(await page.locator(".panel").count()).toBe(0);
  await page.getByRole("button", { name: "Tree", exact: true }).tap();
  await page.locator(`.tree-entry[data-entry="${leftAnswer}"]`).tap();
  await page.locator(`.entry[data-entry="${leftAnswer}"].is-focused`).waitFor();
  expect(await page.locator(".panel").count()).toBe(0);
  for (const view of ["model", "usage"]) {
    await page.locator(".menu-button").tap();
    await page.locator(`.segments button[data-value=${view}]`).tap();
    expect(await width()).toBe(390);
  }
});

test("prints the whole path with its folds open", async () => {
  const { page } = await open(smallSession().text);
  await page.evaluate(() => {
    const seen = () =>
      document.body.setAttribute("data-printed", document.getElementById("print")?.textContent ?? "");
    addEventListener("beforeprint", seen);
  });
  const pdf = await page.pdf();
  expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
  const printed = await page.locator("body").getAttribute("data-printed");
  expect(printed).toContain("Rounding may happen too early.");
  expect(printed).toContain("What about refunds?");
  expect(await page.locator("#print .entry").count()).toBe(0);
});

test("prints the end of a very long path, and reports what is omitted", async () => {
  const { page } = await open(bigSession(2000));
  const printed = await page.evaluate(() => {
    dispatchEvent(new Event("beforeprint"));
    const root = document.getElementById("print");
    const entries = root?.querySelectorAll(".entry, .tool-use[data-entry]").length;
    return { entries, text: root?.textContent ?? "" };
  });
  expect(printed.entries).toBe(1500);
  const [, id = ""] =
    /These are the last 1,500 of 1,\d\d\d entries on this branch\. .*hide what follows entry ([0-9a-f]{8})/.exec(
      printed.text,
    ) ?? [];
  expect(id).not.toBe("");
  expect(await page.locator(`#print [data-entry="${id}"]`).count()).toBe(0);
});

test("labels of the charts are complete on a phone", async () => {
  const opened = await open(bigSession(200), { viewport: { width: 390, height: 844 }, hash: "#view=usage" });
  await opened.page.locator(".chart-line text").first().waitFor();
  const beyond = await opened.page.locator(".chart-line text").evaluateAll((labels) =>
    labels.map((label) => {
      const edge = label.closest("svg")?.getBoundingClientRect().left ?? 0;
      return edge - label.getBoundingClientRect().left;
    }),
  );
  expect(beyond.length).toBeGreaterThan(6);
  expect(Math.max(...beyond)).toBeLessThanOrEqual(0);
});
