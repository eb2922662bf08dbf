import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { cli, temporaryFolder } from "../../apps/cli/support/cli.ts";
import { Chain, header, put } from "../../catalog/support/sessions.ts";

const SOURCES = fileURLToPath(new URL("../../../src/", import.meta.url));
const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

/** Writes a session with an answer and a summary of this cost. */
function sessionWith(cost: object): { path: string; folder: string } {
  const usage = { input: 5, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 6, cost };
  const chain = new Chain(header({ id: "one" })).user("Hi").assistant("Hello", { usage });
  chain.add("compaction", { summary: "s", firstKeptEntryId: Chain.id(1), tokensBefore: 1, usage });
  const folder = temporaryFolder();
  return { path: put(join(folder, "one.jsonl"), chain.text), folder };
}

const COMMANDS = [
  ["stats"],
  ["show"],
  ["show", "--tail", "3"],
  ["tree"],
  ["context"],
  ["export", "--markdown"],
  ["export", "--mermaid"],
] as const;

test("only one file writes amounts of money", () => {
  const rooms = ["apps", "catalog", "session/controller", "core/facts"];
  const writers = rooms.flatMap((room) =>
    readdirSync(join(SOURCES, room), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${room}/${name.replaceAll("\\", "/")}`)
      .filter((name) => /\$\$\{|"\$"|\$\{"\$"\}/.test(readFileSync(join(SOURCES, name), "utf8"))),
  );
  expect(writers).toEqual(["core/facts/number-text.ts"]);
});

test("a zero that no provider billed is nowhere an amount of money", async () => {
  const { path, folder } = sessionWith(NO_COST);
  for (const [command, ...args] of COMMANDS) {
    const { stdout, code } = await cli([command, path, ...args]);
    expect([code, stdout.length > 0, stdout.includes("$")], command).toEqual([0, true, false]);
  }
  const across = await cli([
    "stats",
    "--dir",
    folder,
    "--all",
    "--prices",
    put(join(folder, "prices.json"), "{}"),
  ]);
  expect(across.stdout).toMatch(/^total .* –$/m);
  expect((await cli(["list", "--dir", folder])).stdout.includes("$")).toBe(false);
});

test("a zero that a provider billed is an amount of money", async () => {
  const { path, folder } = sessionWith({ ...NO_COST, totalFromProvider: true });
  for (const line of [
    ["stats", path],
    ["show", path, "--tail", "3"],
  ])
    expect((await cli(line)).stdout).toContain("$0.00");
  expect((await cli(["stats", "--dir", folder, "--all"])).stdout).toMatch(/^total .* \$0\.00$/m);
});
