import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { findingsOn } from "./support/axe.ts";
import { useBrowser } from "./support/browser.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

const ESC = "\u001b";
const ERROR = "src/a.ts(3,5): error TS2322: No number.";

function noise(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, line) => `line ${from + line} of the build is fine\n`).join(
    "",
  );
}

/** A session with output that failed early, output with a lighthouse in the middle, and colors. */
function longSession() {
  const session = new SessionWriter({ provider: "acme", model: "acorn-2" });
  session.user("Build it.");
  const text = `${noise(0, 1500)}${ESC}[31msrc/a.ts(3,5): ${ESC}[1merror${ESC}[22m TS2322${ESC}[39m: No number.\n${noise(1500, 4000)}Done.\n`;
  const details = { error: "src/a.ts(3,5): error TS2322: No number." };
  const failed = session.tool("bash", { command: "npm run build" }, text, { isError: true, details });
  for (let turn = 0; turn < 30; turn++) {
    session.user(`Question ${turn}`);
    session.assistant(`Answer ${turn}.`);
  }
  const found = session.tool(
    "grep",
    { pattern: "x" },
    `${noise(0, 2000)}a ${ESC}[32mlight${ESC}[0mhouse keeper\n${noise(0, 900)}`,
  );
  session.assistant("All is well.");
  return { text: session.text, failed, found };
}

/** Text marked under a name, and whether it is visible on the screen within all scrollable elements. */
function marked(page: Page, name: string): Promise<{ text: string; isSeen: boolean } | undefined> {
  return page.evaluate((wanted) => {
    const [range] = CSS.highlights.get(wanted) ?? [];
    if (!(range instanceof Range)) return undefined;
    const { top, bottom } = range.getBoundingClientRect();
    let isSeen = true;
    for (let around = range.startContainer.parentElement; around !== null; around = around.parentElement) {
      const frame = around.getBoundingClientRect();
      if (around.matches("pre, .conversation")) isSeen &&= top >= frame.top && bottom <= frame.bottom;
    }
    return { text: range.toString(), isSeen };
  }, name);
}

test("f stops at the line of the error, anywhere in the output", async () => {
  const { text, failed } = longSession();
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ]) {
    const { page, complaints } = await open(text, { viewport });
    await page.locator(".conversation").waitFor();
    await page.keyboard.press("f");
    await page.locator(`.is-focused[data-entry="${failed}"]`).waitFor();
    await expect.poll(() => marked(page, "error-line")).toEqual({ text: ERROR, isSeen: true });
    const excerpt = page.locator(`.tool-use[data-entry="${failed}"] .result .fold-excerpt`);
    expect(await excerpt.textContent()).toBe(ERROR);
    // A notice shows what is omitted, and unfolds it.
    await page.locator(".more").first().click();
    expect(await page.locator(".result pre").textContent()).toContain("line 800 of the build");
    expect(complaints).toEqual([]);
  }
});

test("scrolls to a hit deep in a long result, even across its colors", async () => {
  const { text, found } = longSession();
  const { page } = await open(text);
  await page.keyboard.press("/");
  await page.keyboard.type('"LIGHTHOUSE keeper"');
  await page.keyboard.press("Enter");
  await page.locator(`.is-focused[data-entry="${found}"]`).waitFor();
  await expect.poll(() => marked(page, "found")).toEqual({ text: "lighthouse keeper", isSeen: true });
});

test("shows a terminal's colors, in both themes", async () => {
  const { text, failed } = longSession();
  for (const colorScheme of ["light", "dark"] as const) {
    const { page } = await open(text, { colorScheme, hash: `#entry=${failed}` });
    const pre = page.locator(`.tool-use[data-entry="${failed}"] .result pre`).last();
    await expect
      .poll(() => pre.locator(".ink-red").allTextContents())
      .toEqual(["src/a.ts(3,5): ", "error", " TS2322"]);
    expect(await pre.locator(".ink-bold").textContent()).toBe("error");
    expect(await findingsOn(page)).toEqual([]);
  }
});
