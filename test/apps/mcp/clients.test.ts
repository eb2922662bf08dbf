import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { readText } from "../../contract/support/repository.ts";
import { PROGRAM } from "../../support/program.ts";
import { makeId, userLine, writeLines } from "../cli/support/sessions.ts";
import { ID, project } from "../recall/support/past.ts";

/** Lets a client start the program in a project, isolated from this machine. */
function serverFor({ folder, sessions }: { folder: string; sessions: string }, ...args: string[]) {
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    XDG_CACHE_HOME: join(folder, "cache"),
    PI_CODING_AGENT_DIR: join(folder, "agent"),
    PI_CODING_AGENT_SESSION_DIR: sessions,
  };
  return { command: process.execPath, args: [PROGRAM, "mcp", ...args], cwd: folder, env };
}

/** The latest client, with the 2026 or 2025 protocol. */
async function connect(past: { folder: string; sessions: string }, ...args: string[]) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ ...serverFor(past, ...args), stderr: "pipe" }));
  onTestFinished(() => client.close());
  return client;
}

async function connectEarlier(past: { folder: string; sessions: string }, ...args: string[]) {
  const client = new EarlierClient({ name: "test", version: "1" });
  await client.connect(new EarlierTransport({ ...serverFor(past, ...args), stderr: "pipe" }));
  onTestFinished(() => client.close());
  return client;
}

function textOf(answer: object): string {
  const { content } = Object(answer);
  return String(Object(content?.[0]).text);
}

describe.each([
  ["version 2", connect],
  ["version 1", connectEarlier],
])("the official client, %s", (_version, start) => {
  test("finds, reads, and cites text of a past session, within 4 KB", async () => {
    const past = project();
    const before = readFileSync(past.scribe.path);
    const client = await start(past);
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual(
      ["search_sessions", "read_entries", "session_overview", "find_failures", "file_history", "usage"].map(
        (name) => [name, true],
      ),
    );
    const [search] = tools;
    expect(search?.inputSchema).toMatchObject({ type: "object", required: [] });
    const fixed = await client.callTool({
      name: "find_failures",
      arguments: { error: "RangeError: expected 7, got 6.5" },
    });
    expect(textOf(fixed)).toContain(`worked: → bash npm test -- all (entry ${past.worked})`);
    expect(Buffer.byteLength(textOf(fixed))).toBeLessThan(4096);
    const touched = await client.callTool({ name: "file_history", arguments: { path: "totals.ts" } });
    expect(textOf(touched)).toContain(ID(1));
    const wrong = await client.callTool({ name: "read_entries", arguments: { session: "none" } });
    expect([wrong.isError, textOf(wrong)]).toEqual([true, expect.stringContaining('No session "none"')]);
    expect(readFileSync(past.scribe.path)).toEqual(before);
    expect(readdirSync(past.sessions)).toHaveLength(1);
  });

  test("gets the tools and arguments listed in docs/recall.md", async () => {
    const client = await start(project());
    const { tools } = await client.listTools();
    const rows = readText("docs/recall.md").matchAll(/^\| `(\w+)` \| .+ \| (`.+`) \|$/gm);
    const listed = Array.from(rows, ([, name, list = ""]) => [name, list.replaceAll("`", "").split(", ")]);
    // Parameters of all tools, and those of tools that cover many sessions, are below the table.
    const common = new Set(["max_bytes", "project", "all"]);
    const taken = (schema: object) =>
      Object.keys(Object(schema).properties).filter((name) => !common.has(name));
    expect(listed).toEqual(tools.map(({ name, inputSchema }) => [name, taken(inputSchema)]));
  });

  test.each([{ threadId: ID(1) }, { sessionId: ID(1) }, { "x-codex-turn-metadata": { thread_id: ID(1) } }])(
    "does not see the session given in a call, as in %j",
    async (_meta) => {
      const client = await start(project());
      const search = { name: "search_sessions", arguments: { query: "receipts" } };
      expect(textOf(await client.callTool(search))).toContain("Why do the totals of receipts fail?");
      const own = textOf(await client.callTool({ ...search, _meta }));
      expect(own).toContain(`Left out: the running session ${ID(1)} (named by its program).`);
      expect(own).toContain("Nothing found.");
    },
  );

  test("gets every reason to call in the first 250 characters of the instructions", async () => {
    const client = await start(project());
    const front = client.getInstructions()?.slice(0, 250) ?? "";
    for (const part of [
      /^Memory of past sessions\./,
      /decided or built, .*"remember", "last time", "yesterday": search_sessions\./,
      /command or tool fails: find_failures\./,
      /Before changing a file you do not know: file_history\./,
    ])
      expect(front).toMatch(part);
  });

  test("gets prompts and resources", async () => {
    const past = project();
    const client = await start(past);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["recall", "handoff"]);
    const recall = await client.getPrompt({ name: "recall", arguments: { topic: "receipts" } });
    expect(Object(recall.messages[0]?.content).text).toContain(
      "about what the user wrote after the command. The server received this much of it: receipts",
    );
    const handoff = await client.getPrompt({ name: "handoff", arguments: { session: ID(1) } });
    const text = String(Object(handoff.messages[0]?.content).text);
    expect(text).toContain("Fixed: round each line of the receipt.");
    expect(Buffer.byteLength(text)).toBeLessThan(9_000);
    const latest = await client.getPrompt({ name: "handoff" });
    expect(latest.messages).toEqual(handoff.messages);
    const { resources } = await client.listResources();
    expect(resources).toMatchObject([
      { uri: `sessiontree://session/${ID(1)}`, title: "Why do the totals of receipts fail?" },
    ]);
    const session = await client.readResource({ uri: `sessiontree://session/${ID(1)}` });
    expect(Object(session.contents[0]).text).toContain("13 entries, 2 failed");
    const entry = await client.readResource({ uri: `sessiontree://session/${ID(1)}/entry/${past.answered}` });
    expect(Object(entry.contents[0]).text).toContain("Fixed: round each line of the receipt.");
    await expect(client.readResource({ uri: "sessiontree://session/none" })).rejects.toThrow("No session");
  });
});

