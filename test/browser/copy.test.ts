import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

function session() {
  const writer = new SessionWriter({ provider: "acme", model: "acorn-2" });
  const asked = writer.user("Fix it.");
  const answer = writer.assistant("Like *this*:\n\n```ts\nconst one = 1;\n```\n");
  const result = writer.tool("bash", { command: "npm test" }, "\u001b[32mall\u001b[39m passed\n");
  writer.message({ role: "bashExecution", command: "ls -l", output: "none", exitCode: 0 });
  return { text: writer.text, asked, answer, result };
}

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

test("copies an entry, its ID and link, code, and commands, and confirms it", async () => {
  const { text, answer, result } = session();
  const { page, complaints } = await open(text, { permissions: ["clipboard-read", "clipboard-write"] });
  const entry = page.locator(`.entry[data-entry="${answer}"]`);
  const toast = page.locator(".toast.is-shown");
  await entry.hover();
  await entry.getByLabel("Copy the entry").click();
  await toast.filter({ hasText: `Copied entry ${answer}` }).waitFor();
  expect(await clipboard(page)).toBe("Like *this*:\n\n```ts\nconst one = 1;\n```\n");
  await entry.locator(".entry-id").click();
  expect(await clipboard(page)).toBe(answer);
  await entry.getByLabel(`Link to entry ${answer}`).click();
  expect(await clipboard(page)).toBe(`${page.url().split("#")[0]}#entry=${answer}`);
  await entry.locator(".fence").hover();
  await entry.locator(".fence .copy-code").click();
  expect(await clipboard(page)).toBe("const one = 1;\n");
  const use = page.locator(`.tool-use[data-entry="${result}"]`);
  await use.hover();
  await use.getByLabel("Copy the command").click();
  expect(await clipboard(page)).toBe("npm test");
  // For output, only the text without its colors.
  await use.getByLabel("Copy the entry").click();
  expect(await clipboard(page)).toBe("all passed\n");
  const command = page.locator(".command-line");
  await command.hover();
  await command.getByLabel("Copy the command").click();
  expect(await clipboard(page)).toBe("ls -l");
  expect(complaints).toEqual([]);
});

test("falls back to an older way of copying, or reports that it could not copy", async () => {
  const { text, answer } = session();
  const { page } = await open(text);
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("refused"));
    document.execCommand = () => false;
  });
  const entry = page.locator(`.entry[data-entry="${answer}"]`);
  await entry.hover();
  await entry.getByLabel("Copy the entry").click();
  await page.locator(".toast.is-shown:has-text('does not let the page copy')").waitFor();
});

test("lays out right-to-left text next to left-to-right text", async () => {
  const writer = new SessionWriter({ provider: "acme", model: "acorn-2" });
  writer.user("احسب المجموع من فضلك");
  writer.assistant("The total.\n\nالمجموع هو 42.");
  const { page } = await open(writer.text);
  const sides = await page.locator(".entry .markdown p").evaluateAll((all) =>
    all.map((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      const [text, box] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
      return text.left - box.left > box.right - text.right ? "right" : "left";
    }),
  );
  expect(sides).toEqual(["right", "left", "right"]);
});
