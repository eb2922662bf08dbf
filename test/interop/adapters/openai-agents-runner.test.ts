import { Agent, type AgentInputItem, Runner, RunState, setTracingDisabled, tool } from "@openai/agents-core";
import { OpenAIProvider, OpenAIResponsesCompactionSession } from "@openai/agents-openai";
import OpenAI from "openai";
import { SessionManager } from "sessiontree";
import { OpenAIAgentsSession } from "sessiontree/adapters";
import { expect, test } from "vitest";
import { z } from "zod";
import { ProviderServer } from "../../support/provider-server/provider-server.ts";
import { USAGE } from "../../support/provider-server/scripted-answer.ts";
import { describeWith } from "../../support/sdk.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const MODEL = "gpt-x";
/** Number of tokens in each of the server's answers. */
const PER_REQUEST = USAGE.input + USAGE.output;

/** Returns the types, models, and token counts of a session's entries with usage. */
function usedIn(session: SessionManager): [type: string, model: string, tokens: number][] {
  return session.getEntries().flatMap((entry): [string, string, number][] => {
    if (entry.type === "usage") return [[entry.type, entry.model, entry.usage.totalTokens]];
    if (entry.type !== "message" || entry.message.role !== "assistant") return [];
    return [[entry.type, entry.message.model, entry.message.usage.totalTokens]];
  });
}

