import { existsSync } from "node:fs";
import { type Browser, firefox } from "playwright-core";

/** Where Debian puts it. */
const FIREFOX_PATH = process.env["FIREFOX_PATH"] ?? "/usr/bin/firefox-esr";

/** Tells whether Firefox is installed. */
export function hasFirefox(): boolean {
  return existsSync(FIREFOX_PATH);
}

/**
 * Starts headless Firefox as Debian has it, which is driven by WebDriver BiDi.
 *
 * Versions of playwright-core from 1.65 on send it a command that it does not know, `emulation.setMediaFeaturesOverride`.
 */
export async function launchFirefox(): Promise<Browser> {
  // A pointer that hovers and is precise, as that of Chromium.
  const firefoxUserPrefs = { "ui.primaryPointerCapabilities": 6, "ui.allPointerCapabilities": 6 };
  return await firefox.launch({ executablePath: FIREFOX_PATH, channel: "moz-firefox", firefoxUserPrefs });
}