test("a call that its client cancels is aborted, and a closed stdin ends the program in the middle of one", async () => {
  const past = project();
  const ids = Array.from({ length: 40_000 }, (_, i) => makeId(i));
  const text = `${"some words of output ".repeat(20)}tulips`;
  const lines = ids.map((id, i) => userLine(id, ids[i - 1] ?? null, `${text} ${i}`));
  writeLines(past.sessions, "big.jsonl", lines);
  const patterns = join(past.folder, "secrets.txt");
  writeFileSync(patterns, "(?<=password[=:]\\s?)\\S+\n");
  const { command, args, cwd, env } = serverFor(past, "--secrets", patterns);
  const program = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(program, "exit");
  const send = (message: object) =>
    program.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const received: string[] = [];
  program.stdout.on("data", (bytes) => received.push(String(bytes)));
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  send({ id: 1, method: "initialize", params });
  await expect.poll(() => received.join("")).toContain('"id":1');
  send({ method: "notifications/initialized" });
  const call = (id: number) => {
    const values = { query: "w(?:o|0)rds.*(?:no|na|ni)thing$", regex: true };
    send({ id, method: "tools/call", params: { name: "search_sessions", arguments: values } });
  };
  call(2);
  send({ method: "notifications/cancelled", params: { requestId: 2 } });
  send({ id: 3, method: "ping" });
  await expect.poll(() => received.join("")).toContain('"id":3');
  call(4);
  send({
    id: 5,
    method: "tools/call",
    params: { name: "session_overview", arguments: { session: "big.jsonl" } },
  });
  const closedAt = performance.now();
  program.stdin.end();
  expect(await ended).toEqual([0, null]);
  // Twice the time on an idle machine, and a tenth of the calls' time.
  expect(performance.now() - closedAt).toBeLessThan(2 * 2_000);
  expect(received.join("")).not.toContain('"id":2');
});

test("--secrets hides matches of its patterns, and an invalid file is reported immediately", async () => {
  const past = project();
  const patterns = join(past.folder, "secrets.txt");
  await expect(connect(past, "--secrets", patterns)).rejects.toThrow();
  writeFileSync(patterns, "receip\\w*\n");
  const client = await connect(past, "--secrets", patterns);
  const { content } = await client.callTool({ name: "search_sessions", arguments: { query: "rounded" } });
  expect(textOf({ content })).toContain("Why do the totals of [secret] fail?");
});
