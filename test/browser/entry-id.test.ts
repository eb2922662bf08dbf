import { expect, test } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { failingSession } from "./support/failing-session.ts";

const open = useBrowser();

test("a focused entry shows its ID, which one click selects", async () => {
  const { text, failures, parallel } = failingSession();
  const { page } = await open(text, { hash: `#entry=${failures[1]}` });
  const ids = [
    [failures[1], `.tool-use[data-entry="${failures[1]}"] .result .fold-line`],
    [parallel, `.entry[data-entry="${parallel}"] > .entry-head`],
  ] as const;
  for (const [id, selector] of ids) {
    const shown = page.locator(selector).locator(".entry-id");
    await page.locator(selector).hover();
    expect(await shown.textContent()).toBe(id);
    expect(await shown.evaluate((one) => getComputedStyle(one).opacity)).toBe("1");
    await shown.click();
    expect(await page.evaluate(() => getSelection()?.toString().trim())).toBe(id);
  }
});

test("a very long ID is cut but selected completely", async () => {
  const id = `deadbeef-${"0123456789".repeat(12)}`;
  const timestamp = "2026-02-03T09:00:00.000Z";
  const lines = [
    { type: "session", version: 3, id: "s", timestamp, cwd: "/" },
    { type: "message", id, parentId: null, timestamp, message: { role: "user", content: "Hello." } },
  ];
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    const { page } = await open(lines.map((line) => `${JSON.stringify(line)}\n`).join(""), {
      viewport,
      hash: `#entry=${id}`,
    });
    const shown = page.locator(".is-focused .entry-id");
    await shown.click();
    expect(await page.evaluate(() => getSelection()?.toString().trim())).toBe(id);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
    const box = await shown.boundingBox();
    expect((box?.x ?? 9999) + (box?.width ?? 0)).toBeLessThanOrEqual(viewport.width);
  }
});
