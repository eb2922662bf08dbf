import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";

/** Folder of an installed package, or the reason why npm cannot provide it here. */
export type InstalledPackage = { readonly home: string } | { readonly reason: string };

/**
 * Installs a package in a separate folder; it is not a dependency because few systems can install it.
 *
 * @param spec - Name and version.
 * @param runsScripts - Whether scripts of packages may run, such as those that build a native module.
 */
export function installPackage(folder: string, spec: string, runsScripts = false): InstalledPackage {
  const prefix = mkdtempSync(join(folder, "package-"));
  const options = ["--no-save", "--no-audit", "--no-fund", "--silent"];
  if (!runsScripts) options.push("--ignore-scripts");
  try {
    execFileSync("npm", ["install", "--prefix", prefix, spec, ...options], { stdio: "pipe" });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { reason: `npm cannot install ${spec} here: ${error.message.split("\n")[0]}` };
  }
  return { home: join(prefix, "node_modules", spec.slice(0, spec.lastIndexOf("@"))) };
}
