import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test, vi } from "vitest";
import { SessionManager } from "../../src/session/manager/session-manager.ts";
import { SCHEMA_VERSION } from "../../src/stores/postgres/migrate.ts";
import { cluster } from "./support/cluster.ts";

const BIN = fileURLToPath(new URL("../../src/apps/cli/bin.ts", import.meta.url));
const TSX = import.meta.resolve("tsx");

const place = cluster();
const folder = mkdtempSync(join(tmpdir(), "sessiontree-cli-"));
const temporary = join(folder, "tmp");
mkdirSync(temporary);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the program itself in a separate folder; reads no more of its output than requested. */
async function program(args: readonly string[], wantedBytes = Number.POSITIVE_INFINITY) {
  const { FORCE_COLOR: _forced, ...inherited } = process.env;
  const env = { ...inherited, NO_COLOR: "1", TMPDIR: temporary, SESSIONTREE_STORE: place.server.url() };
  const child = spawn(process.execPath, ["--import", TSX, BIN, ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stderr.on("data", (piece) => {
    stderr += String(piece);
  });
  child.stdout.on("data", (piece) => {
    stdout += String(piece);
    if (stdout.length >= wantedBytes) child.stdout.destroy();
  });
  const [code]: unknown[] = await once(child, "close");
  expect(stdout + stderr).not.toContain(place.server.password);
  expect(readdirSync(temporary).filter((name) => name.startsWith("sessiontree-"))).toEqual([]);
  return { code, stdout, stderr };
}

test("lists, reads, changes, forks, and copies out a server's sessions unchanged", async () => {
  const session = SessionManager.create(folder, { sessionDir: join(folder, "sessions") }, { id: "one" });
  for (let i = 0; i < 3_000; i++) {
    session.appendMessage({ role: "user", content: `question ${i} \u0000 of many`, timestamp: i });
  }
  session.appendSessionInfo("Many questions");
  await session.close();
  const path = session.getSessionFile() ?? "";
  const shown = `postgres://postgres@127.0.0.1:${place.server.port}/postgres`;

  const early = await program(["list"]);
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('run "sessiontree db migrate"')]);
  const sql = (await program(["db", "migrate", "--sql"])).stdout;
  expect(sql).toMatch(/^begin;\n.*\ncommit;\n$/s);
  expect((await program(["db", "migrate"])).stdout).toBe(
    `Created the tables of version ${SCHEMA_VERSION} in ${shown}\n`,
  );
  expect((await program(["db", "migrate", "--sql"])).stdout).toBe("");
  expect(await program(["db", "copy", path, "--to", place.server.url()])).toEqual({
    code: 0,
    stdout: `Copied: one in ${shown}\n`,
    stderr: "",
  });
  const copied = await program(["db", "copy", "one", "--to", "copies"]);
  expect(copied.stderr).toBe("");
  const [copy = ""] = readdirSync(join(folder, "copies"));
  expect(readFileSync(join(folder, "copies", copy))).toEqual(readFileSync(path));

  expect((await program(["list"])).stdout).toMatch(/^one\t.*\t3000\t0\t.*\tMany questions\tpostgres:.*\n$/);
  expect((await program(["tree", "@last", "--pretty"])).stdout).toContain("Many questions");
  expect((await program(["name", "one", "Fewer"])).stdout).toBe('The session is named "Fewer".\n');
  expect((await program(["show", "Fewer"])).stdout).toContain(`store     ${shown}`);
  expect((await program(["search", "question 2999", "--pretty"])).stdout).toContain("1 entry in 1 session");
  const forked = await program(["fork", "one", "@leaf", "--json"]);
  expect(JSON.parse(forked.stdout)).toMatchObject({ store: shown, parentSession: "one" });
  expect((await program(["list", "--json"])).stdout.trim().split("\n")).toHaveLength(2);
  expect((await program(["rm", "one", "--yes"])).stdout).toBe(`Deleted permanently: one in ${shown}\n`);
});

test("leaves nothing when its reader exits or a server refuses", async () => {
  const url = place.server.url();
  await program(["db", "migrate", "--store", url]);
  const { code, stderr } = await program(["tree", "@last", "--json", "--store", url], 100);
  expect([code, stderr]).toEqual([0, ""]);
  const refused = await program(["list", "--store", place.server.url({ password: "wrong" })]);
  expect([refused.code, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toContain("password");
  vi.stubEnv("PGPASSWORD", place.server.password);
  const withoutPassword = place.server.url().replace(/:[^:@]*@/, "@");
  expect((await program(["list", "--all", "--store", withoutPassword])).code).toBe(0);
  vi.unstubAllEnvs();
  const nowhere = await program(["list", "--store", place.server.url({ user: "nobody's: @/" })]);
  expect(nowhere.code).toBe(1);
});

test("an interrupted command removes its copy", async () => {
  const { FORCE_COLOR: _forced, ...inherited } = process.env;
  const env = { ...inherited, TMPDIR: temporary, SESSIONTREE_STORE: place.server.url() };
  const args = ["--import", TSX, BIN, "tree", "@last", "--json"];
  // The output has no reader, so the command blocks with its copy made.
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "readable");
  child.kill("SIGTERM");
  child.stdout.resume();
  const [, signal]: unknown[] = await once(child, "close");
  expect([null, "SIGTERM"]).toContain(signal);
  expect(readdirSync(temporary).filter((name) => name.startsWith("sessiontree-"))).toEqual([]);
});
