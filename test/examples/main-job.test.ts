import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { takeSample } from "../support/share.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Files that the program left in the folder for temporary files. */
  readonly left: string[];
}

/** Runs the example as `npm start` does. */
async function runMainJob(...args: string[]): Promise<Outcome> {
  const folder = temporaryFolder();
  const temporary = join(folder, "tmp");
  mkdirSync(temporary);
  const argv = ["--import", "tsx", "docs/examples/main-job.ts", ...args];
  const env = { ...process.env, TMPDIR: temporary, TEMP: temporary, NO_COLOR: "1" };
  return new Promise((resolve) => {
    execFile(process.execPath, argv, { cwd: ROOT, env }, (error, stdout, stderr) => {
      // tsx keeps compiled files in a separate folder.
      const left = readdirSync(temporary).filter((name) => !name.startsWith("tsx-"));
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr, left });
    });
  });
}

test("runs from opening version 1 to finding everything again", async () => {
  const { code, stdout, stderr, left } = await runMainJob();
  // The drawing of the tree ends with the next command.
  expect(stderr).toMatch(/^To compare the active branch with another: sessiontree diff [^\n]+\n$/);
  expect(code).toBe(0);
  const steps = stdout.match(/^\d\. .*$/gm);
  expect(steps).toEqual([
    "1. Open",
    "2. Upgrade",
    "3. Continue as an agent would",
    "4. Rebuild what the model sees",
    "5. Reopen and compare",
  ]);
  expect(stdout).toContain("fix-the-totals.jsonl.v1.bak");
  expect(stdout).toContain("fix-the-totals.jsonl: 0 issues\n");
  expect(stdout).toMatch(/^├─○ \S+ assistant .* I will count/m);
  expect(stdout).toMatch(/^◆ \S+ compaction /m);
  expect(stdout.match(/^ {3}✓ /gm)).toHaveLength(9);
  expect(stdout).not.toContain("NOT:");
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(left).toEqual([]);
});

test("continues a damaged session, and reports its issues", async () => {
  const file = "fixtures/broken/v3-glued-to-torn-record.jsonl";
  const before = readFileSync(join(ROOT, file));
  const { code, stdout, left } = await runMainJob(file);
  expect(code).toBe(0);
  expect(stdout).toContain(": 2 issues\n");
  expect(stdout).toMatch(/line 3: .*body/);
  expect(stdout.match(/^ {3}✓ /gm)).toHaveLength(9);
  expect(readFileSync(join(ROOT, file)).equals(before)).toBe(true);
  expect(left).toEqual([]);
});

const WRONG_FILES: readonly (readonly [file: string, problem: string])[] = [
  ["fixtures/broken/prose.jsonl", "NOT_A_SESSION"],
  ["fixtures/nowhere.jsonl", "SESSION_NOT_FOUND"],
  ["fixtures", "NOT_A_SESSION"],
  ["fixtures/v4/newer-than-known.jsonl", "VERSION_TOO_NEW"],
];

test.each(takeSample(WRONG_FILES))(
  "reports in one line why %s cannot be continued",
  async (file, problem) => {
    const { code, stderr, left } = await runMainJob(file);
    expect(code).toBe(1);
    expect(stderr.split("\n")).toEqual([expect.stringContaining(`${problem}: `), ""]);
    expect(left).toEqual([]);
  },
);
