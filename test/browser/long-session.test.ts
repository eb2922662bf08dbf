import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { PAUSE_MS } from "../../src/apps/page/ui/use-prepared-views.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { useBrowser } from "./support/browser.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

const TURNS = 2_000;

/** 11 MB in one path without a compaction: more than a page keeps parsed. */
let session = "";
let size = 0;
/** ID of an entry in the middle, far from the first screen. */
let middle = "";

beforeAll(() => {
  const writer = new SessionWriter({ provider: "acme", model: "acorn-2" });
  const words = "reed and heron ".repeat(80);
  for (let turn = 0; turn < TURNS; turn++) {
    const id = writer.user(`Question ${turn}: ${words}`);
    if (turn === TURNS / 2) middle = id;
    for (const path of ["a.ts", "b.ts"]) writer.tool("read", { path }, `${path} ${turn} ${words}`);
    writer.assistant(`Answer ${turn}: ${words}`);
  }
  session = writer.text;
  size = writer.size;
});

/** Maximum number of bodies parsed for a screen, including those drawn above and below it, and those in titles of rows. */
const MAX_BODIES = 350;

/** Rows in the document: those of a screen, and four above and below it. */
const MAX_ROWS = 60;

/** Counts parsed bodies; `parsedAtFirst` is set when entries are first drawn. */
const COUNT_PARSED = `
  globalThis.parsed = 0;
  const { parse } = JSON;
  JSON.parse = function (...args) {
    parsed++;
    return parse.apply(this, args);
  };
  new MutationObserver((_, observer) => {
    if (document.querySelector(".conversation .entry") === null) return;
    globalThis.parsedAtFirst = parsed;
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
`;

/** Holds deferred work, such as gathering facts, until `release()`. */
const HOLD_SLICES = `
  const clock = performance.now.bind(performance);
  let asked = 0;
  performance.now = () => clock() + 1000 * asked++;
  const { postMessage } = MessagePort.prototype;
  const held = [];
  let isHeld = true;
  MessagePort.prototype.postMessage = function (message) {
    const send = () => postMessage.call(this, message);
    if (isHeld) held.push(send);
    else send();
  };
  globalThis.release = () => {
    isHeld = false;
    performance.now = clock;
    for (const send of held.splice(0)) send();
  };
`;

const countParsed = async (page: Page) => Number(await page.evaluate("parsed"));
const countRows = (page: Page) => page.locator(".conversation .virtual-item").count();

/** Resolves when the page has drawn the result of an event. */
const settle = (page: Page) =>
  page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))))",
  );

test("the first screen parses only what may be visible, and the rest is parsed once", async () => {
  const { page } = await open(session, { script: COUNT_PARSED });
  await page.locator(".tree").waitFor();
  expect(Number(await page.evaluate("parsedAtFirst"))).toBeLessThan(MAX_BODIES);
  expect(await countParsed(page)).toBeLessThan(size + 2 * MAX_BODIES);
  expect(await countRows(page)).toBeLessThan(MAX_ROWS);
});

test("a key or the wheel parses only what becomes visible", async () => {
  const { page } = await open(session, { script: COUNT_PARSED });
  await page.locator(".tree").waitFor();
  await page.locator(".conversation").hover();
  const steps: [name: string, act: () => Promise<unknown>][] = [
    ...["j", "j", "]", "G", "k", "g", "e", "G", "g", "e", "m", "m", "x", "L"].map(
      (key): [string, () => Promise<unknown>] => [key, () => page.keyboard.press(key)],
    ),
    ["wheel", () => page.mouse.wheel(0, 700)],
    ["far", () => page.locator(".conversation").evaluate((list) => list.scrollTo(0, list.scrollHeight / 2))],
  ];
  for (const [name, act] of steps) {
    const before = await countParsed(page);
    await act();
    await settle(page);
    const parsed = (await countParsed(page)) - before;
    expect.soft(parsed, name).toBeLessThan(MAX_BODIES);
    expect.soft(await countRows(page), name).toBeLessThan(MAX_ROWS);
  }
});

test("visible entries stay in place when the rest of the session is loaded", async () => {
  const { page } = await open(session, { script: HOLD_SLICES });
  await page.locator(".conversation .entry").first().waitFor();
  const list = page.locator(".conversation");
  await list.evaluate((one) => one.scrollTo(0, one.scrollHeight / 2));
  await settle(page);
  await settle(page);
  /** The first visible entry other than a result, and its position. */
  const look = () =>
    list.evaluate((one) => {
      const { top } = one.getBoundingClientRect();
      const shown = [...one.querySelectorAll(".entry:not(.tone-tool)")].map((entry) => ({
        id: entry.getAttribute("data-entry"),
        at: Math.round(entry.getBoundingClientRect().top - top),
      }));
      return shown.find(({ at }) => at >= 0);
    });
  const before = await look();
  expect(before).toBeDefined();
  await page.evaluate("release()");
  await page.locator(".tree").waitFor();
  await settle(page);
  expect(await look()).toEqual(before);
});

test("a link opens in the middle of a session, with results next to their calls immediately", async () => {
  const { page } = await open(session, { script: HOLD_SLICES, hash: `#entry=${middle}` });
  await page.locator(`.entry.is-focused[data-entry="${middle}"]`).waitFor();
  expect(await page.locator(".conversation .entry.tone-tool").count()).toBe(0);
  expect(await page.locator(".conversation .tool-use .result").count()).toBeGreaterThan(0);
  await page.evaluate("release()");
  await page.locator(".tree").waitFor();
  await page.locator(`.entry.is-focused[data-entry="${middle}"]`).waitFor();
});

/** Counts the pauses before the steps that prepare other views, and one more after the last step. */
const COUNT_PAUSES = `
  globalThis.pauses = 0;
  const { setTimeout: start } = globalThis;
  globalThis.setTimeout = (run, ms, ...args) =>
    start((...given) => { run(...given); if (ms === ${PAUSE_MS}) pauses++; }, ms, ...args);
`;

test("the model's view is prepared before the reader opens it", async () => {
  const writer = new SessionWriter({ provider: "acme", model: "acorn-2" });
  writer.user("Go");
  writer.assistant([{ type: "toolCall", id: "call_1", name: "bash", arguments: { command: "make" } }]);
  const { page } = await open(writer.text, { script: COUNT_PAUSES });
  await expect.poll(() => page.evaluate("pauses"), { timeout: PATIENCE_MS }).toBe(5);
  // Without timers, only repairs that are already known can be shown.
  await page.evaluate("globalThis.setTimeout = () => 0; undefined");
  await page.keyboard.press("m");
  await page.locator(".is-model .is-unpaired").waitFor();
});
