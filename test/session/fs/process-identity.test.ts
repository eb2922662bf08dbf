import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import {
  findProcessStart,
  hasStartedSince,
  isStillRunning,
  parseAge,
} from "../../../src/session/fs/process-identity.ts";

const HOUR_MS = 60 * 60 * 1000;

const hasPs = spawnSync("ps", ["-o", "etime=", "-p", String(process.pid)]).status === 0;

test.each([
  ["00:07\n", 7_000],
  [" 12:03", 723_000],
  ["01:00:00", HOUR_MS],
  ["2-01:00:01\r\n", 49 * HOUR_MS + 1000],
  ["", undefined],
  ["ELAPSED", undefined],
  ["-1:00", undefined],
])("the age %j of a process is %s ms", (text, age) => {
  expect(parseAge(text)).toBe(age);
});

test.runIf(hasPs)(
  "a process started after a given time differs from one that ran before, as on systems without /proc",
  () => {
    expect(hasStartedSince(process.pid, Date.now(), "darwin")).toBe(false);
    expect(hasStartedSince(process.pid, performance.timeOrigin - HOUR_MS, "darwin")).toBe(true);
  },
);

test("a machine started after a given time runs no process from before", () => {
  expect(hasStartedSince(process.pid, 0, "no such system")).toBe(true);
});

test("a process with an unknown start is neither dead nor certainly the same", () => {
  expect(isStillRunning(process.pid, "")).toBe("unclear");
  expect(isStillRunning(process.pid, "", -1)).toBe("unclear");
  expect(isStillRunning(process.pid, findProcessStart(process.pid) ?? "")).toBe(
    process.platform === "linux" ? true : "unclear",
  );
});
