import { existsSync } from "node:fs";
import { type Browser, firefox } from "playwright-core";

/** Debian's path of Firefox. */
const FIREFOX_PATH = process.env["FIREFOX_PATH"] ?? "/usr/bin/firefox-esr";

/** Returns whether Firefox is installed. */
export function hasFirefox(): boolean {
  return existsSync(FIREFOX_PATH);
}

/**
 * Starts headless Firefox as packaged by Debian, driven by WebDriver BiDi.
 * Since 1.65, playwright-core sends it an unsupported command, `emulation.setMediaFeaturesOverride`.
 */
export async function launchFirefox(): Promise<Browser> {
  // A precise pointer that can hover, like Chromium's.
  const firefoxUserPrefs = { "ui.primaryPointerCapabilities": 6, "ui.allPointerCapabilities": 6 };
  return await firefox.launch({ executablePath: FIREFOX_PATH, channel: "moz-firefox", firefoxUserPrefs });
}
