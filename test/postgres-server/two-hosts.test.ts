import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const script = new URL("../tools/two-hosts.ts", import.meta.url).pathname;

test("two hosts continue a session on different branches, and a killed server loses nothing", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", script]);
  expect(stdout.match(/^yes /gm)).toHaveLength(6);
  expect(stdout).not.toMatch(/^NO /m);
});
