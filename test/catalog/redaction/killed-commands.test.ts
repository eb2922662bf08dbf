import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { cli } from "../../apps/cli/support/cli.ts";
import { PROGRAM } from "../../support/program.ts";
import { PlantedHome, SECRET } from "./support/planted-home.ts";

/** Kills the process before a write call, and prints the number of calls at its end. */
const KILLER = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
let calls = 0;
const count = () => {
  if (++calls === Number(process.env.KILLED_AT)) process.kill(process.pid, "SIGKILL");
};
const { O_WRONLY, O_RDWR } = fs.constants;
const isWriting = (flags) => (typeof flags === "number" ? (flags & (O_WRONLY | O_RDWR)) !== 0 : flags !== undefined && flags !== "r");
for (const name of ["open", "write", "copyFile", "rename", "link", "unlink", "mkdtemp", "fchmod", "utimes"])
  for (const call of [name, name + "Sync"]) {
    const whole = fs[call];
    fs[call] = (...given) => {
      if (name !== "open" || isWriting(given[1])) count();
      return whole(...given);
    };
  }
syncBuiltinESMExports();
process.on("exit", () => process.stderr.write("\\ncalls: " + calls));
`;

/** Runs a command in a process that is killed before a call, or not at all; returns the number of calls. */
function killedAt(call: number, home: PlantedHome, ...args: readonly string[]): number {
  const killer = `data:text/javascript,${encodeURIComponent(KILLER)}`;
  const env = {
    ...process.env,
    HOME: args[0] === "import" ? home.sources : home.home,
    KILLED_AT: String(call),
  };
  const { stderr, signal } = spawnSync(process.execPath, ["--import", killer, PROGRAM, ...args], {
    encoding: "utf8",
    env,
    cwd: "/",
  });
  if (call > 0 && signal !== "SIGKILL") throw new Error(`It was not killed: ${stderr}`);
  return Number(/calls: (\d+)$/.exec(stderr)?.[1]);
}

/** Maximum number of calls tried for a command. */
const MAX_CALLS = 12;

/** Returns evenly spread numbers of calls. */
function callsOf(count: number): number[] {
  const tried = Math.min(count, MAX_CALLS);
  return Array.from({ length: tried }, (_, i) => 1 + Math.floor((i * (count - 1)) / Math.max(1, tried - 1)));
}

describe("a redaction after a killed command removes a secret everywhere:", () => {
  test.each<[string, (home: PlantedHome) => readonly string[]]>([
    ["import", () => ["import", "--all"]],
    ["list", () => ["list", "--all"]],
    ["view", ({ own }) => ["view", own, "--no-open"]],
    ["redact", () => ["redact", "--matching", SECRET, "--all", "--yes"]],
    ["rm", ({ own }) => ["rm", own, "--yes"]],
  ])("%s", async (_, argsFor) => {
    const whole = new PlantedHome();
    const count = killedAt(0, whole, ...argsFor(whole));
    expect(count).toBeGreaterThan(2);
    for (const call of callsOf(count)) {
      const home = new PlantedHome();
      killedAt(call, home, ...argsFor(home));
      await cli(["redact", "--matching", SECRET, "--all", "--yes"], { cwd: "/" });
      expect([call, home.holders()]).toEqual([call, []]);
    }
  });
});
