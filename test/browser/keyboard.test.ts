import { expect, test } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { smallSession } from "./support/small-session.ts";

const open = useBrowser();

test("keys that scroll are left to what is focused and can scroll, and to views without entries", async () => {
  const { page } = await open(smallSession().text, { viewport: { width: 1280, height: 500 } });
  page.setDefaultTimeout(5000);
  const swallowed = (selector: string, key: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((target, key) => {
        const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
        return !target.dispatchEvent(event);
      }, key);
  await page.locator(".compacted-line").click();
  await page.locator(".conversation pre").first().waitFor({ timeout: 5000 });
  await page
    .locator(".conversation pre")
    .first()
    .evaluate((pre) => {
      pre.style.width = "20px";
      pre.style.overflow = "auto";
    });
  expect(await swallowed(".conversation pre", "ArrowRight")).toBe(false);
  expect(await swallowed(".conversation", "ArrowDown")).toBe(true);
  await page.keyboard.press("u");
  await page.locator(".usage .bar").first().waitFor();
  for (const key of ["ArrowDown", "ArrowRight", "Home", "End"])
    expect(await swallowed(".usage", key)).toBe(false);
});

test("the key for the next hit does nothing where nothing is searched for", async () => {
  const { page } = await open(smallSession().text);
  await page.locator(".conversation .entry").first().waitFor();
  const before = page.url();
  for (const key of ["n", "N", "n"]) await page.keyboard.press(key);
  // Keys are handled in turn: this one is drawn last.
  await page.keyboard.press("?");
  await page.locator("dialog.help").waitFor();
  expect(page.url()).toBe(before);
  expect(await page.locator(".entry.is-focused").count()).toBe(0);
});
