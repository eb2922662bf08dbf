import { expect, test } from "vitest";
import { findingsOn } from "./support/axe.ts";
import { useBrowser } from "./support/browser.ts";
import { failingSession } from "./support/failing-session.ts";
import { smallSession } from "./support/small-session.ts";

const open = useBrowser();

/** Time for a check of every view on a busy machine. */
const LONG_MS = 300_000;

for (const colorScheme of ["light", "dark"] as const) {
  test(
    `axe-core finds nothing in any view, ${colorScheme}`,
    async () => {
      const { text, parallel } = failingSession((session) => {
        session.compact(
          "## Goal\n\nThe `total`.\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n> quoted",
          session.leaf ?? "",
        );
        session.line("{broken");
      });
      const { page } = await open(text, { colorScheme });
      const check = async (what: string) => expect(await findingsOn(page), what).toEqual([]);
      await check("opened");
      await page.locator(".folded-line.is-compacted").click();
      await page.keyboard.press("g");
      await page.locator(".state-compacted.is-focused").waitFor();
      await check("compacted entries, faded");
      await page.keyboard.press("e");
      await page.goto(`${page.url().split("#")[0]}#entry=${parallel}`);
      await check("folds open");
      await page.keyboard.press("f");
      await page.locator(`.is-focused`).waitFor();
      await check("a failure");
      await page.keyboard.press("v");
      await check("filters");
      await page.locator('[data-filter="mark:failed"]').click();
      await page.locator(`.hit`).first().waitFor();
      await page.getByLabel("Search in all entries").fill("such");
      await page.locator(".hit mark").waitFor();
      await check("hits");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      for (const view of ["model", "usage", "issues"]) {
        await page.locator(`.segments button[data-value=${view}]`).click();
        await check(view);
      }
      await page.keyboard.press("?");
      await page.locator("dialog.help").waitFor();
      await check("help");
    },
    LONG_MS,
  );

  test(`axe-core finds nothing in code, changes, images and thinking, ${colorScheme}`, async () => {
    const { page } = await open(smallSession().text, {
      colorScheme,
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    });
    await page.keyboard.press("e");
    await page.keyboard.press("g");
    expect(await findingsOn(page)).toEqual([]);
    await page.getByRole("button", { name: "Tree", exact: true }).tap();
    await page.locator(".tree").waitFor();
    expect(await findingsOn(page)).toEqual([]);
  });
}

test("has one h1, an h2 for each user message, and landmarks", async () => {
  const { text } = failingSession();
  const { page } = await open(text);
  expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
  const headings = async (level: number) =>
    (await page.getByRole("heading", { level }).allTextContents()).slice(0, 2);
  expect(await headings(2)).toEqual(["Conversation", "You"]);
  // Headings inside a message are below its own heading.
  expect(await headings(3)).toEqual(["Why is the total off?", "acorn-2"]);
  for (const role of ["banner", "main", "complementary", "search"] as const) {
    expect(await page.getByRole(role).count(), role).toBe(1);
  }
});

test("exposes the tree to screen readers as a tree with its own keys", async () => {
  const { text } = failingSession((session) => {
    for (let call = 0; call < 4; call++) session.tool("read", { path: "a.ts" }, "a");
  });
  const { page } = await open(text);
  const tree = page.getByRole("tree");
  await tree.focus();
  const rows = page.getByRole("treeitem");
  expect(await rows.first().getAttribute("aria-level")).toBe("1");
  expect(await page.locator("[role=treeitem][aria-level='2']").count()).toBe(3);
  const active = async () => {
    const id = await tree.getAttribute("aria-activedescendant");
    return page.locator(`[id="${id}"] .tree-entry`).getAttribute("data-entry");
  };
  const before = await active();
  await page.keyboard.press("ArrowDown");
  await expect.poll(active).not.toBe(before);
  await page.keyboard.press("End");
  await page.locator("[role=treeitem].is-active .is-leaf").waitFor();
  await page.keyboard.press("Home");
  await page.locator(`[role=treeitem].is-active[aria-posinset="1"]`).waitFor();
  // Only the selection in the tree has moved: the conversation has not.
  expect(await page.locator(".entry.is-focused").count()).toBe(0);

  // The last rows contain a run of entries.
  await page.keyboard.press("End");
  await page.locator("[role=treeitem].is-active .is-leaf").waitFor();
  const last = Number(await page.locator("[role=treeitem].is-active").getAttribute("aria-posinset"));
  const runs = page.locator("[role=treeitem][aria-expanded=false]");
  const run = Number(await runs.last().getAttribute("aria-posinset"));
  for (let at = last; at > run; at--) await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowRight");
  await page.locator(`[role=treeitem].is-active[aria-expanded=true]`).waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.locator(`[role=treeitem].is-active[aria-expanded=false]`).waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".is-focused").first().waitFor();
});
