import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli, temporaryFolder } from "../cli/support/cli.ts";
import { useBrowser } from "./support/browser.ts";
import { failingSession } from "./support/failing-session.ts";
import { SessionWriter } from "./support/session-writer.ts";
import { smallSession } from "./support/small-session.ts";

const open = useBrowser();

test("a compacted session opens at its leaf, with what was compacted in one line that opens", async () => {
  const { text, failures } = failingSession((session) => {
    session.compact("## Goal\n\nThe total.", session.leaf ?? "");
    for (let turn = 0; turn < 20; turn++) session.user(`Afterwards ${turn}`);
  });
  const { page, url } = await open(text);
  await page.locator(".entry:has-text('Go on.')").waitFor();
  expect(new URL(page.url()).hash).toBe("");
  const scroll = () =>
    page.locator(".conversation").evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);
  await expect.poll(scroll).toBeLessThan(40);

  await page.locator(".conversation").evaluate((list) => list.scrollTo(0, 0));
  const line = page.locator(".compacted-line");
  await line.waitFor();
  expect(await line.textContent()).toMatch(/^12\d entries compacted/);
  expect(await page.locator(".state-left-out").count()).toBe(0);
  await line.click();
  await page.locator(".entry.state-left-out:has-text('Why is the total off?')").waitFor();
  await line.click();
  await expect.poll(() => page.locator(".state-left-out").count()).toBe(0);

  // What is looked at is never hidden.
  await page.goto(`${url}#entry=${failures[1]}`);
  await page.locator(`.tool-use.is-focused[data-entry="${failures[1]}"]`).waitFor();
});

test("a line of compacted entries that was opened for an entry in it can be folded", async () => {
  const { text, question } = smallSession();
  const { page } = await open(text, { hash: `#entry=${question}` });
  await page.locator(`.entry.is-focused[data-entry="${question}"]`).waitFor();
  await page.locator(".compacted-line").click();
  await page.locator(".compacted-line[aria-expanded=false]").waitFor();
  expect(await page.locator(".state-left-out").count()).toBe(0);
});

test("a session that was never compacted opens at its beginning", async () => {
  const { page } = await open(failingSession().text);
  await page.locator(".entry:has-text('Why is the total off?')").waitFor();
  expect(await page.locator(".conversation").evaluate((list) => list.scrollTop)).toBe(0);
});

test("the line of compacted entries says how many failed among them", async () => {
  const session = new SessionWriter({ provider: "p", model: "m" });
  session.user("Start.");
  session.tool("bash", { command: "false" }, "no", { isError: true });
  session.tool("bash", { command: "true" }, "yes");
  session.compact("So far.", session.user("Kept."));
  const { page } = await open(session.text);
  expect(await page.locator(".compacted-line .chip").textContent()).toBe("1 failed");
});

test("titles show no raw Markdown, and a session without a name is called by its first prompt", async () => {
  const { text } = failingSession();
  const { page } = await open(text);
  expect(await page.locator("h1").textContent()).toBe("Why is the total off? See receipt.ts.");
  expect(await page.title()).toBe("Why is the total off? See receipt.ts. · sessiontree");
  const titles = await page.locator(".tree-text").allTextContents();
  expect(titles[0]).toBe("Why is the total off? See receipt.ts.");
  await page.locator(".panel-bar button[data-value=all]").click();
  await page.locator(".tree-text:text-is('Answer 0, in some words.')").waitFor();
});

test("output that is prose has no colours of code, what was read from a file has", async () => {
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
  const coloured = await Promise.all(
    results.map((id) => page.locator(`[data-entry="${id}"] .result [class^=hljs-]`).count()),
  );
  expect(coloured.map((number) => number > 0)).toEqual([false, false, false, true]);
});

test("tells the context's size as the command line does", async () => {
  for (const text of [failingSession().text, smallSession().text]) {
    const { page } = await open(text);
    const shown = await page.locator(".path-facts > span[title^='Context:']").getAttribute("title");
    const path = join(temporaryFolder(), "session.jsonl");
    writeFileSync(path, text);
    const [, number = "none"] =
      /^context: (?:about )?([\d,]+) tokens/m.exec((await cli(["context", path])).stdout) ?? [];
    expect(shown).toContain(`Context: ${number} tokens.`);
    await page.keyboard.press("m");
    expect(await page.locator(".path-facts > span[title^='Context:']").getAttribute("title")).toBe(shown);
  }
});
