import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Debian's path of Chromium. */
const USUAL_PATH = "/usr/bin/chromium";

/** Starts headless Chromium. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = process.env["CHROMIUM_PATH"] ?? USUAL_PATH;
  if (!existsSync(executablePath)) {
    throw new Error(
      `There is no Chromium at ${executablePath}. Install the package chromium, or name the program in CHROMIUM_PATH.`,
    );
  }
  const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
  return await chromium.launch({ executablePath, args });
}
