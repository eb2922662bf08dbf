import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import type { CliIo } from "../../../src/apps/cli/io.ts";
import { withProgress } from "../../../src/apps/cli/progress.ts";
import { loadWidths } from "../../../src/apps/cli/text/width.ts";

await loadWidths();

/** A terminal, a clock that does not advance, and the output on stderr. */
function world({ stdoutIsTTY = true, stderrIsTTY = true, columns = 80, env = {} } = {}) {
  const written: string[] = [];
  const clock = { nowMs: 0 };
  const io: CliIo = {
    stdout: { write: () => undefined, isTTY: stdoutIsTTY },
    stderr: { write: (text) => written.push(text), isTTY: stderrIsTTY, columns },
    env: { NO_COLOR: "1", ...env },
    cwd: "/projects/demo",
    now: () => clock.nowMs,
  };
  /** Reports half of the work at an interval in milliseconds. */
  const work = (everyMs: number, json = false) =>
    withProgress({ io, json }, "Reading sessions", async (report) => {
      for (let done = 0; done <= 1000; done += 100) {
        report(done, 1000);
        clock.nowMs += everyMs;
      }
      return "done";
    });
  return { io, written, work };
}

describe("progress", () => {
  test("is shown after a while, updated occasionally, and erased at the end", async () => {
    const { written, work } = world();
    expect(await work(50)).toBe("done");
    expect(written).toEqual([
      `\rReading sessions ${"━".repeat(18)}${"─".repeat(12)} 600/1,000\u001b[K`,
      `\rReading sessions ${"━".repeat(24)}${"─".repeat(6)} 800/1,000\u001b[K`,
      `\rReading sessions ${"━".repeat(30)} 1,000/1,000\u001b[K`,
      "\r\u001b[K",
    ]);
  });

  test("is not shown for short work, and then nothing is erased", async () => {
    const { written, work } = world();
    await work(5);
    expect(written).toEqual([]);
  });

  test("is for people only", async () => {
    for (const settings of [{ stdoutIsTTY: false }, { stderrIsTTY: false }, { env: { TERM: "dumb" } }]) {
      const { written, work } = world(settings);
      expect(await work(500)).toBe("done");
      expect(written).toEqual([]);
    }
    const { written, work } = world();
    await work(500, true);
    expect(written).toEqual([]);
  });

  test("is erased when the work fails", async () => {
    const { io, written } = world();
    let nowMs = 0;
    const work = withProgress({ io: { ...io, now: () => nowMs }, json: false }, "Reading", async (report) => {
      nowMs = 1000;
      report(1, 2);
      throw new Error("broken");
    });
    await expect(work).rejects.toThrow("broken");
    expect(written.at(-1)).toBe("\r\u001b[K");
    expect(written).toHaveLength(2);
  });

  test("fits the narrowest terminal", async () => {
    const { written, work } = world({ columns: 40 });
    await work(500);
    for (const text of written) expect(stringWidth(text)).toBeLessThan(40);
    expect(written.length).toBeGreaterThan(5);
  });
});
