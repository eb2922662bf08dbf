/**
 * Captures a screenshot of every screen of a session's page at three widths, light and dark, for visual review:
 * `npx tsx test/tools/take-screens.ts FOLDER [SESSION]`; default: the session in docs/examples/.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { makeHtmlPage } from "../../src/apps/cli/page/html-page.ts";
import { launchChromium } from "../browser/support/chromium.ts";
import { buildPage, SOURCES_FOLDER } from "./build-page.ts";

const EXAMPLE = fileURLToPath(new URL("../../docs/examples/session.jsonl", import.meta.url));
const SIZES = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
] as const;

/** A screen: its name, the position that it shows, and the keys that lead to it. */
const SCREENS: readonly (readonly [name: string, hash: string, ...keys: string[]])[] = [
  ["conversation", ""],
  ["open", "", "e"],
  ["records", "#records=shown"],
  ["failure", "", "f", "v"],
  ["model", "#view=model"],
  ["changes", "#view=changes"],
  ["usage", "#view=usage"],
  ["commands", "", "c"],
  ["help", "", "?"],
];

const [folder, session = EXAMPLE] = process.argv.slice(2);
if (folder === undefined) throw new TypeError("Name the folder for the pictures.");

async function takeScreens(page: Page, url: string, prefix: string): Promise<void> {
  for (const [name, hash, ...keys] of SCREENS) {
    await page.goto("about:blank");
    await page.goto(url + hash);
    await page.waitForSelector(".page");
    for (const key of keys) await page.keyboard.press(key);
    await page.mouse.move(0, 0);
    await page.screenshot({ path: `${prefix}-${name}.png`, animations: "disabled" });
  }
}

mkdirSync(folder, { recursive: true });
await buildPage(SOURCES_FOLDER);
const browser = await launchChromium();
try {
  const path = resolve(folder, "page.html");
  writeFileSync(path, makeHtmlPage({ bytes: readFileSync(session), fileName: "session.jsonl" }));
  for (const viewport of SIZES)
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ viewport, colorScheme, timezoneId: "UTC" });
      await takeScreens(page, pathToFileURL(path).href, join(folder, `${viewport.width}-${colorScheme}`));
      await page.close();
    }
} finally {
  await browser.close();
}
