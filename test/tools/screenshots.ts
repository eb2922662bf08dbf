/**
 * Captures the README's screenshots of the page of the session in docs/examples/. Needs Chromium: at /usr/bin/chromium, or at the
 * path in CHROMIUM_PATH.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { makeHtmlPage } from "../../src/apps/cli/page/html-page.ts";
import { launchChromium } from "../browser/support/chromium.ts";
import { buildPage, SOURCES_FOLDER } from "./build-page.ts";

const SESSION = fileURLToPath(new URL("../../docs/examples/session.jsonl", import.meta.url));
const IMAGES = fileURLToPath(new URL("../../docs/images/", import.meta.url));

/** A screenshot: its name, the position that it shows, the button of a fold to open, and the screen size. */
interface Picture {
  readonly name: string;
  readonly hash: string;
  readonly fold?: string;
  readonly colorScheme: "light" | "dark";
  readonly viewport: { readonly width: number; readonly height: number };
  readonly deviceScaleFactor: number;
}

const PICTURES: readonly Picture[] = [
  {
    name: "page.png",
    hash: "#entry=a0000010&end=a0000018",
    fold: '[data-entry="a0000012"] .call button',
    colorScheme: "light",
    viewport: { width: 1200, height: 700 },
    deviceScaleFactor: 1,
  },
  {
    name: "page-phone.png",
    hash: "#view=usage",
    colorScheme: "dark",
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 1.5,
  },
];

async function take(browser: Browser, url: string, picture: Picture): Promise<void> {
  const { name, hash, fold, ...screen } = picture;
  const page = await browser.newPage({ ...screen, timezoneId: "UTC" });
  await page.goto(url + hash);
  await page.waitForSelector(".page");
  if (fold !== undefined) await page.locator(fold).click();
  await page.mouse.move(0, 0);
  const png = await page.screenshot({ path: join(IMAGES, name), animations: "disabled" });
  console.log(`${name}: ${Math.round(png.length / 1024)} kB`);
}

const folder = mkdtempSync(join(tmpdir(), "sessiontree-"));
await buildPage(SOURCES_FOLDER);
const browser = await launchChromium();
try {
  const path = join(folder, "page.html");
  writeFileSync(path, makeHtmlPage({ bytes: readFileSync(SESSION), fileName: "session.jsonl" }));
  for (const picture of PICTURES) await take(browser, pathToFileURL(path).href, picture);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
