/**
 * The session manager of pi's package, as a baseline: unpacked from npm's configured registry and bundled with stand-ins for the
 * packages that it imports, and nothing else of it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";

const PI = "@earendil-works/pi-coding-agent@1.5.2";

/** Exports every name: session ids are generated, and everything else is a function that returns nothing. */
const STAND_IN = `
  const ids = { uuidv7: () => globalThis.crypto.randomUUID() };
  module.exports = new Proxy(ids, { get: (known, name) => known[name] ?? (() => undefined) });
`;

/** Replaces every package that is not Node's own. */
const standIns: Plugin = {
  name: "stand-ins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind === "entry-point") return undefined;
      return isBuiltin(path) ? { path, external: true } : { path, namespace: "stand-in" };
    });
    onLoad({ filter: /.*/, namespace: "stand-in" }, () => ({ contents: STAND_IN, loader: "js" }));
  },
};

/**
 * Unpacks and bundles pi's session manager, unless it exists from an earlier run.
 *
 * @returns Path of the module; or the reason why it is unavailable, such as an unreachable registry.
 */
export async function piSessionManager(folder: string): Promise<{ path: string } | { reason: string }> {
  const path = join(folder, "pi-session-manager.mjs");
  if (existsSync(path)) return { path };
  mkdirSync(folder, { recursive: true });
  try {
    const tarball = execFileSync("npm", ["pack", PI, "--silent", "--pack-destination", folder], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    execFileSync("tar", ["-xzf", join(folder, tarball), "-C", folder]);
    const entry = join(folder, "package/dist/core/session-manager.js");
    await build({
      entryPoints: [entry],
      outfile: path,
      bundle: true,
      format: "esm",
      platform: "node",
      plugins: [standIns],
      logLevel: "silent",
      treeShaking: true,
    });
    return { path };
  } catch (error) {
    return { reason: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) };
  }
}
