import { expect, test } from "vitest";
import { stress } from "./support/stress.ts";
import { SYSTEMS } from "./support/systems.ts";

test.each(SYSTEMS)(
  "processes that append, die and replace the file lose nothing, and bring nothing back, %s",
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
