import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { bundle } from "../../fault/support/bundle.ts";
import { installPackage } from "../../support/registry-package.ts";
import { removeFolder } from "../../support/remove-folder.ts";

/** Minimum number of tests in the suite. */
const MIN_TESTS = 60;

const { arch, platform } = process;
const BUN = `@oven/bun-${platform === "win32" ? "windows" : platform}-${arch === "arm64" ? "aarch64" : arch}@1.4`;

let folder = "";
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sessiontree-sqlite-")));
});
afterAll(() => removeFolder(folder));

/** Installs a package, or skips the test with a message. */
function install(spec: string, skip: (reason: string) => never, runsScripts = false): string {
  // better-sqlite3 is compiled if it has no binary, which takes minutes.
  if (process.env["SESSIONTREE_WITH_REGISTRY"] !== "all") return skip("run npm run test:sqlite");
  const installed = installPackage(folder, spec, runsScripts);
  if ("home" in installed) return installed.home;
  process.stderr.write(`skipped: ${installed.reason}\n`);
  return skip(installed.reason);
}

function expectSuccess(outcome: unknown): void {
  expect(outcome).toEqual({ passed: expect.any(Number), failures: [] });
  expect(Object(outcome).passed).toBeGreaterThan(MIN_TESTS);
}

async function runConnectionSuite(command: string, ...args: string[]): Promise<void> {
  const program = join(folder, "suite.mjs");
  await bundle("stores/sqlite/support/connection-suite.ts", program);
  expectSuccess(JSON.parse(execFileSync(command, [program, ...args], { encoding: "utf8" })));
}

describe("other handles pass the suite of all stores", () => {
  test("better-sqlite3 12", async ({ skip }) => {
    const home = install("better-sqlite3@12", skip, true);
    await runConnectionSuite(process.execPath, home);
  }, 600_000);

  test("bun:sqlite", async ({ skip }) => {
    await runConnectionSuite(join(install(BUN, skip), "bin/bun"));
  });
});

/** The part of Miniflare that is used here. */
interface Workers {
  dispatchFetch(url: string): Promise<{ json(): Promise<unknown> }>;
  dispose(): Promise<void>;
}

/** Starts workerd with the Durable Object of the tests. */
async function startWorkers(miniflare: string): Promise<Workers> {
  const scriptPath = join(folder, "worker.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("./support/object-worker.ts", import.meta.url))],
    outfile: scriptPath,
    bundle: true,
    logLevel: "error",
    platform: "neutral",
    format: "esm",
    target: "es2022",
    mainFields: ["module", "main"],
    // As Wrangler bundles.
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*", "trash"],
    alias: { "sessiontree/sqlite": fileURLToPath(new URL("../../../src/sqlite.ts", import.meta.url)) },
  });
  const { Miniflare } = await import(pathToFileURL(join(miniflare, "dist/src/index.js")).href);
  return new Miniflare({
    modules: true,
    modulesRoot: folder,
    scriptPath,
    modulesRules: [{ type: "ESModule", include: ["**/*.mjs"] }],
    compatibilityDate: "2026-01-01",
    compatibilityFlags: ["nodejs_compat"],
    durableObjects: { SESSIONS: { className: "Sessions", useSQLite: true } },
    handleRuntimeStdio: () => undefined,
  });
}

test("a Durable Object passes the suite, and loses nothing by eviction, hibernation, and alarms", async ({
  skip,
}) => {
  const workers = await startWorkers(install("miniflare@4", skip));
  const ask = async (path: string) => (await workers.dispatchFetch(`http://object.example${path}`)).json();
  try {
    expectSuccess(await ask("/suite?object=suite"));

    await ask("/append?text=first+needle");
    await expect(ask("/evict?text=second+needle")).rejects.toThrow();
    // Nothing is stored of the append during which the object ended.
    expect(await ask("/read")).toEqual({ texts: ["first needle"], found: 1, issues: [] });
    await ask("/append?text=third");
    await expect(ask("/end")).rejects.toThrow();
    expect(await ask("/read")).toEqual({ texts: ["first needle", "third"], found: 1, issues: [] });
    await ask("/alarm");
    await vi.waitFor(async () =>
      expect(await ask("/read")).toMatchObject({ texts: ["first needle", "third", "rings"] }),
    );
  } finally {
    await workers.dispose();
  }
});
