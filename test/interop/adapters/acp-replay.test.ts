import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isSessionError, SessionManager } from "sessiontree";
import { toAcpUpdates } from "sessiontree/adapters";
import { describe, expect, test } from "vitest";
import { assistant, call, foreignEntry, toolResult, usage, user } from "../../support/messages.ts";
import { takeSample } from "../../support/share.ts";
import { invalidUpdates } from "./support/acp-schema.ts";

const PNG = "iVBORw0KGgo=";
const capabilities = { session: { compaction: {} } };

function sessionsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".jsonl")).sort();
}

describe.each([
  ["fixtures", "../../../fixtures/"],
  ["files that others wrote, if ../shared/corpus is there", "../../../../shared/corpus/"],
])("replays only updates that are valid by the published schema: %s", (_, path) => {
  const folder = fileURLToPath(new URL(path, import.meta.url));

  test("replays valid updates at every leaf", () => {
    let replayed = 0;
    for (const name of sessionsIn(folder)) {
      let session: SessionManager;
      try {
        session = SessionManager.open(join(folder, name), { mode: "read-only" });
      } catch (error) {
        if (isSessionError(error)) continue;
        throw error;
      }
      for (const { id } of takeSample(session.getLeaves())) {
        const updates = toAcpUpdates(session, id, { clientCapabilities: capabilities, contextWindow: 1000 });
        expect(invalidUpdates(updates), name).toEqual([]);
        const calls = updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call");
        expect(new Set(calls.map((one) => "toolCallId" in one && one.toolCallId)).size).toBe(calls.length);
        replayed += updates.length;
      }
    }
    if (existsSync(folder)) expect(replayed).toBeGreaterThan(0);
  });
});

/** Returns the updates without `_meta`, which contains each entry's id. */
function replay(session: SessionManager, ...rest: [string?, object?]) {
  return toAcpUpdates(session, ...rest).map(({ _meta, ...update }) => update);
}

test("replays a conversation: texts, thinking, images, calls with their files, edits, output, and failures", () => {
  const session = SessionManager.inMemory("/projects/shop");
  session.appendMessage({ role: "system", content: "Be brief.", timestamp: 1 });
  const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
  const asked = session.appendMessage({ ...user(""), content: [{ type: "text", text: "Fix it." }, image] });
  const edit = call("c1", "edit_file", { path: "a.ts", oldText: "1", newText: "2" });
  const content = [
    { type: "thinking" as const, thinking: "Hm." },
    { type: "text" as const, text: "Yes." },
  ];
  const said = session.appendMessage(assistant(content, {}, edit, call("c2", "bash", { command: "ls" })));
  session.appendMessage(toolResult("c1", "Done."));
  session.appendMessage(toolResult("c2", "No.", true));
  const failed = session.appendMessage(assistant([], { stopReason: "error", errorMessage: "Overloaded." }));
  session.appendSessionInfo("The cart");

  const diff = { type: "diff", path: "/projects/shop/a.ts", oldText: "1", newText: "2" };
  const text = (value: string) => ({ type: "content", content: { type: "text", text: value } });
  expect(replay(session)).toEqual([
    { sessionUpdate: "user_message_chunk", messageId: asked, content: { type: "text", text: "Fix it." } },
    { sessionUpdate: "user_message_chunk", messageId: asked, content: image },
    { sessionUpdate: "agent_thought_chunk", messageId: said, content: { type: "text", text: "Hm." } },
    { sessionUpdate: "agent_message_chunk", messageId: said, content: { type: "text", text: "Yes." } },
    {
      sessionUpdate: "tool_call",
      toolCallId: "c1",
      title: "edit_file a.ts",
      name: "edit_file",
      kind: "edit",
      status: "pending",
      content: [diff],
      locations: [{ path: "/projects/shop/a.ts" }],
      rawInput: edit.arguments,
    },
    expect.objectContaining({ toolCallId: "c2", title: "bash ls", kind: "execute", locations: [] }),
    {
      sessionUpdate: "tool_call_update",
      toolCallId: "c1",
      status: "completed",
      content: [diff, text("Done.")],
    },
    { sessionUpdate: "tool_call_update", toolCallId: "c2", status: "failed", content: [text("No.")] },
    {
      sessionUpdate: "agent_message_chunk",
      messageId: failed,
      content: { type: "text", text: "Overloaded." },
    },
    { sessionUpdate: "session_info_update", title: "The cart", updatedAt: session.getLeafEntry()?.timestamp },
  ]);
  expect(toAcpUpdates(session).map(({ _meta }) => _meta?.["sessiontree.entryId"])).toContain(asked);
});

