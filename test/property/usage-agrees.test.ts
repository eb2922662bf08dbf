import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { collectUsage } from "../../src/catalog/usage/collect-usage.ts";
import { formatModelName } from "../../src/core/facts/usage.ts";
import { isSessionError } from "../../src/core/format/errors.ts";
import { collectStats } from "../../src/session/controller/stats.ts";
import { SessionManager } from "../../src/session/manager/session-manager.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/", import.meta.url));

const files = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".jsonl"),
);

/** Sums a session as one of many; undefined if it is not a session. */
async function sumsAcross(name: string) {
  const sessionDir = join(temporaryFolder(), "sessions");
  mkdirSync(sessionDir);
  copyFileSync(join(FIXTURES, name), join(sessionDir, "one.jsonl"));
  const { groups } = await collectUsage({ sessionDir, by: ["model"], cache: false });
  const sums = groups.map(({ by, calls, total, cost }) => [by.model, calls, total, cost] as const);
  return new Map(sums.map(([model, ...sum]) => [model, sum]));
}

/** Returns the same from the statistics of the session. */
function sumsOfOne(name: string) {
  const session = SessionManager.open(join(FIXTURES, name), { mode: "read-only" });
  const source = { session, counter: undefined, nowMs: 0, isInherited: undefined };
  const { byModel } = collectStats(source, { includeInherited: true });
  return new Map(
    byModel.map((usage) => [formatModelName(usage) || null, [usage.count, usage.totalTokens, usage.cost]]),
  );
}

function isSession(name: string): boolean {
  try {
    return SessionManager.open(join(FIXTURES, name), { mode: "read-only" }).getEntryCount() > 0;
  } catch (error) {
    if (isSessionError(error)) return false;
    throw error;
  }
}

test("the sums of one session and those across sessions agree on every fixture", async () => {
  let counted = 0;
  for (const name of files.filter(isSession)) {
    const one = sumsOfOne(name);
    counted += one.size;
    expect(await sumsAcross(name), name).toEqual(one);
  }
  expect(counted).toBeGreaterThan(20);
});
