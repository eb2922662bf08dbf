import { expect, test } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

/** A session whose program appends a record after every message. */
function session() {
  const writer = new SessionWriter({ provider: "acme", model: "acorn-2" });
  writer.add("custom", { customType: "sessiontree.import", data: { source: "codex", sourceId: "s1" } });
  writer.add("model_change", { provider: "acme", modelId: "acorn-2" });
  const asked = writer.user("Fix it.");
  const todo = writer.add("custom", { customType: "todo", data: { open: "sweep the floor" } });
  const answer = writer.assistant("Done.");
  writer.message({ role: "custom", customType: "notice", content: "Saved.", details: {} });
  writer.add("custom_message", { customType: "notice", content: "Kept.", details: {}, display: true });
  writer.add("session_info", { name: "The fix" });
  return { text: writer.text, asked, todo, answer };
}

test("records of state, usage, and import are hidden until requested, also in the tree", async () => {
  const { text } = session();
  const { page, complaints } = await open(text);
  const kinds = page.locator(".conversation .entry-kind");
  expect(await kinds.allTextContents()).toEqual(["You", "acorn-2", "notice", "notice"]);
  expect(await page.locator(".tree-row").count()).toBe(4);
  expect(await page.locator(".path-facts").textContent()).toContain("4 entries");
  // The last visible entry is marked as the leaf.
  expect(await page.locator(".conversation .entry").last().locator(".chip.is-leaf").count()).toBe(1);
  expect(await page.locator(".tree-row").last().locator(".chip.is-leaf").count()).toBe(1);
  const records = page.locator(".filter-choice.is-records");
  expect(await records.textContent()).toBe("records 4");
  await records.click();
  await page.locator(".entry:has-text('todo')").waitFor();
  expect(await page.locator(".conversation .entry").count()).toBe(8);
  expect(await page.locator(".tree-row").count()).toBe(8);
  expect(page.url()).toContain("records=shown");
  await records.click();
  await page.locator(".entry:has-text('todo')").waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

test("an address of a hidden record shows it, and so does a search", async () => {
  const { text, todo, answer } = session();
  const { page: linked } = await open(text, { hash: `#entry=${todo}` });
  await linked.locator(`.is-focused[data-entry="${todo}"]`).waitFor();
  // It stays where the reader found it.
  await linked.keyboard.press("j");
  await linked.locator(`.is-focused[data-entry="${answer}"]`).waitFor();
  expect(await linked.locator(`.entry[data-entry="${todo}"]`).count()).toBe(1);
  expect(await linked.locator(".conversation .entry").count()).toBe(5);
  const { page } = await open(text);
  await page.getByLabel("Search in all entries").fill("sweep the floor");
  await page.locator(".hit .chip:has-text('hidden record')").waitFor();
  await page.locator(".hit").click();
  await page.locator(`.is-focused[data-entry="${todo}"]`).waitFor();
});

test("keys skip hidden records", async () => {
  const { text, asked, answer } = session();
  const { page } = await open(text);
  await page.keyboard.press("g");
  await page.locator(`.is-focused[data-entry="${asked}"]`).waitFor();
  await page.keyboard.press("j");
  await page.locator(`.is-focused[data-entry="${answer}"]`).waitFor();
});

test("details without content have no fold", async () => {
  const { text } = session();
  const { page } = await open(text);
  await page.locator(".entry:has-text('Kept.')").waitFor();
  expect(await page.locator(".fold-title:has-text('Details')").count()).toBe(0);
});