describeWith(["openai"], "the OpenAI Agents runner", () => {
  setTracingDisabled(true);

  const read = tool({
    name: "read",
    description: "Reads a file.",
    parameters: z.object({ path: z.string() }),
    execute: async ({ path }) => `text of ${path}`,
  });
  const remove = tool({
    name: "remove",
    description: "Removes a file.",
    parameters: z.object({ path: z.string() }),
    needsApproval: true,
    execute: async ({ path }) => `${path} is gone`,
  });

  function workshop(server: ProviderServer) {
    const client = new OpenAI({ apiKey: "none", baseURL: `${server.origin}/v1`, maxRetries: 0 });
    const runner = new Runner({
      modelProvider: new OpenAIProvider({ apiKey: "none", baseURL: `${server.origin}/v1` }),
      modelSettings: { store: false },
    });
    const agent = new Agent({
      name: "Clerk",
      instructions: "Be brief.",
      model: MODEL,
      tools: [read, remove],
    });
    const manager = SessionManager.create("/projects/shop", { sessionDir: temporaryFolder() });
    const session = new OpenAIAgentsSession<AgentInputItem>(manager, { model: MODEL });
    const reopen = () => SessionManager.open(manager.getSessionFile() ?? "");
    return { client, runner, agent, manager, session, reopen };
  }

  test("runs several turns with parallel tools, thinking, and streaming, and continues after the session is reopened", async () => {
    await using server = await ProviderServer.start();
    const { runner, agent, session, reopen } = workshop(server);
    server.script(
      {
        thinking: "Both files.",
        calls: [
          { name: "read", arguments: { path: "a" } },
          { name: "read", arguments: { path: "b" } },
        ],
      },
      { thinking: "They are the same.", text: "The same." },
    );
    const first = await runner.run(agent, "Compare a and b.", { session });
    expect(first.finalOutput).toBe("The same.");

    server.script({ calls: [{ name: "read", arguments: { path: "c" } }] }, { text: "Another one." });
    const streamed = await runner.run(agent, "And c?", { session, stream: true });
    for await (const _ of streamed) {
      // Reads the stream to its end.
    }
    await streamed.completed;

    const manager = reopen();
    const again = new OpenAIAgentsSession<AgentInputItem>(manager);
    expect(await again.getItems()).toStrictEqual(await session.getItems());
    server.script({ text: "You are welcome." });
    const third = await runner.run(agent, "Thank you.", { session: again });
    expect(third.finalOutput).toBe("You are welcome.");
    expect(server.faults).toEqual([]);
    const input = server.requests.at(-1)?.body["input"];
    expect(input).toHaveLength(1 + 1 + 2 + 2 + 2 + 1 + 1 + 1 + 1 + 1);
    expect(manager.buildSessionContext().messages.map(({ role }) => role)).toEqual([
      ...["user", "assistant", "toolResult", "toolResult", "assistant"],
      ...["user", "assistant", "toolResult", "assistant"],
      ...["user", "assistant"],
    ]);
  });

  test("stores each answer's own usage: streamed, after an approval in another process, and with an agent as a tool", async () => {
    await using server = await ProviderServer.start();
    const { runner, agent, manager, session, reopen } = workshop(server);
    const readCall = { calls: [{ name: "read", arguments: { path: "a" } }] };
    server.script(readCall, { text: "Done." });
    await runner.run(agent, "Read a.", { session });
    server.script(readCall, { text: "Again." });
    const streamed = await runner.run(agent, "And again.", { session, stream: true });
    await streamed.completed;
    expect(usedIn(manager)).toEqual(
      ["message", "message", "message", "message"].map((type) => [type, MODEL, PER_REQUEST]),
    );

    server.script({ calls: [{ name: "remove", arguments: { path: "a" } }] });
    const waiting = await runner.run(agent, "Remove a.", { session });
    const other = reopen();
    const state = await RunState.fromString(agent, waiting.state.toString());
    for (const interruption of state.getInterruptions()) state.approve(interruption);
    server.script(readCall, { text: "Done." });
    await runner.run(agent, state, {
      session: new OpenAIAgentsSession<AgentInputItem>(other, { model: MODEL }),
    });
    expect(usedIn(other)).toHaveLength(7);

    const helper = new Agent({ name: "Helper", model: MODEL });
    const chief = new Agent({
      name: "Chief",
      model: MODEL,
      tools: [helper.asTool({ toolName: "help", toolDescription: "Helps." })],
    });
    const last = new OpenAIAgentsSession<AgentInputItem>(other, { model: MODEL });
    server.script(
      { calls: [{ name: "help", arguments: { input: "Go" } }] },
      { text: "Helped." },
      { text: "Done." },
    );
    await runner.run(chief, "Ask.", { session: last });
    expect(server.faults).toEqual([]);
    expect(usedIn(other).slice(7).sort()).toEqual([
      ["message", MODEL, PER_REQUEST],
      ["message", MODEL, PER_REQUEST],
      ["usage", "unknown", PER_REQUEST],
    ]);
    const items = await last.getItems();
    expect(await new OpenAIAgentsSession<AgentInputItem>(reopen()).getItems()).toStrictEqual(items);
  });

  test("counts nothing for an append that fails, and everything for the next one", async () => {
    const session = new OpenAIAgentsSession(SessionManager.inMemory());
    const manager = SessionManager.inMemory();
    const again = new OpenAIAgentsSession(manager);
    const request = (inputTokens: number) => ({ inputTokens, outputTokens: 1, totalTokens: inputTokens + 1 });
    const run = { usage: { requestUsageEntries: [request(10)] } };
    const said = (text: string) => ({
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text }],
    });
    await again.getItems(undefined, { usage: {} });
    await expect(again.addItems([said("a"), { when: new Date() }], run)).rejects.toThrow(TypeError);
    await again.addItems([{ role: "user", content: "?" }], run);
    await again.addItems([said("a")], run);
    run.usage.requestUsageEntries.push(request(20), request(30));
    await again.addItems([said("b")], run);
    expect(usedIn(manager).map(([type, , tokens]) => [type, tokens])).toEqual([
      ["message", 11],
      ["usage", 21],
      ["message", 31],
    ]);
    expect(await session.getItems(undefined, run)).toEqual([]);
  });

  test("returns popped items, and hides them from an answer on another branch", async () => {
    await using server = await ProviderServer.start();
    const { runner, agent, manager, session } = workshop(server);
    server.script({ text: "Tuesday." });
    await runner.run(agent, "What day is it?", { session });
    const old = manager.getLeafId();
    await session.popItem();
    await session.popItem();
    server.script({ text: "Noon." });
    await runner.run(agent, "What time is it?", { session });
    expect(JSON.stringify(server.requests.at(-1)?.body["input"])).not.toContain("day");
    manager.branch(old ?? "");
    server.script({ text: "The third." });
    await runner.run(agent, "And the date?", { session });
    expect(JSON.stringify(server.requests.at(-1)?.body["input"])).toContain("Tuesday.");
    expect(manager.getLeaves().length).toBeGreaterThanOrEqual(2);
    expect(server.faults).toEqual([]);
  });

  test("compacts by the provider, with its own session around ours, and keeps the old history as a branch", async () => {
    await using server = await ProviderServer.start();
    const { client, runner, agent, manager, session, reopen } = workshop(server);
    const compacting = new OpenAIResponsesCompactionSession({
      client,
      underlyingSession: session,
      model: "gpt-5.2",
      compactionMode: "input",
      shouldTriggerCompaction: ({ compactionCandidateItems }) => compactionCandidateItems.length >= 3,
    });
    server.script({ text: "One." }, { text: "Two." }, { text: "Three." });
    await runner.run(agent, "Say one.", { session: compacting });
    const before = manager.getLeafId() ?? "";
    await runner.run(agent, "Say two.", { session: compacting });
    await runner.run(agent, "Say three.", { session: compacting });
    const compactions = server.requests.filter(({ path }) => path === "/v1/responses/compact");
    expect(compactions.length).toBeGreaterThanOrEqual(1);
    expect(server.faults).toEqual([]);
    const items = await new OpenAIAgentsSession<AgentInputItem>(reopen()).getItems();
    expect(items[0]).toMatchObject({ type: "compaction" });
    expect(items).toStrictEqual(await session.getItems());
    manager.branch(before);
    expect(await session.getItems()).toMatchObject([
      { content: "Say one." },
      { content: [{ text: "One." }] },
    ]);
  });

  test("starts the history with a compaction that came with an answer", async () => {
    await using server = await ProviderServer.start();
    const { runner, agent, manager, session, reopen } = workshop(server);
    server.script({ text: "One." }, { compacts: true, text: "Two." }, { text: "Three." });
    await runner.run(agent, "Say one.", { session });
    await runner.run(agent, "Say two.", { session });
    const items = await new OpenAIAgentsSession<AgentInputItem>(reopen()).getItems();
    expect(items).toMatchObject([{ type: "compaction" }, { role: "assistant" }]);
    expect(manager.getBranch().map(({ type }) => type)).toContain("compaction");
    await runner.run(agent, "Say three.", { session });
    expect(server.requests.at(-1)?.body["input"]).toMatchObject([
      { type: "compaction" },
      { role: "assistant" },
      { role: "user" },
    ]);
    expect(server.faults).toEqual([]);
  });

  test("waits for an approval in another process and stores each item once", async () => {
    await using server = await ProviderServer.start();
    const { runner, agent, session, reopen } = workshop(server);
    server.script({ calls: [{ name: "remove", arguments: { path: "a" } }] });
    const waiting = await runner.run(agent, "Remove a.", { session });
    expect(waiting.interruptions).toHaveLength(1);
    const kept = waiting.state.toString();

    const again = new OpenAIAgentsSession<AgentInputItem>(reopen());
    const state = await RunState.fromString(agent, kept);
    for (const interruption of state.getInterruptions()) state.approve(interruption);
    server.script({ text: "Done." });
    const done = await runner.run(agent, state, { session: again });
    expect(done.finalOutput).toBe("Done.");
    expect(server.faults).toEqual([]);
    const items = await again.getItems();
    expect(items.map((item) => ("type" in item ? item.type : undefined))).toEqual([
      "message",
      "function_call",
      "function_call_result",
      "message",
    ]);
    server.script({ text: "Yes." });
    await runner.run(agent, "Sure?", { session: again });
    expect(server.faults).toEqual([]);
  });
});
