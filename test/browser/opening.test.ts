import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ContextSize, formatContextSize } from "../../src/apps/text/usage-text.ts";
import { cli, temporaryFolder } from "../apps/cli/support/cli.ts";
import { bigSession } from "./support/big-session.ts";
import { useBrowser } from "./support/browser.ts";
import { failingSession } from "./support/failing-session.ts";
import { SessionWriter } from "./support/session-writer.ts";
import { smallSession } from "./support/small-session.ts";

const open = useBrowser();

test("a compacted session opens at its leaf, with the compacted entries in one line that unfolds", async () => {
  const { text, failures } = failingSession((session) => {
    session.compact("## Goal\n\nThe total.", session.leaf ?? "");
    for (let turn = 0; turn < 20; turn++) session.user(`Afterwards ${turn}`);
  });
  const { page, url } = await open(text);
  await page.locator(".entry:has-text('Go on.')").waitFor();
  expect(new URL(page.url()).hash).toBe("");
  const scroll = () =>
    page.locator(".conversation").evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);
  await expect.poll(scroll).toBeLessThan(2);
  const last = page.locator(".entry:has-text('Go on.')");
  const bottomOf = async (selector: string) => {
    const box = await page.locator(selector).boundingBox();
    return (box?.y ?? 0) + (box?.height ?? Number.POSITIVE_INFINITY);
  };
  const box = await last.boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan((await bottomOf(".conversation")) - 8);
  // The tree is at its end, too: the leaf's row is completely visible.
  await page.locator(".tree-row .is-leaf").waitFor();
  expect(await bottomOf(".tree-row:has(.is-leaf)")).toBeLessThanOrEqual(await bottomOf(".tree"));

  await page.locator(".conversation").evaluate((list) => list.scrollTo(0, 0));
  const line = page.locator(".folded-line.is-compacted");
  await line.waitFor();
  expect(await line.textContent()).toMatch(/^12\d entries summarized/);
  expect(await page.locator(".state-compacted").count()).toBe(0);
  await line.click();
  await page.locator(".entry.state-compacted:has-text('Why is the total off?')").waitFor();
  await line.click();
  await expect.poll(() => page.locator(".state-compacted").count()).toBe(0);

  // A focused entry is never hidden.
  await page.goto(`${url}#entry=${failures[1]}`);
  await page.locator(`.tool-use.is-focused[data-entry="${failures[1]}"]`).waitFor();
});

test("a line of compacted entries unfolded for a linked entry can be folded", async () => {
  const { text, question } = smallSession();
  const { page } = await open(text, { hash: `#entry=${question}` });
  await page.locator(`.entry.is-focused[data-entry="${question}"]`).waitFor();
  await page.locator(".folded-line.is-compacted").click();
  await page.locator(".folded-line.is-compacted[aria-expanded=false]").waitFor();
  expect(await page.locator(".state-compacted").count()).toBe(0);
});

test("a long compacted session opens at its very end, on any screen", async () => {
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 1280, height: 400 },
    { width: 390, height: 844 },
  ]) {
    const { page } = await open(bigSession(600), { viewport });
    await page.locator(".entry .is-leaf").waitFor();
    const rest = () =>
      page.locator(".entry:has(.is-leaf)").evaluate((leaf) => {
        const list = leaf.closest(".conversation");
        const below =
          list === null ? -1 : list.getBoundingClientRect().bottom - leaf.getBoundingClientRect().bottom;
        return list !== null && below >= 8 && list.scrollHeight - list.clientHeight - list.scrollTop < 2;
      });
    await expect.poll(rest).toBe(true);
    if (viewport.width < 900) continue;
    const row = page.locator(".tree-row:has(.is-leaf)");
    const isWhole = () =>
      row.evaluate((one) => {
        const tree = one.closest(".tree")?.getBoundingClientRect();
        return one.getBoundingClientRect().bottom <= (tree?.bottom ?? 0);
      });
    await expect.poll(isWhole).toBe(true);
  }
});

