import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk/unstable";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readDocPrograms } from "../../contract/support/doc-programs.ts";
import { ROOT, readText } from "../../contract/support/repository.ts";
import { install, link } from "../../contract/support/run-programs.ts";
import { removeFolder } from "../../support/remove-folder.ts";

const PAGE = "docs/adapters.md";
const { agent: on } = acp.methods;

let folder = "";
let script = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sessiontree-acp-"));
  await install(folder);
  const sdk = join("node_modules", "@agentclientprotocol", "sdk");
  link(join(ROOT, sdk), join(folder, sdk));
  const program = readDocPrograms(PAGE, readText(PAGE)).find(({ name }) => name === "acp-agent.ts");
  const source = join(folder, "acp-agent.ts");
  writeFileSync(source, program?.text ?? "");
  script = join(folder, "acp-agent.mjs");
  await build({
    ...{ entryPoints: [source], outfile: script, bundle: true, format: "esm", platform: "node" },
    ...{ packages: "external", logLevel: "silent" },
  });
});
afterAll(() => removeFolder(folder));

/** Starts the agent from the docs page in a child process and drives it with the SDK's client. */
async function drive(
  home: string,
  work: (agent: acp.ClientContext, heard: acp.SessionNotification[]) => Promise<void>,
) {
  const env = {
    PATH: process.env["PATH"],
    SystemRoot: process.env["SystemRoot"],
    HOME: home,
    USERPROFILE: home,
  };
  const child = spawn(process.execPath, [script], { cwd: home, env, stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "close");
  const heard: acp.SessionNotification[] = [];
  const client = acp.client().onNotification(acp.methods.client.session.update, ({ params }) => {
    heard.push(params);
  });
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  try {
    await client.connectWith(stream, async (agent) => {
      await agent.request(on.initialize, { protocolVersion: acp.PROTOCOL_VERSION });
      await work(agent, heard);
    });
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

test("serves the SDK's client through prompts, lists, loads, resumes, forks, and deletions", async () => {
  const home = mkdtempSync(join(folder, "home-"));
  const text = (value: string) => ({ type: "text" as const, text: value });
  const link = { type: "resource_link" as const, name: "cart.ts", uri: "file:///cart.ts" };
  const said = (heard: acp.SessionNotification[]) =>
    heard.flatMap(({ update }) => ("content" in update ? [update.content] : []));
  let sessionId = "";
  let otherId = "";

  await drive(home, async (agent, heard) => {
    ({ sessionId } = await agent.request(on.session.new, { cwd: home, mcpServers: [] }));
    const prompt = [text("Why is the cart empty?"), link];
    expect(await agent.request(on.session.prompt, { sessionId, prompt })).toEqual({ stopReason: "end_turn" });
    await agent.request(on.session.prompt, { sessionId, prompt: [text("Really?")] });
    expect(said(heard)).toEqual([text("I have read 1 messages."), text("I have read 3 messages.")]);
    ({ sessionId: otherId } = await agent.request(on.session.new, { cwd: folder, mcpServers: [] }));
    await agent.request(on.session.prompt, { sessionId: otherId, prompt: [text("Hello")] });
  });

  // A session without messages still exists after the agent restarts.
  let emptyId = "";
  await drive(home, async (agent) => {
    ({ sessionId: emptyId } = await agent.request(on.session.new, { cwd: home, mcpServers: [] }));
  });
  await drive(home, async (agent) => {
    const { sessions } = await agent.request(on.session.list, { cwd: home });
    expect(sessions.map((one) => one.sessionId)).toContain(emptyId);
    await agent.request(on.session.load, { sessionId: emptyId, cwd: home, mcpServers: [] });
    await agent.request(on.session.prompt, { sessionId: emptyId, prompt: [text("Hello")] });
    await agent.request(on.session.delete, { sessionId: emptyId });
  });

  // Another process sees only the files.
  await drive(home, async (agent, heard) => {
    const { sessions } = await agent.request(on.session.list, { cwd: home });
    expect(sessions).toMatchObject([
      { sessionId, cwd: home, title: "Why is the cart empty? [cart.ts: file:///cart.ts]" },
    ]);
    expect((await agent.request(on.session.list, {})).sessions).toHaveLength(2);

    await agent.request(on.session.load, { sessionId, cwd: home, mcpServers: [] });
    expect(said(heard)).toEqual([
      ...[text("Why is the cart empty?"), link, text("I have read 1 messages.")],
      ...[text("Really?"), text("I have read 3 messages.")],
    ]);
    const first = heard.find(({ update }) => update.sessionUpdate === "agent_message_chunk")?.update;
    heard.length = 0;
    await agent.request(on.session.resume, { sessionId, cwd: home });
    expect(heard).toEqual([]);

    const whole = await agent.request(on.session.fork, { sessionId, cwd: home });
    const _meta = first?._meta ?? {};
    const part = await agent.request(on.session.fork, { sessionId, cwd: home, _meta });
    await agent.request(on.session.prompt, { sessionId: part.sessionId, prompt: [text("And now?")] });
    await agent.request(on.session.prompt, { sessionId: whole.sessionId, prompt: [text("And now?")] });
    expect(said(heard)).toEqual([text("I have read 3 messages."), text("I have read 5 messages.")]);

    for (const id of [sessionId, otherId, otherId]) await agent.request(on.session.delete, { sessionId: id });
    const left = (await agent.request(on.session.list, {})).sessions.map((one) => one.sessionId);
    expect(left.sort()).toEqual([whole.sessionId, part.sessionId].sort());
    const lost = agent.request(on.session.load, { sessionId, cwd: home, mcpServers: [] });
    await expect(lost).rejects.toMatchObject({ data: { details: expect.stringContaining(sessionId) } });
    const nowhere = { "sessiontree.entryId": "nowhere" };
    const fork = { sessionId: part.sessionId, cwd: home, _meta: nowhere };
    await expect(agent.request(on.session.fork, fork)).rejects.toThrow();
  });
});
