import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { getStores } from "../../../src/apps/cli/stored-sessions.ts";
import { HAS_NODE_SQLITE } from "../../stores/sqlite/support/test-database.ts";
import { jsonLines, cli as runCli, temporaryFolder } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";

const ID = "0198aaaa-0000-7000-8000-000000000001";

const io = { stdout: { write: () => true }, stderr: { write: () => true }, env: {}, cwd: "/", now: () => 0 };

/** Runs a command with the production database drivers. */
const cli = (args: string[]) => runCli(args, { stores: getStores(io) });

test("rejects an address without a path", async () => {
  const { code, stderr } = await cli(["list", "--store", "sqlite:"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("such as sqlite:FILE")]);
});

describe.skipIf(!HAS_NODE_SQLITE)("--store sqlite:FILE", () => {
  test("sessions are copied in, found, shown, counted, and copied out, with every byte", async () => {
    const folder = temporaryFolder();
    const scribe = new Scribe(join(folder, "sessions"), ID);
    scribe.user("where is the needle");
    await scribe.session.close();
    const address = `sqlite:${join(folder, "s.db")}`;
    const missing = await cli(["list", "--store", address]);
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining(`db migrate --store ${address}`),
    ]);
    expect(existsSync(join(folder, "s.db"))).toBe(false);
    expect((await cli(["db", "migrate", "--store", address])).stdout).toContain(
      "Created the tables of version 1",
    );

    expect((await cli(["db", "copy", scribe.path, "--to", address])).code).toBe(0);
    const store = ["--store", address];
    expect(jsonLines(await cli(["list", "--all", "--json", ...store]))).toMatchObject([
      { id: ID, store: address },
    ]);
    expect((await cli(["search", "needle", "--all", ...store])).stdout).toContain("where is the needle");
    expect((await cli(["show", ID, ...store])).stdout).toContain("1: 1 user");
    expect((await cli(["stats", "--all", ...store])).code).toBe(0);
    const out = join(folder, "out");
    const copied = jsonLines(await cli(["db", "copy", ID, "--to", out, "--json", ...store]));
    const { path } = Object(copied[0]);
    expect(readFileSync(path).equals(readFileSync(scribe.path))).toBe(true);
    expect((await cli(["rm", ID, "--yes", ...store])).code).toBe(0);
    expect(jsonLines(await cli(["list", "--all", "--json", ...store]))).toEqual([]);
  });
});
