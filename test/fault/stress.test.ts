import { expect, test } from "vitest";
import { stressDeletion } from "./support/deletion-stress.ts";
import { stress } from "./support/stress.ts";
import { SYSTEMS } from "./support/systems.ts";

test.each(SYSTEMS)(
  "processes that append, die, and replace the file lose nothing, and restore nothing, %s",
  async (system) => {
    const report = await stress(6_000, 1, system);
    const { lost, revealed, left } = report;
    expect({ lost, revealed, left }).toEqual({ lost: [], revealed: [], left: [] });
    expect(report.refused).toEqual({});
    // Each kind of process has done its work.
    const { acknowledged, redacted, repaired, merged, imported, killed } = report;
    for (const count of [acknowledged, redacted, repaired, merged, imported, killed])
      expect(count).toBeGreaterThan(0);
  },
);

test("threads and chats deleted while processes write to them and die do not return, and nothing else is lost", async () => {
  const { lost, returned, doubled, ...counts } = await stressDeletion(6_000, 1);
  expect({ lost, returned, doubled }).toEqual({ lost: [], returned: [], doubled: [] });
  for (const count of [counts.written, counts.deleted, counts.refused, counts.killed])
    expect(count).toBeGreaterThan(0);
});
