import { expect, test } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { failingSession } from "./support/failing-session.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

test("that something failed is said once where it did, and stands out at the counter", async () => {
  const { text, failures } = failingSession();
  const { page } = await open(text);
  await page.keyboard.press("f");
  await page.keyboard.press("f");
  const block = page.locator(`.tool-use.is-focused[data-entry="${failures[1]}"]`);
  await block.waitFor();
  expect(await block.getByText("failed", { exact: true }).count()).toBe(1);
  expect(await page.locator(".tree-row .chip.is-failed").count()).toBe(0);
  const getBackground = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((one) => getComputedStyle(one).backgroundColor);
  const counter = await getBackground(".failures.is-some");
  expect(counter).not.toBe("rgba(0, 0, 0, 0)");
  expect(await getBackground(".chip.is-failed")).toBe("rgba(0, 0, 0, 0)");
  expect(await getBackground(".filter-choice.is-failed")).not.toBe(counter);
});

test("a call has one triangle, and what is known of it and its result stands at the right edge", async () => {
  const session = new SessionWriter({ provider: "acme", model: "acorn-2" });
  session.user("Go.");
  session.tool("edit", { path: "a.ts", oldText: "a\n", newText: "b\n" }, "Replaced.\nOnce.\n");
  session.tool("bash", { command: "make" }, "one\ntwo\n", { isError: true });
  const { page } = await open(session.text);
  await page.locator(".tool-use").nth(1).waitFor();
  const calls = page.locator(".call .fold-summary");
  expect(await calls.evaluateAll((all) => all.map((one) => one.querySelectorAll("svg").length))).toEqual([
    1, 1,
  ]);
  const gaps = await page.locator(".fold-notes:not(:empty)").evaluateAll((all) =>
    all.map((notes) => {
      const line = notes.parentElement?.getBoundingClientRect().right ?? 0;
      return Math.round(line - notes.getBoundingClientRect().right);
    }),
  );
  expect(gaps).toEqual([10, 10, 10]);
});
