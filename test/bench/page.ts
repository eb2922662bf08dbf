/**
 * Measures the page of a session in Chromium, as a separate process: `page.ts MEASURE SESSION` prints its measurements as JSON.
 *
 * The memory is what scripts hold at that moment, including buffers, without unreferenced objects.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { CDPSession, Page } from "playwright-core";
import { launchChromium } from "../browser/support/chromium.ts";
import type { Measured } from "./child.ts";

const BIN = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));

/** Words in no entry, so that all of them are searched, and words in nearly every entry. */
const NOWHERE = "lighthouse herons";
const EVERYWHERE = "agent config";

const FIRST_SCREEN = ".conversation .entry";
const ALL_READ = ".tree";
const FIRST_ROW = '.conversation [data-index="0"] .is-focused';

const FIRST = "first screen";

/** Records in a page when each of these is first drawn, in milliseconds since the page was requested. */
const NOTE_DRAWN = `
  globalThis.drawn = {};
  const note = (selector) => {
    if (selector in drawn || document.querySelector(selector) === null) return;
    drawn[selector] = new Promise((done) =>
      requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)));
  };
  const observer = new MutationObserver(() => ${JSON.stringify([FIRST_SCREEN, ALL_READ])}.forEach(note));
  observer.observe(document, { childList: true, subtree: true });
`;

/** Records in a page the milliseconds from the next event of a type until an element exists and is drawn. */
const noteAnswer = (type: string, selector: string) => `
  globalThis.answer = new Promise((done) =>
    addEventListener(${JSON.stringify(type)}, ({ timeStamp }) =>
      requestAnimationFrame(function look() {
        if (document.querySelector(${JSON.stringify(selector)}) === null) requestAnimationFrame(look);
        else setTimeout(() => done(performance.now() - timeStamp), 0);
      }), { capture: true, once: true, passive: true }));
  undefined;
`;

/** Number of keys and wheel events over which the median is taken. */
const EVENTS = 21;

/** Measures a page; see above. */
export function measurePage(_implementation: string, measure: string, path: string): Measured {
  const args = ["--import", "tsx", fileURLToPath(import.meta.url), measure, path];
  const measured: Measured = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
  return measured;
}

/** Measured steps on a newly requested page. */
const STEPS: { readonly [measure: string]: (page: Page) => Promise<number> } = {
  [FIRST]: (page) => untilDrawn(page, FIRST_SCREEN),
  "all read": (page) => untilDrawn(page, ALL_READ),
  "a key": (page) => timeEvents(page, "keydown", ".conversation .is-focused", () => page.keyboard.press("j")),
  "a key of another view, first": async (page) => (await timeViews(page)).first,
  "a key of another view, later": async (page) => (await timeViews(page)).later,
  "a wheel event": (page) =>
    timeEvents(page, "wheel", ".conversation .entry", () => page.mouse.wheel(0, 700)),
  "from the end to the first entry": async (page) => {
    await untilDrawn(page, ALL_READ);
    await timeAnswer(page, "keydown", ".conversation .is-focused", () => page.keyboard.press("G"));
    return await timeAnswer(page, "keydown", FIRST_ROW, () => page.keyboard.press("g"));
  },
  search: (page) => searchFor(page, NOWHERE, ".panel-facts:text('Nothing found')"),
  "search everywhere": (page) =>
    searchFor(page, EVERYWHERE, ".panel-facts:text(' entries found'):not(:text('so far'))"),
};

async function untilDrawn(page: Page, selector: string): Promise<number> {
  await page.waitForSelector(selector, { timeout: 120_000 });
  return Number(await page.evaluate(`drawn[${JSON.stringify(selector)}]`));
}

/** Returns the time in which a page responds to an event: the median of several, without the first. */
async function timeEvents(
  page: Page,
  type: string,
  selector: string,
  cause: () => Promise<void>,
): Promise<number> {
  await untilDrawn(page, ALL_READ);
  await page.locator(".conversation").hover();
  await timeAnswer(page, type, selector, cause);
  const times: number[] = [];
  for (let at = 0; at < EVENTS; at++) times.push(await timeAnswer(page, type, selector, cause));
  return times.sort((a, b) => a - b)[EVENTS >> 1] ?? Number.NaN;
}

