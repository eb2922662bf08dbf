import { expect, test } from "vitest";
import { findingsOn } from "./support/axe.ts";
import { useBrowser } from "./support/browser.ts";
import { failingSession } from "./support/failing-session.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

test("reports a failure once, at its source, and highlights it in the counter", async () => {
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

test("a call has one triangle, and facts about it and its result at the right edge", async () => {
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

test("changes have a list of files at the side, line numbers, colors, and tabs of width four", async () => {
  const session = new SessionWriter({ provider: "acme", model: "acorn-2" });
  session.user("Go.");
  const text = Array.from({ length: 40 }, (_, line) => `const line${line} = "${line}";`).join("\n");
  session.tool("read", { path: "src/a.ts" }, text);
  session.tool("edit", { path: "src/a.ts", oldText: 'line9 = "9"', newText: 'line9 = "nine"' }, "Done.");
  for (const name of ["b", "c", "d", "e"])
    session.tool("write", { path: `src/deep/${name}.ts`, content: `\tconst ${name} = 1;\n${text}` }, "Done.");
  for (const width of [1440, 390]) {
    const { page } = await open(session.text, { hash: "#view=changes", viewport: { width, height: 800 } });
    const list = page.getByRole("navigation", { name: "Files" });
    const names = list.getByRole("button");
    expect(await list.locator(".file-name").allTextContents()).toEqual([
      "a.ts",
      "b.ts",
      "c.ts",
      "d.ts",
      "e.ts",
    ]);
    expect(await names.first().textContent()).toBe("a.ts+1 −1src/");
    const first = page.locator(".file-changes").first();
    expect(await first.locator(".diff-number").allTextContents()).toEqual(["10", "10"]);
    expect(await first.locator(".hljs-string").allTextContents()).toEqual(['"9"', '"nine"']);
    expect(
      await first
        .locator(".diff-text")
        .first()
        .evaluate((one) => getComputedStyle(one).tabSize),
    ).toBe("4");
    await names.nth(3).click();
    const heading = page.locator(".file-changes h2:has-text('d.ts')");
    await heading.waitFor();
    const top = await page.locator(".changes").boundingBox();
    await expect.poll(async () => ((await heading.boundingBox())?.y ?? 0) - (top?.y ?? 0)).toBeLessThan(60);
    await page.locator(".file-list button[aria-current=true]:has-text('d.ts')").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    expect(await findingsOn(page)).toEqual([]);
  }
});
