import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { makeHtmlPage } from "../../../src/apps/cli/page/html-page.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { launchChromium } from "./chromium.ts";
import { launchFirefox } from "./firefox.ts";

/** Whether the tests run in Firefox, in its own project; its driver supports neither touch nor a dark system theme. */
export const IS_FIREFOX = process.env["SESSIONTREE_BROWSER"] === "firefox";

/** Actions that our pages must never take. */
export interface Offences {
  /** Requested addresses, except the page itself. */
  readonly requests: string[];
  /** Opened dialogs. */
  readonly dialogs: string[];
  /** Warnings and errors on the console, including those of the page's policy, and uncaught errors. */
  readonly complaints: string[];
}

/** An open page and its actions. */
export interface OpenedPage extends Offences {
  readonly page: Page;
  readonly url: string;
}

/** Returns a function that opens the page of a session; the tests of a file share the browser. */
export function useBrowser(): (session: string | Uint8Array, settings?: Settings) => Promise<OpenedPage> {
  const { folder, open } = usePages();
  let number = 0;
  return (session, settings = {}) => {
    const path = join(folder, `${++number}.html`);
    const bytes = typeof session === "string" ? new TextEncoder().encode(session) : session;
    writeFileSync(path, makeHtmlPage({ bytes, fileName: "session.jsonl" }));
    return open(pathToFileURL(path).href, settings);
  };
}

/** Returns a folder for files, and a function that opens an address; the tests of a file share the browser. */
export function usePages(): {
  readonly folder: string;
  readonly open: (url: string, settings?: Settings) => Promise<OpenedPage>;
} {
  let browser: Browser | undefined;
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-browser-"));
  beforeAll(async () => {
    browser = await (IS_FIREFOX ? launchFirefox() : launchChromium());
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const open = async (url: string, { hash = "", script, ...options }: Settings = {}) => {
    if (browser === undefined) throw new Error("The browser has not started.");
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      timezoneId: "UTC",
      ...options,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    onTestFinished(() => context.close());
    if (script !== undefined) await context.addInitScript(script);
    const opened = watch(await context.newPage(), url);
    await opened.page.goto(opened.url + hash);
    await opened.page.waitForSelector(".page, .index");
    return opened;
  };
  return { folder, open };
}

/** Options for opening a page. */
export interface Settings extends BrowserContextOptions {
  /** The part of the address after the file's name, with its `#`. */
  readonly hash?: string;
  /** JavaScript that runs in the page before its own. */
  readonly script?: string;
}

function watch(page: Page, url: string): OpenedPage {
  const [requests, dialogs, complaints]: [string[], string[], string[]] = [[], [], []];
  page.on("request", (request) => {
    const address = request.url();
    if (!address.startsWith(url) && !address.startsWith("data:")) requests.push(address);
  });
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return { page, url, requests, dialogs, complaints };
}