/** Keys that show another view, or the same one laid out again: each is pressed twice in a row, so that the second press restores it. */
const VIEW_KEYS = ["m", "u", "t", "e"];

/**
 * Returns the times in which a page responds to keys that lay out much: the longest of the first presses, and the longest of the
 * medians of the later ones.
 */
async function timeViews(page: Page): Promise<{ readonly first: number; readonly later: number }> {
  await untilDrawn(page, ALL_READ);
  await timeAnswer(page, "keydown", ".conversation .is-focused", () => page.keyboard.press("L"));
  const first: number[] = [];
  const later: number[] = [];
  for (const key of VIEW_KEYS) {
    const times: number[] = [];
    for (let at = 0; at < EVENTS; at++) {
      times.push(await timeAnswer(page, "keydown", ".page", () => page.keyboard.press(key)));
      await page.evaluate("new Promise((done) => setTimeout(done, 100))");
    }
    const [own = Number.NaN, ...others] = times;
    first.push(own);
    later.push(others.sort((a, b) => a - b)[others.length >> 1] ?? Number.NaN);
  }
  return { first: Math.max(...first), later: Math.max(...later) };
}

async function timeAnswer(
  page: Page,
  type: string,
  selector: string,
  cause: () => Promise<void>,
): Promise<number> {
  await page.evaluate(noteAnswer(type, selector));
  await cause();
  return Number(await page.evaluate("answer"));
}

async function searchFor(page: Page, words: string, foundSelector: string): Promise<number> {
  await untilDrawn(page, ALL_READ);
  const field = page.locator(".top-bar .search input");
  await field.focus();
  await page.evaluate("new Promise((done) => setTimeout(done, 1000))");
  const startMs = performance.now();
  await field.fill(words);
  await page.waitForSelector(foundSelector, { timeout: 120_000 });
  return performance.now() - startMs;
}

async function heldMb(debug: CDPSession): Promise<number> {
  await debug.send("HeapProfiler.collectGarbage");
  const { usedSize, ...others } = await debug.send("Runtime.getHeapUsage");
  const buffers = "backingStorageSize" in others ? Number(others.backingStorageSize) : 0;
  return (usedSize + buffers) / 1e6;
}

/** Opens a page, and measures a step. */
async function measureAt(url: string, measure: string): Promise<Measured> {
  const browser = await launchChromium();
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    const debug = await context.newCDPSession(page);
    const rssBeforeMb = await heldMb(debug);
    const step = STEPS[measure];
    if (step === undefined) throw new Error(`Nothing is measured by the name ${measure}.`);
    await page.addInitScript(NOTE_DRAWN);
    // A served page continues reading after its first screen once it has this answer: it waits until the browser closes.
    if (measure === FIRST) await page.route("**/known", () => undefined);
    const opening = page.goto(url, { waitUntil: "commit" });
    const ms = await step(page);
    await opening;
    return { ms, rssMb: await heldMb(debug), rssBeforeMb, result: 1 };
  } finally {
    await browser.close();
  }
}

async function measureExported(path: string, measure: string): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-bench-"));
  try {
    const file = join(folder, "page.html");
    execFileSync(process.execPath, [BIN, "view", path, "--no-open", "-o", file], { stdio: "ignore" });
    return await measureAt(pathToFileURL(file).href, measure);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measureServed(path: string, measure: string): Promise<Measured> {
  const server = spawn(process.execPath, [BIN, "view", path, "--live", "--no-open"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const [url]: unknown[] = await once(server.stdout, "data");
    return await measureAt(String(url).trim(), measure);
  } finally {
    server.kill();
  }
}

const [measure = "", path = ""] = process.argv.slice(2);
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const served = /^served, (.+)$/.exec(measure)?.[1];
  const measured =
    served === undefined ? await measureExported(path, measure) : await measureServed(path, served);
  console.log(JSON.stringify(measured));
}