test("replays user commands and extension messages, except hidden ones", () => {
  const session = SessionManager.inMemory("/projects/shop");
  session.appendMessage(user("Hello"));
  session.appendMessage({
    ...{ role: "bashExecution", command: "npm test", output: "1 failed", exitCode: 1 },
    ...{ cancelled: false, truncated: false, timestamp: 1 },
  });
  session.appendCustomMessageEntry("note", "Look here.", true);
  session.appendCustomMessageEntry("note", "Not here.", false);
  expect(replay(session).slice(1, -1)).toEqual([
    expect.objectContaining({ title: "$ npm test (exit code 1)", kind: "execute", status: "failed" }),
    expect.objectContaining({ content: { type: "text", text: "Look here." } }),
  ]);
});

test("replays one branch with its usage, and compactions only to clients that support them", () => {
  const session = SessionManager.inMemory("/projects/shop");
  session.appendMessage(user("Hello"));
  const left = session.appendMessage(assistant("On the left", { usage: usage(100, 0.5) }));
  session.branch(session.getPathIds()[0] ?? "");
  const kept = session.appendMessage(assistant("On the right", { usage: usage(200, 0.25) }));
  session.appendCompaction("They said hello.", kept, 200);

  const texts = JSON.stringify(replay(session, left));
  expect(texts).toContain("On the left");
  expect(texts).not.toContain("On the right");
  expect(JSON.stringify(replay(session))).not.toContain("They said hello.");
  const all = replay(session, undefined, { contextWindow: 1000, clientCapabilities: capabilities });
  expect(all).toContainEqual(
    expect.objectContaining({
      sessionUpdate: "compaction_update",
      status: "completed",
      summary: [{ type: "text", text: "They said hello." }],
    }),
  );
  expect(all.at(-1)).toMatchObject({ size: 1000, cost: { amount: 0.75, currency: "USD" } });
  expect(() => toAcpUpdates(session, "nowhere")).toThrow(
    expect.objectContaining({ code: "ENTRY_NOT_FOUND" }),
  );
  expect(toAcpUpdates(SessionManager.inMemory())).toEqual([]);
});

test("makes ids unique, ends calls without a result, and shows results without a call", () => {
  const session = SessionManager.inMemory("/projects/shop");
  session.appendMessage(assistant([], {}, call("", "a"), call("x", "a"), call("x", "b")));
  session.appendMessage(toolResult("x", "for b"));
  session.appendMessage(toolResult("gone", "of none"));
  const updates = toAcpUpdates(session);
  expect(invalidUpdates(updates)).toEqual([]);
  const told = updates.flatMap((one) =>
    "toolCallId" in one ? [[one.toolCallId, one.sessionUpdate, one.status]] : [],
  );
  const [answer] = session.getPathIds();
  expect(told).toEqual([
    [answer, "tool_call", "failed"],
    ["x", "tool_call", "failed"],
    ["x#2", "tool_call", "pending"],
    ["x#2", "tool_call_update", "completed"],
    ["gone", "tool_call", "pending"],
    ["gone", "tool_call_update", "completed"],
  ]);
});

test("replays as much of malformed content as possible: invalid images, lone surrogates, unknown content types", () => {
  const session = SessionManager.inMemory("/projects/shop");
  const image = (data: unknown, mimeType: unknown) => ({ type: "image", data, mimeType });
  const content = [
    ...[image("no base64!", "image/png"), image(PNG, "text/html"), image(5, null)],
    ...[{ type: "text", text: "half \ud83d" }, { type: "text" }, { type: "poem" }, null],
  ];
  session.append(foreignEntry({ type: "message", message: { role: "user", content, timestamp: 1 } }));
  session.append(
    foreignEntry({
      type: "message",
      message: {
        ...{ role: "toolResult", toolCallId: "c", toolName: "t", isError: false, timestamp: 1 },
        content: "a text",
        details: {
          acp: { title: 5, kind: "poem", content: [{ type: "diff" }, null], locations: [{ line: -1 }] },
        },
      },
    }),
  );
  session.appendCustomEntry("acp.update", { sessionUpdate: "plan", entries: [{ content: "A" }, 5] });
  const updates = toAcpUpdates(session);
  expect(invalidUpdates(updates)).toEqual([]);
  expect(updates.slice(0, 4).map((one) => "content" in one && one.content)).toEqual([
    { type: "text", text: "[image: image/png]" },
    { type: "text", text: "[image: text/html]" },
    { type: "text", text: "[image]" },
    { type: "text", text: "half \ufffd" },
  ]);
  expect(updates).toContainEqual(
    expect.objectContaining({ entries: [{ content: "A", priority: "medium", status: "pending" }] }),
  );
});
