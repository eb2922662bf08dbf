/**
 * Captures a screenshot of every screen of a session's page, and of the page that lists sessions, at three widths, light and dark,
 * for visual review: `npx tsx test/tools/take-screens.ts FOLDER [SESSION] [SESSIONS]`.
 *
 * SESSION defaults to the session in docs/examples/, and SESSIONS, the folder to list, to a folder of all fixtures. To review a
 * list of real sessions, import some into a folder: `sessiontree import --all --dir SESSIONS`.
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { makeHtmlPage } from "../../src/apps/cli/page/html-page.ts";
import { PageServer, type ServedIndex } from "../../src/apps/cli/page/page-server.ts";
import { makeTablePrices } from "../../src/apps/cli/price-table.ts";
import { launchChromium } from "../browser/support/chromium.ts";
import { buildPage, SOURCES_FOLDER } from "./build-page.ts";

const EXAMPLE = fileURLToPath(new URL("../../docs/examples/session.jsonl", import.meta.url));
const FIXTURES = fileURLToPath(new URL("../../fixtures/", import.meta.url));
const SIZES: readonly BrowserContextOptions[] = [
  { viewport: { width: 1440, height: 900 } },
  { viewport: { width: 1024, height: 768 } },
  { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
];

/** A screen: its name, the position that it shows, and the steps that lead to it. */
type Screen = readonly [name: string, hash: string, ...steps: Step[]];
/** A key to press, or an action. */
type Step = string | ((page: Page) => Promise<unknown>);

/** Clicks an element that is in the page only at some widths, or only with some sessions. */
function clickIfShown(selector: string): Step {
  return async (page) => {
    const element = page.locator(selector).first();
    if (await element.isVisible()) await element.click();
  };
}

/** Waits until the usage and the failures of the sessions in sight are known. */
const settle: Step = async (page) => {
  await page.locator(".index-note", { hasText: "Adding up" }).waitFor({ state: "detached" });
  await page.waitForLoadState("networkidle");
};

/** Scrolls the list, or the usage of a session, to its end. */
const scrollToEnd: Step = (page) =>
  page.locator(".index-main, .usage").evaluate((view) => view.scrollTo(0, view.scrollHeight));

const SESSION_SCREENS: readonly Screen[] = [
  ["conversation", ""],
  ["open", "", "e"],
  ["records", "#records=shown"],
  ["failure", "", "f", "v"],
  ["marked", "", "j", "j", "j"],
  ["search", "", "/", "t", "e", "s", "t", "Enter"],
  ["actions", "", "j", clickIfShown(".is-focused .entry-menu")],
  ["menu", "", clickIfShown(".menu-button")],
  ["tree", "", clickIfShown(".top-bar [aria-label=Tree]")],
  ["model", "#view=model"],
  ["beside", "", clickIfShown("[aria-label='Compare two branches']")],
  ["changes", "#view=changes"],
  ["usage", "#view=usage"],
  ["usage-end", "#view=usage", scrollToEnd],
  ["commands", "", "c"],
  ["help", "", "?"],
];

const LIST_SCREENS: readonly Screen[] = [
  ["list", "", settle],
  ["list-end", "", settle, scrollToEnd, settle],
  ["list-chart", "", settle, clickIfShown(".index-chart:not([open]) > summary")],
  ["list-subagents", "", settle, clickIfShown(".subagents-line")],
  ["list-damaged", "#sort=issues", settle],
  ["list-filters", "#source=not+imported&time=this+year&sort=cost&filter=e", settle],
  ["list-search", "#search=the", settle],
  ["list-no-match", "#filter=xyzzy", settle],
  ["list-no-hit", "#search=xyzzy", settle],
  ["list-marked", "", settle, "j", "j"],
  ["list-help", "", settle, "?"],
];

async function takeScreens(
  page: Page,
  url: string,
  prefix: string,
  screens: readonly Screen[],
): Promise<void> {
  for (const [name, hash, ...steps] of screens) {
    await page.goto("about:blank");
    await page.goto(url + hash);
    await page.waitForSelector(".page, .index");
    for (const step of steps) await (typeof step === "string" ? page.keyboard.press(step) : step(page));
    await page.mouse.move(0, 0);
    await page.screenshot({ path: `${prefix}-${name}.png`, animations: "disabled" });
  }
}

/** Captures screens in every size and color scheme. */
async function takeAll(browser: Browser, url: string, screens: readonly Screen[]): Promise<void> {
  for (const size of SIZES)
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ ...size, colorScheme, timezoneId: "UTC" });
      await takeScreens(page, url, join(folder, `${size.viewport?.width}-${colorScheme}`), screens);
      await page.close();
    }
}

async function takeList(browser: Browser, index: ServedIndex, screens: readonly Screen[]): Promise<void> {
  const server = new PageServer(index);
  await server.start();
  try {
    await takeAll(browser, server.indexUrl, screens);
  } finally {
    await server.stop();
  }
}

/** Copies all fixtures into one folder, because a list is of a flat folder. */
function copyFixtures(target: string): void {
  for (const name of readdirSync(FIXTURES, { recursive: true, encoding: "utf8" }))
    if (name.endsWith(".jsonl")) copyFileSync(join(FIXTURES, name), join(target, name.replaceAll("/", "-")));
  copyFileSync(EXAMPLE, join(target, "example.jsonl"));
}

const [folder = "", session = EXAMPLE, sessions] = process.argv.slice(2);
if (folder === "") throw new TypeError("Name the folder for the pictures.");
mkdirSync(folder, { recursive: true });
await buildPage(SOURCES_FOLDER);
const scratch = mkdtempSync(join(tmpdir(), "sessiontree-"));
const empty = join(scratch, "empty");
mkdirSync(empty);
const browser = await launchChromium();
try {
  const path = resolve(folder, "page.html");
  writeFileSync(path, makeHtmlPage({ bytes: readFileSync(session), fileName: "session.jsonl" }));
  await takeAll(browser, pathToFileURL(path).href, SESSION_SCREENS);
  if (sessions === undefined) copyFixtures(scratch);
  const scope = { sessionDir: resolve(sessions ?? scratch) };
  await takeList(browser, { scope, name: "all projects", prices: makeTablePrices() }, LIST_SCREENS);
  const countImportable = async () => [
    { source: "claude-code", sessions: 41 },
    { source: "codex", sessions: 1203 },
  ];
  await takeList(browser, { scope: { sessionDir: empty }, name: "all projects", countImportable }, [
    ["list-empty", "", settle],
  ]);
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true, force: true });
}
