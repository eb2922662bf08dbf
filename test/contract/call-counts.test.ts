import { expect, test } from "vitest";
import { countCalls, type Operation } from "../tools/count-calls.ts";

/**
 * Maximum numbers of files and functions that an operation on a session of 40 ordinary entries may run: in a new process, each
 * is compiled.
 */
const MAX_RUN: { readonly [operation in Operation]: readonly [files: number, functions: number] } = {
  open: [15, 70],
  context: [12, 45],
  appendAndContext: [19, 75],
};

test("an open, a first context, and a later append with its context run few functions", () => {
  const counts = countCalls(40);
  for (const operation of ["open", "context", "appendAndContext"] as const) {
    const { files, functions, names } = counts[operation];
    const [maxFiles, maxFunctions] = MAX_RUN[operation];
    expect(files, `${operation}:\n${names.join("\n")}`).toBeLessThanOrEqual(maxFiles);
    expect(functions, `${operation}:\n${names.join("\n")}`).toBeLessThanOrEqual(maxFunctions);
    // An empty count would always be low.
    expect(functions).toBeGreaterThan(30);
  }
});
