import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { PROGRAM } from "../../support/program.ts";
import { temporaryFolder } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";

/** Starts the program, reads the requested amount of its output, and then closes the pipe. */
async function start(args: readonly string[], wantedBytes = Number.POSITIVE_INFINITY) {
  // Omitted, not emptied: Node itself complains if both are set.
  const { FORCE_COLOR: _forced, ...env } = process.env;
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, NO_COLOR: "1" },
  });
  const closed = once(child, "close");
  let [stdout, stderr] = ["", ""];
  child.stderr.on("data", (piece) => {
    stderr += String(piece);
  });
  child.stdout.on("data", (piece) => {
    stdout += String(piece);
    if (stdout.length >= wantedBytes) child.stdout.destroy();
  });
  const [code]: unknown[] = await closed;
  return { code, stdout, stderr };
}

test("the program passes on output, errors, and exit code", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("start");
  const good = await start(["tree", scribe.path]);
  expect([good.code, good.stderr]).toEqual([0, ""]);
  expect(good.stdout).toContain("\tuser\t");
  const bad = await start(["fork"]);
  expect([bad.code, bad.stdout]).toEqual([2, ""]);
  expect(bad.stderr).toContain("missing required argument");
});

test("a reader that closes the pipe causes no error", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("start");
  scribe.work(5000);
  const { code, stdout, stderr } = await start(["tree", scribe.path, "--json"], 100);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout.length).toBeLessThan(1_000_000);
});

test("an interrupt stops a watch without a failure", async () => {
  const scribe = new Scribe(temporaryFolder());
  scribe.user("start");
  const child = spawn(process.execPath, [PROGRAM, "tree", scribe.path, "--follow"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  child.stderr.once("data", () => scribe.user("shown"));
  child.stdout.once("data", () => child.kill("SIGINT"));
  expect(await closed).toEqual([0, null]);
});