test("a link to a failure opens its fold", async () => {
  const { text, failures, single } = failingSession();
  const { page, url } = await open(text, { hash: `#entry=${failures[1]}` });
  const body = (id = "") => page.locator(`.tool-use[data-entry="${id}"] .result .fold-body`);
  await body(failures[1]).waitFor();
  expect(await body(failures[1]).textContent()).toContain("AssertionError");
  await page.goto(`${url}#entry=${single}`);
  await page.locator(`.tool-use.is-focused[data-entry="${single}"]`).waitFor();
  expect(await body(single).count()).toBe(0);
  await page.goto(`${url}#entry=${failures[2]}`);
  await page.locator(`.entry.is-focused[data-entry="${failures[2]}"] .result .fold-body`).waitFor();
});

test("a session without a compaction opens at its beginning", async () => {
  const { page } = await open(failingSession().text);
  await page.locator(".entry:has-text('Why is the total off?')").waitFor();
  expect(await page.locator(".conversation").evaluate((list) => list.scrollTop)).toBe(0);
});

test("the line of compacted entries shows the number of failures among them", async () => {
  const session = new SessionWriter({ provider: "p", model: "m" });
  session.user("Start.");
  session.tool("bash", { command: "false" }, "no", { isError: true });
  session.tool("bash", { command: "true" }, "yes");
  session.compact("So far.", session.user("Kept."));
  const { page } = await open(session.text);
  expect(await page.locator(".folded-line.is-compacted .chip").textContent()).toBe("1 failed");
});

test("titles show no raw Markdown, and a session without a name uses its first prompt as its title", async () => {
  const { text } = failingSession();
  const { page } = await open(text);
  expect(await page.locator("h1").textContent()).toBe("Why is the total off? See receipt.ts.");
  expect(await page.title()).toBe("Why is the total off? See receipt.ts. · sessiontree");
  const titles = await page.locator(".tree-text").allTextContents();
  expect(titles[0]).toBe("Why is the total off? See receipt.ts.");
  await page.locator(".panel-bar button[data-value=all]").click();
  await page.locator(".tree-text:text-is('Answer 0, in some words.')").waitFor();
});

test("output that is prose has no syntax colors, but a file's content does", async () => {
  const session = new SessionWriter({ provider: "p", model: "m" });
  session.user("Go.");
  const prose = "Replaced 1 occurrence in total.ts. Now new code returns false for all of them.";
  const results = [
    session.tool("edit", { path: "total.ts", oldText: "a", newText: "b" }, prose),
    session.tool("read", { path: "notes.md" }, "# Notes\n\nThe *new* code."),
    session.tool("read", { path: "gone.ts" }, "No such file: return to new code.", { isError: true }),
    session.tool("read", { path: "total.ts" }, "export const total = 1;"),
  ];
  const { page } = await open(session.text);
  await page.keyboard.press("e");
  const colored = await Promise.all(
    results.map((id) => page.locator(`[data-entry="${id}"] .result [class^=hljs-]`).count()),
  );
  expect(colored.map((number) => number > 0)).toEqual([false, false, false, true]);
});

test("shows the same context size as the command line", async () => {
  for (const text of [failingSession().text, smallSession().text]) {
    const { page } = await open(text);
    const shown = await page.locator(".path-facts > span[title^='Context:']").getAttribute("title");
    const path = join(temporaryFolder(), "session.jsonl");
    writeFileSync(path, text);
    const { stdout } = await cli(["context", path, "--json"]);
    expect(shown).toBe(
      `Context: ${formatContextSize((JSON.parse(stdout) as { context: ContextSize }).context)}`,
    );
    await page.keyboard.press("m");
    expect(await page.locator(".path-facts > span[title^='Context:']").getAttribute("title")).toBe(shown);
  }
});
