import { spawn } from "node:child_process";

/** The program that opens a file as a double click would, by platform; elsewhere it is `xdg-open`. */
const OPENERS: { readonly [platform: string]: string } = { darwin: "open", win32: "explorer" };

/**
 * Opens a file in the program that the desktop has for it, without waiting for that program.
 *
 * @param path - Absolute.
 * @returns Whether there is something that opens files.
 */
export function openOnDesktop(path: string): Promise<boolean> {
  const opener = spawn(OPENERS[process.platform] ?? "xdg-open", [path], { detached: true, stdio: "ignore" });
  return new Promise((resolve) => {
    opener.once("error", () => resolve(false));
    opener.once("spawn", () => {
      opener.unref();
      resolve(true);
    });
  });
}
