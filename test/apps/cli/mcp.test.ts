import { spawnSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readFileBytes } from "../../../src/stores/file/file-store.ts";
import { PROGRAM } from "../../support/program.ts";
import { project } from "../recall/support/past.ts";
import { cli, temporaryFolder } from "./support/cli.ts";
import { TestDatabase, URL_OF_STORE } from "./support/stores.ts";

/** Hides the protocol's package from Node, and nothing else. */
const WITHOUT_PACKAGE = `data:text/javascript,${encodeURIComponent(`
import { register } from "node:module";
register("data:text/javascript," + encodeURIComponent(\`
export function resolve(name, context, next) {
  if (!name.startsWith("@modelcontextprotocol/")) return next(name, context);
  throw Object.assign(new Error("Cannot find package " + name), { code: "ERR_MODULE_NOT_FOUND" });
}\`));`)}`;

test("without the package, prints one sentence on what to install", () => {
  const folder = temporaryFolder();
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--disable-warning=DEP0205", "--import", WITHOUT_PACKAGE, PROGRAM, "mcp"],
    {
      cwd: folder,
      input: "",
      encoding: "utf8",
      env: { ...process.env, XDG_CACHE_HOME: join(folder, "cache") },
    },
  );
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toBe(
    "sessiontree: The package @modelcontextprotocol/server, which implements MCP, is not installed; run npm install @modelcontextprotocol/server, or start it with npx --prefer-offline -y -p sessiontree -p @modelcontextprotocol/server sessiontree mcp.\n",
  );
});

/** Sends requests of the 2025 protocol, and returns the answer to the last one. */
async function answerTo(
  method: string,
  params: object,
  args: readonly string[],
  settings: Parameters<typeof cli>[1],
) {
  const opening = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  };
  const messages = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: opening },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method, params },
  ];
  const answers = new EventEmitter();
  const answered = once(answers, "last");
  const onOutput = (text: string) => {
    for (const line of text.split("\n").filter(Boolean)) {
      const message: unknown = JSON.parse(line);
      if (Object(message).id === 2) answers.emit("last", Object(message).result);
    }
  };
  // Like a client's, the input stays open until the answer arrives.
  async function* input() {
    yield messages.map((message) => `${JSON.stringify(message)}\n`).join("");
    await answered;
  }
  const { code } = await cli(["mcp", ...args], { ...settings, stdin: input(), onOutput });
  const [result]: unknown[] = await answered;
  return { code, result };
}

test("answers over a database, in the project given by Claude Code", async () => {
  const { folder, scribe } = project();
  const stores = new TestDatabase();
  await stores.store().importBytes(readFileBytes(scribe.path));
  const call = { name: "search_sessions", arguments: { query: "receipts" } };
  const args = ["--store", URL_OF_STORE];
  const env = { CLAUDE_PROJECT_DIR: folder };
  const { code, result } = await answerTo("tools/call", call, args, { stores, env, cwd: "/elsewhere" });
  expect(code).toBe(0);
  expect(JSON.stringify(result)).toContain("Why do the totals of receipts fail?");
  expect(stores.closed).toBe(stores.opened.length);
});

test("--prices estimates unrecorded costs, and an invalid file is reported immediately", async () => {
  const { folder, sessions } = project();
  const { code, stderr } = await cli(["mcp", "--prices", join(folder, "none.json")], { cwd: folder });
  expect([code, stderr]).toEqual([2, expect.stringContaining("has no prices")]);
  writeFileSync(
    join(folder, "prices.json"),
    JSON.stringify({ "anthropic/claude": { input: 1_000_000, output: 0 } }),
  );
  const args = ["--dir", sessions, "--prices", "prices.json"];
  const { result } = await answerTo("tools/call", { name: "usage", arguments: {} }, args, { cwd: folder });
  expect(JSON.stringify(result)).toContain("cost ~$70.00 · estimated");
});
