import { expect, test } from "vitest";
import { stressSqlite } from "./support/sqlite-stress.ts";
import { HAS_SQLITE } from "./support/test-database.ts";

test.skipIf(!HAS_SQLITE)("loses nothing when processes append to one file, redact, and die", async () => {
  const { lost, damaged, ...counts } = await stressSqlite(6_000, 1);
  expect({ lost, damaged }).toEqual({ lost: [], damaged: [] });
  for (const count of [counts.acknowledged, counts.redacted, counts.killed]) expect(count).toBeGreaterThan(0);
});
