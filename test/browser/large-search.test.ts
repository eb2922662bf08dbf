import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { SessionWriter } from "./support/session-writer.ts";

const open = useBrowser();

const ENTRIES = 4_000;

/** Entries that contain `heron`, from the first to the last bytes; only the last one contains `egret`. */
const WITH_HERONS = [0, 1_300, 1_301, 2_600, 3_998];

/** Five megabytes, stored in several blocks: a search yields after each block that takes too long. */
let session = "";
/** IDs of `WITH_HERONS`. */
const ids: string[] = [];

beforeAll(() => {
  const writer = new SessionWriter({ provider: "acme", model: "acorn-2" });
  for (let at = 0; at < ENTRIES; at++) {
    const number = WITH_HERONS.indexOf(at) + 1;
    const words = number === WITH_HERONS.length ? " with an egret" : "";
    const id = writer.user(`${number === 0 ? "" : `heron ${number}${words} `}${`reed ${at} `.repeat(110)}`);
    if (number > 0) ids.push(id);
  }
  session = writer.text;
});

/** Makes every slice of a search due immediately, and holds it until `runSlice`. */
function holdSlices(page: Page): Promise<void> {
  return page.evaluate(() => {
    const held: (() => void)[] = [];
    let asked = 0;
    const clock = performance.now.bind(performance);
    performance.now = () => clock() + 1_000 * asked++;
    const { postMessage } = MessagePort.prototype;
    MessagePort.prototype.postMessage = function () {
      held.push(() => postMessage.call(this, undefined));
    };
    const run = async () => {
      for (const go of held.splice(0)) go();
      // Messages arrive in order: this one after those already sent.
      await new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = resolve;
        postMessage.call(port2, undefined);
      });
      return held.length;
    };
    Object.assign(globalThis, { run });
  });
}

/** Runs the next slice of each held search; returns the number of searches held then. */
async function runSlice(page: Page): Promise<number> {
  return Number(await page.evaluate("run()"));
}

async function runAll(page: Page): Promise<number> {
  let slices = 1;
  while ((await runSlice(page)) > 0) slices++;
  return slices;
}

const field = (page: Page) => page.getByLabel("Search in all entries");
const facts = (page: Page, text: string) => page.locator(`.panel-facts:text-is("${text}")`).waitFor();
const focused = (page: Page, id = "") => page.locator(`.entry.is-focused[data-entry="${id}"]`).waitFor();

async function openHeld(): Promise<Page> {
  const { page } = await open(session);
  await page.locator(".tree").waitFor();
  await holdSlices(page);
  return page;
}

test("a search in slices finds every hit once, in file order", async () => {
  const page = await openHeld();
  await field(page).fill("heron");
  await facts(page, "Searching: 1 entry found so far");
  expect(await runAll(page)).toBeGreaterThan(3);
  await facts(page, "5 entries found");
  const hits = await page
    .locator(".hit-text mark")
    .evaluateAll((marks) =>
      marks.map((mark) => `${mark.textContent}${mark.nextSibling?.textContent?.slice(0, 2)}`),
    );
  expect(hits).toEqual(WITH_HERONS.map((_, index) => `heron ${index + 1}`));
});

test("typing a new query replaces the running search", async () => {
  const page = await openHeld();
  await field(page).fill("heron");
  await facts(page, "Searching: 1 entry found so far");
  await field(page).fill("egret");
  await facts(page, "Searching: 0 entries found so far");
  // The old search has ended; one slice is left.
  expect(await runSlice(page)).toBe(1);
  await runAll(page);
  await facts(page, "1 entry found");
  await page.locator(".hit-text mark:text-is('egret')").waitFor();
});

test("the key for the next hit waits for it instead of starting over at the first", async () => {
  const page = await openHeld();
  await field(page).fill("egret");
  await facts(page, "Searching: 0 entries found so far");
  await page.keyboard.press("Enter");
  expect(await page.locator(".entry.is-focused").count()).toBe(0);
  await runAll(page);
  await focused(page, ids.at(-1));

  await field(page).fill("heron");
  await facts(page, "Searching: 1 entry found so far");
  await page.keyboard.press("Enter");
  await focused(page, ids[0]);
  await page.keyboard.press("Enter");
  await runAll(page);
  await focused(page, ids[1]);
  await page.locator(".search-count:text-is('2 of 5')").waitFor();
});

test("the key for the previous hit waits for the last one while a search runs", async () => {
  const page = await openHeld();
  await field(page).fill("heron");
  await facts(page, "Searching: 1 entry found so far");
  await field(page).blur();
  await page.keyboard.press("N");
  await runAll(page);
  await focused(page, ids.at(-1));
  await page.keyboard.press("n");
  await focused(page, ids[0]);
});
