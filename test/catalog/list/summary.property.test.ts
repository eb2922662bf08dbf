import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { summarizeFile } from "../../../src/catalog/list/file-summary.ts";
import type { FileSummary } from "../../../src/session/files/summary-columns.ts";
import { Pace } from "../../../src/session/files/time-slices.ts";
import fc from "../../support/fast-check.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { plainSummary } from "../support/plain-reference.ts";
import { put } from "../support/sessions.ts";
import { healthySessions, nearlyHealthySessions, wildSessions } from "../support/wild-sessions.ts";

const RUNS = 500;

function summarize(path: string, known?: FileSummary): Promise<FileSummary> {
  return summarizeFile(path, known, new Pace());
}

test.each([
  ["in order", healthySessions],
  ["in order but for one thing", nearlyHealthySessions],
  ["in any state", wildSessions],
])("summarizes a file %s as parsing everything does", async (_, files) => {
  const path = join(temporaryFolder(), "a.jsonl");
  await fc.assert(
    fc.asyncProperty(files, async (bytes) => {
      put(path, bytes);
      expect(await summarize(path)).toMatchObject(plainSummary(bytes));
    }),
    { numRuns: RUNS },
  );
});

test("extends a summary by appended records to the same as a new one", async () => {
  const path = join(temporaryFolder(), "a.jsonl");
  const files = fc.oneof(wildSessions, healthySessions, nearlyHealthySessions);
  await fc.assert(
    fc.asyncProperty(files, fc.nat(), fc.boolean(), async (bytes, number, isAtLine) => {
      const somewhere = number % (bytes.length + 1);
      const cut = isAtLine ? bytes.indexOf(0x0a, somewhere) + 1 : somewhere;
      put(path, bytes.subarray(0, cut));
      const known = await summarize(path);
      appendFileSync(path, bytes.subarray(cut));
      const extended = await summarize(path, known);
      expect(extended).toMatchObject(plainSummary(bytes));
    }),
    { numRuns: RUNS },
  );
});
