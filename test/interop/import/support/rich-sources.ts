import type { SourceName } from "../../../../src/interop/import/imported-session.ts";
import * as claude from "./claude-records.ts";
import * as codex from "./codex-records.ts";
import * as copilot from "./copilot-records.ts";
import * as opencode from "./opencode-records.ts";
import * as pi4 from "./pi4-records.ts";
import * as qwen from "./qwen-records.ts";

/** Content of a file: the records on its lines, or its document. */
export type SourceContent =
  | { readonly records: readonly object[] }
  | { readonly document: object }
  | { readonly text: string };

/** Small session of another program with as many kinds of records as possible. */
export interface RichSource {
  readonly source: SourceName;
  /** Files by their path below the home folder. */
  readonly files: { readonly [path: string]: SourceContent };
}

const TIME = "2026-11-22T05:00:00.000Z";
const TIME_MS = Date.parse(TIME);
const IMAGE = "data:image/png;base64,AAAA";

function makeClaudeCode(): RichSource {
  const { user, part, record, result, text, call, SESSION_ID, uuid } = claude;
  const side = { isSidechain: true, agentId: "abc" };
  const folder = ".claude/projects/-code-project";
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
  const modelUsage = { "claude-x": { inputTokens: 9, outputTokens: 90, costUSD: 1 } };
  return {
    source: "claude-code",
    files: {
      [`${folder}/${SESSION_ID}.jsonl`]: {
        records: [
          { type: "summary", summary: "A name", leafUuid: uuid("a4") },
          { type: "file-history-snapshot", messageId: uuid("q"), snapshot: { timestamp: TIME } },
          user("q", null, ["hello", image, { type: "document", title: "Plan", source: { type: "text" } }]),
          part("a1", "q", "msg_1", { type: "thinking", thinking: "hm", signature: "s" }),
          part("a2", "a1", "msg_1", call("t1", "Agent", { prompt: "look", subagent_type: "x" }), {
            stop: "tool_use",
          }),
          result("r1", "a2", "t1", [text("seen"), image], {
            toolUseResult: { agentId: "abc", stdout: "x", totalTokens: 9 },
          }),
          record("attachment", "h", "r1", { attachment: { type: "hook", content: "x" } }),
          record("system", "d", "h", { subtype: "turn_duration", durationMs: 7, content: "note" }),
          user("m", "d", "a caveat", { isMeta: true }),
          user("b", "m", "<bash-input>ls</bash-input>"),
          user("o", "b", "<bash-stdout>a.txt</bash-stdout>"),
          part("a3", "o", "msg_2", text("half"), { isApiErrorMessage: true, error: "overloaded" }),
          { type: "custom-title", customTitle: "Mine", sessionId: SESSION_ID },
          { type: "cost-state", sessionId: SESSION_ID, modelUsage },
        ],
      },
      [`${folder}/${SESSION_ID}/subagents/agent-abc.jsonl`]: {
        records: [user("u1", null, "look", side), part("v1", "u1", "msg_s", text("seen"), side)],
      },
      [`${folder}/${SESSION_ID}/subagents/agent-abc.meta.json`]: {
        document: { toolUseId: "t1", agentType: "x", description: "Look", parentAgentId: "none" },
      },
    },
  };
}

function makeCompactedClaudeCode(): RichSource {
  const { user, part, record, text, SESSION_ID, uuid } = claude;
  const before = [user("q", null, "hello"), part("a1", "q", "msg_1", text("one"), { stop: "end_turn" })];
  const folder = ".claude/projects/-code-project";
  const totals = (outputTokens: number, costUSD: number) => ({
    type: "cost-state",
    sessionId: SESSION_ID,
    modelUsage: { "claude-x": { inputTokens: 9, outputTokens, cacheReadInputTokens: 900, costUSD } },
  });
  return {
    source: "claude-code",
    files: {
      [`${folder}/${SESSION_ID}.jsonl`]: {
        records: [
          ...before,
          totals(10, 1),
          record("system", "b", null, {
            subtype: "compact_boundary",
            logicalParentUuid: uuid("a1"),
            compactMetadata: {
              trigger: "manual",
              preTokens: 900,
              postTokens: 90,
              preservedMessages: { anchorUuid: uuid("s"), uuids: [uuid("a1")] },
              preservedSegment: { anchorUuid: uuid("s"), headUuid: uuid("a1"), tailUuid: uuid("a1") },
            },
          }),
          user("s", "b", "So far.", { isCompactSummary: true, isVisibleInTranscriptOnly: true }),
          user("p", "s", "more"),
          part("a2", "p", "msg_2", text("after"), { stop: "end_turn" }),
          totals(60, 2),
        ],
      },
      [`${folder}/22222222-2222-4333-8444-555555555555.jsonl`]: { records: before },
    },
  };
}

const ROLLOUT = `.codex/sessions/2026/11/22/rollout-2026-11-22T05-00-00-${codex.THREAD_ID}.jsonl`;

function makeCodex(): RichSource {
  const { meta, settings, turn, item, said, call, output, totals, event, usage, numbered } = codex;
  const counts = { input_tokens: 100, cached_input_tokens: 60, output_tokens: 20, total_tokens: 120 };
  const summary = [{ type: "summary_text", text: "hm" }];
  return {
    source: "codex",
    files: {
      [ROLLOUT]: {
        records: numbered([
          meta({ source: "cli", git: { branch: "main" }, base_instructions: { text: "Be brief." } }),
          settings("gpt-x", "high"),
          said("developer", "<permissions>"),
          ...turn(
            "hello",
            item("reasoning", { id: "rs_1", summary, content: null, encrypted_content: "secret" }),
            said("assistant", "looking", { id: "msg_1", phase: "commentary" }),
            call("c1", { id: "fc_1" }),
            output("c1", { content: [{ type: "input_text", text: "one" }], success: false }),
            event("exec_command_end", { call_id: "c1", exit_code: 3, stdout: "x" }),
            item("custom_tool_call", { call_id: "c2", name: "apply_patch", input: "*** Begin" }),
            item("custom_tool_call_output", { call_id: "c2", output: '{"output":"ok"}' }),
            event("patch_apply_end", { call_id: "c2", success: true, changes: {} }),
            item("local_shell_call", { call_id: "c3", action: { type: "exec", command: ["ls"] } }),
            item("web_search_call", { id: "ws_1", action: { type: "search", query: "x" } }),
            usage("r1", counts),
            totals(120, counts),
            said("assistant", "done"),
            event("agent_message", { message: "done" }),
            event("task_complete", { error: { message: "no" } }),
          ),
          item("message", { role: "user", content: [{ type: "input_image", image_url: IMAGE }] }),
          event("user_message", { message: "see", images: [IMAGE] }),
          event("thread_rolled_back", { num_turns: 1 }),
          event("turn_aborted", { reason: "interrupted" }),
          event("error", { message: "no" }),
        ]),
      },
      ".codex/session_index.jsonl": { records: [{ id: codex.THREAD_ID, thread_name: "A name" }] },
    },
  };
}

function makeCompactedCodex(): RichSource {
  const { meta, turn, said, call, output, event, compacted, item } = codex;
  const original = "01a201b4-0000-7000-8000-000000000002";
  const before = turn("hello", said("assistant", "one"), call("c1"), output("c1", "x"));
  const kept = { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] };
  return {
    source: "codex",
    files: {
      [ROLLOUT]: {
        records: [
          meta({
            forked_from_id: original,
            parent_thread_id: original,
            history_base: { thread_id: original, ordinal: 3 },
            source: { subagent: { thread_spawn: { parent_thread_id: original, depth: 1 } } },
          }),
          ...before,
          compacted("So far.", [kept, { type: "compaction", encrypted_content: "x" }], { window_id: 1 }),
          event("context_compacted"),
          ...turn("more", item("compaction_summary", { encrypted_content: "x" }), said("assistant", "two")),
          compacted("So far."),
        ],
      },
      [ROLLOUT.replace(codex.THREAD_ID, original)]: { records: [meta({ id: original }), ...before] },
    },
  };
}

function makeOldCodex(): RichSource {
  const session = { id: codex.THREAD_ID, timestamp: TIME, instructions: "Be brief." };
  const items = [
    { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
    { type: "function_call", call_id: "c1", name: "shell", arguments: "{}", id: "fc_1" },
    { type: "function_call_output", call_id: "c1", output: "done" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] },
  ];
  return {
    source: "codex",
    files: { [ROLLOUT.replace(".jsonl", ".json")]: { document: { session, items } } },
  };
}

const GEMINI_META = { sessionId: "g-1", projectHash: "abc", startTime: TIME, kind: "main" };

const geminiMessage = (type: string, id: string, content: unknown, more: object = {}) => ({
  id,
  timestamp: TIME,
  type,
  content,
  ...more,
});

function makeGemini(): RichSource {
  const response = { functionResponse: { id: "c1", name: "f", response: { output: "text" } } };
  const call = { id: "c1", name: "f", args: { path: "a" }, status: "success", result: [response] };
  const parts = [
    { text: "hm", thought: true, thoughtSignature: "t" },
    { functionCall: { id: "c1", name: "f", args: { x: 1 } }, thoughtSignature: "f" },
    { inlineData: { mimeType: "image/png", data: "AAAA" } },
  ];
  const tokens = { input: 100, output: 10, cached: 60, thoughts: 5, tool: 1, total: 115 };
  return {
    source: "gemini",
    files: {
      ".gemini/tmp/abc/chats/session-x.jsonl": {
        records: [
          GEMINI_META,
          geminiMessage("user", "u1", ["hello", { text: "there" }, parts[2]]),
          geminiMessage("gemini", "a1", "looking", {
            model: "gemini-x",
            toolCalls: [{ ...call, agentId: "sub", resultDisplay: "x", displayName: "F" }],
            tokens,
            thoughts: [{ subject: "Plan", description: "read it", timestamp: TIME }],
          }),
          geminiMessage("user", "u2", [response]),
          geminiMessage("gemini", "a2", parts, { toolCalls: [call], model: "gemini-x" }),
          geminiMessage("info", "i1", "note"),
          { $rewindTo: "u2" },
          geminiMessage("user", "u3", "instead"),
          { $set: { summary: "A name", lastUpdated: TIME, directories: ["/code"] } },
        ],
      },
      ".gemini/projects.json": { document: { projects: { "/code/project": "abc" } } },
    },
  };
}

function makeCompressedGemini(): RichSource {
  const first = [geminiMessage("user", "u1", "one"), geminiMessage("gemini", "a1", "1")];
  const snapshot = geminiMessage("user", "s", "<state_snapshot>all of it</state_snapshot>");
  const messages = [snapshot, geminiMessage("gemini", "k", "Got it. Thanks!"), ...first];
  return {
    source: "gemini",
    files: {
      ".gemini/tmp/abc/chats/session-x.json": {
        document: { ...GEMINI_META, kind: "subagent", messages: first, summary: "A name" },
      },
      ".gemini/tmp/abc/chats/session-y.jsonl": {
        records: [
          { ...GEMINI_META, sessionId: "g-2" },
          ...first,
          { $set: { messages } },
          geminiMessage("user", "u4", "four"),
        ],
      },
    },
  };
}

function makeQwen(): RichSource {
  const { chat, asked, answered, makeCall, resulted, report, system, QWEN_ID } = qwen;
  const lane = { isSidechain: true, agentId: "explore-c1", agentName: "explore" };
  const told = { subagent_name: "explore", prompt_id: `${QWEN_ID}#explore-c1#0` };
  const compressedHistory = [
    { role: "user", parts: [{ text: "so far" }] },
    { role: "model", parts: [{ text: "Got it. Thanks!" }] },
    { role: "model", parts: [{ text: "another answer" }, { functionCall: { name: "f", args: {} } }] },
    { role: "user", parts: [{ functionResponse: { name: "f", response: { output: "x" } } }] },
  ];
  const error = {
    "event.name": "qwen-code.api_error",
    model: "q-2",
    error_message: "no",
    auth_type: "openai",
  };
  return {
    source: "qwen",
    files: {
      ".qwen/projects/-code/chats/x.jsonl": {
        records: chat([
          system("s1", "parent_session", { parentSessionId: "main" }),
          asked("q1", "one", { forkedFrom: { sessionId: "old", messageUuid: "x" } }),
          report("p1", "r1"),
          answered("a1", [{ text: "hm", thought: true }, makeCall("c1", "agent")]),
          resulted("t1", "c1", "Exit Code: 1"),
          report("p2", "r2", told),
          { ...asked("x1", "look"), ...lane },
          { ...answered("x2", [{ text: "seen" }]), ...lane },
          asked("q2", "two", { subtype: "notification" }),
          system("k1", "chat_compression", {
            info: { originalTokenCount: 90, newTokenCount: 20 },
            compressedHistory,
          }),
          answered("a2", [{ inlineData: { mimeType: "image/png", data: "AAAA" } }]),
          system("w1", "rewind", { truncatedCount: 1 }),
          system("n1", "custom_title", { customTitle: "Walls", titleSource: "auto" }),
          system("n2", "session_model", { modelId: "q-2", authType: "anthropic" }),
          system("n3", "ui_telemetry", { uiEvent: error }),
          system("n4", "file_history_snapshot", { snapshots: [] }),
          asked("q3", "three"),
        ]),
      },
    },
  };
}

function makeCopilot(): RichSource {
  const { start, prompt, tokens, answer, event, result, numbered } = copilot;
  const asset = { assetId: "sha256:1", mimeType: "image/png" };
  const used = { model: "m-1", inputTokens: 30, outputTokens: 5, cacheReadTokens: 10 };
  const complete = { success: true, summaryContent: "so far", preCompactionTokens: 99, trigger: "manual" };
  const metrics = { requests: { count: 1, cost: 1 }, usage: { inputTokens: 900, outputTokens: 90 } };
  return {
    source: "copilot",
    files: {
      ".copilot/session-state/c/events.jsonl": {
        records: numbered([
          start({ reasoningEffort: "high" }),
          event("session.binary_asset", { ...asset, data: "iVBORw0KGgo=" }),
          prompt("one", { attachments: [{ type: "file", path: "/a.png", ...asset }] }),
          prompt("skill body", { source: "skill-pdf" }),
          tokens("r1", { accounting: { sourceSessionId: "original" }, providerType: "anthropic" }),
          event("assistant.message", { apiCallId: "r1", content: "", reasoningText: "hm", chunkIndex: 0 }),
          answer("r1", "first", { c1: "task", c2: "bash" }),
          event("subagent.started", { toolCallId: "c1", agentName: "x", agentDisplayName: "X" }, "a1"),
          prompt("look", {}, "a1"),
          tokens("s1", {}, "a1"),
          answer("s1", "seen", {}, "a1"),
          result("c1", "file", { result: { binaryResultsForLlm: [{ type: "image", ...asset }] } }),
          result("c2", "out", { shellExecution: { exitCode: 3 }, error: { message: "no", code: "x" } }),
          event("session.compaction_start"),
          prompt("two"),
          event("session.compaction_complete", { ...complete, compactionTokensUsed: used }),
          event("session.model_change", { newModel: "m-2", reasoningEffort: "low" }),
          event("session.error", { statusCode: 400, errorType: "query", message: "no" }),
          event("session.info", { infoType: "rewound", message: "x" }),
          event("abort", { reason: "user" }),
          event("session.resume", { selectedModel: "m-1" }),
          answer("r3", "last"),
          event("session.shutdown", { modelMetrics: { "m-1": metrics } }),
        ]),
      },
      ".copilot/session-state/c/workspace.yaml": { text: "id: x\nname: mine\nuser_named: true\n" },
    },
  };
}

function makeCline(): RichSource {
  const folder = ".cline/data/sessions/17_ab";
  const messages = (from: readonly object[]) => from.map((one, at) => ({ ...one, ts: TIME_MS + at * 10 }));
  const metrics = {
    inputTokens: 1000,
    outputTokens: 50,
    cacheReadTokens: 600,
    cacheWriteTokens: 1,
    cost: 0.25,
  };
  const id = "5bd0b98a-0000-4000-8000-000000000001";
  const calls = [
    { type: "tool_use", id: "c1", name: "read_files", input: { path: "a" } },
    { type: "tool_use", id: "c2", name: "spawn_agent", input: { task: "look" } },
  ];
  const results = [
    {
      type: "tool_result",
      tool_use_id: "c1",
      content: [{ query: "a", result: "", error: "no", success: false }],
    },
    { type: "tool_result", tool_use_id: "c2", content: '{"success":true}', name: "spawn_agent" },
  ];
  const image = { type: "image", data: "AAAA", mediaType: "image/png" };
  const kept = {
    role: "user",
    content: "Summary",
    metadata: { kind: "compaction_summary", summary: "So far." },
  };
  const document = (agent: string, more: object, list: readonly object[]) => ({
    document: {
      version: 1,
      agent,
      sessionId: "17_ab",
      origin: { version: "3.0.65" },
      ...more,
      messages: messages(list),
    },
  });
  return {
    source: "cline",
    files: {
      [`${folder}/17_ab.messages.json`]: document("lead", {}, [
        {
          role: "user",
          content: [image, { type: "text", text: '<user_input mode="act">go</user_input>' }],
          id,
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "s" },
            { type: "text", text: "Yes." },
            ...calls,
          ],
          id: "msg_one",
          modelInfo: { id: "claude-x", provider: "anthropic", family: "x" },
          metrics,
        },
        { role: "user", content: [...results, { type: "file", path: "a", content: "x" }], id: "msg_two" },
        { role: "assistant", content: "Done.", metrics },
      ]),
      [`${folder}/17_ab__a1.messages.json`]: document(
        "subagent",
        { sessionId: "17_ab__a1", origin: { subagent: "a1" } },
        [{ role: "user", content: [{ type: "text", text: "look" }] }],
      ),
      [`${folder}/17_ab.json`]: {
        document: {
          cwd: "/code",
          workspace: "/code",
          started_at: TIME,
          metadata: {
            title: "Read it",
            fork: { forkedFromSessionId: "16_aa" },
            checkpoint: {
              history: [{ ref: "29db2d5", createdAt: TIME_MS + 5, runCount: 1, kind: "commit" }],
            },
          },
        },
      },
      [`${folder}/17_ab.compaction.json`]: {
        document: {
          source_message_count: 2,
          messages: messages([kept, { role: "user", content: "go", id }]),
        },
      },
    },
  };
}

function makeRooCode(): RichSource {
  const extension = ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline";
  const text = (said: string) => [{ type: "text", text: said }];
  const at = (ts: number, more: object) => ({ ts: TIME_MS + ts, ...more });
  const requested = '{"tokensIn":10,"tokensOut":5,"cacheReads":7,"cost":0.5,"cancelReason":"user_cancelled"}';
  return {
    source: "cline",
    files: {
      [`${extension}/tasks/0198/api_conversation_history.json`]: {
        document: [
          at(0, { role: "user", content: text("<task>\ndo it\n</task>") }),
          at(10, { role: "assistant", content: text("a"), condenseParent: "s1" }),
          at(20, { role: "assistant", type: "reasoning", content: [], encrypted_content: "x", summary: [] }),
          at(29, { role: "user", content: text("All so far."), isSummary: true, condenseId: "s1" }),
          at(30, { role: "user", content: text("[read_file for 'a.txt'] Result:") }),
          at(35, { role: "user", content: text("<environment_details>\n<model>m-1</model>") }),
          at(40, { role: "assistant", content: [{ type: "reasoning", text: "hm" }, ...text("b")] }),
        ],
      },
      [`${extension}/tasks/0198/ui_messages.json`]: {
        document: [
          at(5, { type: "say", say: "api_req_started", text: requested }),
          at(15, { type: "say", say: "text", text: "b" }),
          at(25, {
            type: "say",
            say: "condense_context",
            contextCondense: { condenseId: "s1", cost: 0.125 },
          }),
          at(28, { type: "ask", ask: "followup", text: "which", images: [IMAGE] }),
          at(45, { type: "say", say: "api_req_started", text: requested }),
        ],
      },
      [`${extension}/tasks/0199/ui_messages.json`]: {
        document: [
          at(5, { type: "say", say: "text", text: "only rows are left", images: [IMAGE] }),
          at(6, { type: "say", say: "api_req_started", text: requested }),
          at(7, { type: "say", say: "user_feedback", text: "more" }),
        ],
      },
      [`${extension}/state/taskHistory.json`]: {
        document: [{ id: "0198", cwdOnTaskInitialization: "/code", ts: TIME_MS }],
      },
    },
  };
}

function makeOpenCode(): RichSource {
  const { makeDocument, prompt, answer, text, call } = opencode;
  const file = { type: "file", mime: "image/png", url: IMAGE, filename: "a.png", source: { path: "/a.png" } };
  const error = { name: "APIError", data: { message: "no", statusCode: 400 } };
  const messages = [
    prompt("m1", 1, text("read", { synthetic: true }), file, "go", { type: "agent", name: "general" }),
    answer("m2", 2, [
      { type: "step-start", snapshot: "tree1" },
      { type: "reasoning", text: "hm", metadata: { anthropic: { signature: "sig" } } },
      text("looking"),
      call("c1", "bash", { metadata: { exit: 3, output: "x" }, title: "run it" }),
      call("c2", "read", { attachments: [file], time: { start: 1, end: 2, compacted: TIME_MS + 2500 } }),
      call("c3", "task", { metadata: { sessionId: "ses_child" } }),
      call("c4", "bash", { status: "error", error: "gone" }),
      { type: "step-finish", snapshot: "tree2", tokens: { input: 1, output: 2 }, cost: 0.5 },
      { type: "patch", hash: "tree1", files: ["/code/a.txt"] },
    ]),
    prompt("m3", 3, { type: "compaction", auto: true, tail_start_id: "m2" }),
    answer("m4", 4, [text("the summary")], { summary: true, parentID: "m3" }),
    prompt("m5", 5, { type: "subtask", prompt: "do it", agent: "general" }, "more"),
    answer("m6", 6, [], { error }),
    prompt("m7", 7, "undone"),
  ];
  const more = { parentID: "ses_zero", agent: "general", revert: { messageID: "m7", partID: "x" } };
  const [first, second] = messages;
  const stored = ".local/share/opencode/storage";
  return {
    source: "opencode",
    files: {
      "export-ses_one.json": { document: makeDocument(messages, more) },
      [`${stored}/session/p/ses_old.json`]: {
        document: { ...makeDocument([]).info, id: "ses_old", agent: "x" },
      },
      [`${stored}/message/ses_old/msg_1.json`]: { document: { ...first?.info, id: "msg_1" } },
      [`${stored}/message/ses_old/msg_2.json`]: { document: { ...second?.info, id: "msg_2" } },
      [`${stored}/part/msg_2/prt_1.json`]: { document: { ...text("hi"), id: "prt_1" } },
    },
  };
}

function makeKimi(): RichSource {
  let time = TIME_MS;
  const record = (type: string, fields: object = {}) => ({ type, agentId: "main", ...fields, time: ++time });
  const loop = (type: string, fields: object) =>
    record("context.append_loop_event", { event: { type, ...fields } });
  const tokens = { inputOther: 10, output: 5, inputCacheRead: 7, inputCacheCreation: 0 };
  const said = (content: unknown, origin: object, id = "msg_go") =>
    record("context.append_message", { message: { role: "user", content, id, toolCalls: [], origin } });
  const state = { cwd: "/code", title: "Going", isCustomTitle: true, forkedFrom: "session_0" };
  const front = { type: "metadata", protocol_version: "1.5", created_at: TIME_MS };
  const folder = ".kimi-code/sessions/wd_code/session_1";
  return {
    source: "kimi",
    files: {
      [`${folder}/agents/main/wire.jsonl`]: {
        records: [
          front,
          record("profile.bind", { thinkingEffort: "high", environmentDisclosure: { cwd: "/code" } }),
          record("turn.prompt", { promptId: "msg_go", input: "go", turnId: 1 }),
          said(
            [
              { type: "text", text: "go" },
              { type: "image_url", imageUrl: { url: IMAGE } },
            ],
            { kind: "user" },
          ),
          said([{ type: "text", text: "<system-reminder>" }], { kind: "injection", variant: "x" }, "m2"),
          loop("step.begin", { uuid: "one" }),
          record("llm.request", { kind: "loop", provider: "openai", model: "k2" }),
          record("usage.record", { model: "alias", usage: tokens, usageScope: "turn" }),
          loop("content.part", { part: { type: "think", think: "hm", encrypted: "x" } }),
          loop("content.part", { part: { type: "text", text: "Running." } }),
          loop("tool.call", { uuid: "u1", toolCallId: "c1", name: "Agent", args: { command: "x" } }),
          record("subagent.spawned", {
            subagentId: "agent-0",
            subagentName: "coder",
            parentToolCallId: "c1",
          }),
          loop("tool.result", {
            parentUuid: "u1",
            toolCallId: "c1",
            result: { output: [{ type: "text", text: "a" }], isError: true, note: "x", durationMs: 3 },
          }),
          loop("step.end", { uuid: "one", messageId: "chat-one", usage: tokens, finishReason: "stop" }),
          record("full_compaction.begin", { source: "manual" }),
          record("usage.record", { model: "alias", usage: tokens, usageScope: "session" }),
          record("context.apply_compaction", {
            summary: "So far.",
            tokensBefore: 900,
            keptUserMessageCount: 1,
          }),
          record("full_compaction.complete"),
          said([{ type: "text", text: "more" }], { kind: "user" }, "m3"),
          record("context.undo", { count: 1 }),
          record("context.undone", { turns: 1, fromTurnId: 1 }),
          record("file_history.checkpoint", { turnId: 0, entries: { "a.txt": { key: "x", version: 2 } } }),
          record("turn.ended", { reason: "failed", error: { message: "overloaded" } }),
        ],
      },
      [`${folder}/agents/agent-0/wire.jsonl`]: {
        records: [
          front,
          said([{ type: "text", text: "look" }], { kind: "system_trigger", name: "subagent" }),
        ],
      },
      [`${folder}/state.json`]: { document: state },
    },
  };
}

function makePi4A(): RichSource {
  const { HEADER_A, entry, user, assistant, tokens } = pi4;
  const record = (seq: number, type: string, more: object = {}) => ({
    kind: "record",
    id: `o${seq}`,
    lane: "main",
    type,
    seq,
    ...more,
  });
  return {
    source: "pi-v4",
    files: {
      "pi/a.jsonl": {
        records: [
          { ...HEADER_A, parentSessionId: "a-0", metadata: { host: "till" } },
          { kind: "lane", name: "main", seq: 0 },
          entry(1, "e1", null, user("1"), "main"),
          entry(2, "e2", "e1", assistant("2"), "main"),
          entry(
            3,
            "e3",
            "e2",
            { type: "compaction", summary: "x", retainedTail: [], tokensBefore: 1 },
            "main",
          ),
          entry(4, "e4", "e3", { type: "custom", customType: "note", data: { a: 1 } }, "side"),
          { kind: "fact", name: "title", value: "A name", seq: 5 },
          record(6, "operation_started"),
          record(7, "operation_finished", { runId: "o6" }),
          record(8, "queue_enqueued", { target: { id: "later" } }),
          { kind: "usage", id: "u9", usage: tokens(5, 5), adjustment: false, seq: 9, entryId: "gone" },
        ],
      },
    },
  };
}

function makePi4B(): RichSource {
  const { HEADER_B, entry, user, assistant, tokens, set, tip } = pi4;
  const summed = { type: "compaction", summary: "x", tokensBefore: 1, usage: tokens(7, 3) };
  const config = { model: { provider: "acme", modelId: "oak" }, thinkingLevel: "high", tools: ["ls"] };
  return {
    source: "pi-v4",
    files: {
      "pi/b.jsonl": {
        records: [
          HEADER_B,
          [entry(1, "e1", null, user("1")), tip(2, "main", "e1"), set(3, "pi.lane.config", "main", config)],
          entry(4, "e2", "e1", assistant("2")),
          entry(5, "e3", "e2", { ...summed, retainedTail: [assistant("2").message] }),
          {
            kind: "usage",
            id: "u6",
            usage: tokens(5, 5),
            adjustment: true,
            details: { source: "x" },
            seq: 6,
          },
          [set(7, "pi.entry.label", "e2", "mark"), set(8, "pi.session", "name", "A name")],
          { ...set(9, "app", "l", "x"), kind: "list", op: "append" },
          { ...set(10, "pi.pending.assistant_frame", "op", {}), kind: "list", op: "append" },
          tip(11, "side", "e1"),
        ],
      },
    },
  };
}

function makeAtif(): RichSource {
  const call = { tool_call_id: "c1", function_name: "ls", arguments: { path: "." } };
  const metrics = {
    prompt_tokens: 10,
    cached_tokens: 4,
    completion_tokens: 2,
    cost_usd: 0.5,
    extra: { a: 1 },
  };
  const results = [
    {
      source_call_id: "c1",
      content: [{ type: "text", text: "a.txt" }],
      extra: { is_error: true },
      subagent_trajectory_ref: [{ session_id: "sub", trajectory_path: "sub.json" }],
    },
  ];
  const base = {
    schema_version: "ATIF-v1.5",
    agent: { name: "a", version: "1", model_name: "m-1", extra: {} },
  };
  const image = { type: "image", source: { media_type: "image/png", path: IMAGE } };
  return {
    source: "atif",
    files: {
      "trajectory.json": {
        document: {
          ...base,
          session_id: "run",
          trajectory_id: "t-1",
          notes: "a note",
          agent: {
            ...base.agent,
            tool_definitions: [
              { type: "function", function: { name: "ls", description: "lists", parameters: {} } },
            ],
          },
          steps: [
            { step_id: 1, source: "system", message: "Be brief." },
            { step_id: 2, source: "user", message: [{ type: "text", text: "look" }, image], timestamp: TIME },
            {
              step_id: 3,
              source: "agent",
              message: "ok",
              model_name: "m-2",
              reasoning_content: "hm",
              reasoning_effort: "high",
              tool_calls: [call],
              observation: { results },
              metrics,
              extra: { kind: "x" },
            },
            { step_id: 4, source: "agent", message: "typed", observation: { results: [{ content: "two" }] } },
            { step_id: 5, source: "system", message: "so far", extra: { kind: "compaction" } },
            { step_id: 6, source: "agent", message: "old", is_copied_context: true, metrics },
          ],
          subagent_trajectories: [
            { ...base, session_id: "sub", steps: [{ step_id: 1, source: "user", message: "dig" }] },
          ],
          final_metrics: { total_prompt_tokens: 20, total_completion_tokens: 4, total_cost_usd: 1 },
          extra: { run: 7 },
        },
      },
    },
  };
}

/** Documents of messages, one for each form. */
function makeMessages(): RichSource {
  const call = { type: "tool_use", id: "t1", name: "ls", input: {} };
  const documents: { readonly [form: string]: object } = {
    anthropic: {
      system: "Be brief.",
      messages: [
        { role: "user", content: "look" },
        { role: "assistant", content: [{ type: "text", text: "ok" }, call] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a" }] },
      ],
    },
    chat: [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "look" }] },
      {
        role: "assistant",
        content: "ok",
        tool_calls: [{ id: "t1", type: "function", function: { name: "ls", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "t1", content: "a" },
    ],
    ui: [
      { id: "1", role: "user", parts: [{ type: "text", text: "look" }], metadata: { createdAt: TIME } },
      {
        id: "2",
        role: "assistant",
        parts: [
          { type: "step-start" },
          { type: "tool-ls", toolCallId: "t1", state: "output-available", input: {}, output: "a" },
        ],
      },
    ],
  };
  return {
    source: "messages",
    files: Object.fromEntries(
      Object.entries(documents).map(([form, document]) => [`${form}.json`, { document }]),
    ),
  };
}

/** Sessions of each program, by what is in them. */
export const RICH_SOURCES: ReadonlyMap<string, RichSource> = new Map([
  ["Claude Code", makeClaudeCode()],
  ["Claude Code, compacted and copied", makeCompactedClaudeCode()],
  ["Codex", makeCodex()],
  ["Codex, compacted", makeCompactedCodex()],
  ["Codex, old", makeOldCodex()],
  ["Gemini CLI", makeGemini()],
  ["Gemini CLI, compressed", makeCompressedGemini()],
  ["Qwen Code", makeQwen()],
  ["Copilot CLI", makeCopilot()],
  ["Cline", makeCline()],
  ["Roo Code", makeRooCode()],
  ["OpenCode", makeOpenCode()],
  ["Kimi Code", makeKimi()],
  ["pi version 4, dialect A", makePi4A()],
  ["pi version 4, dialect B", makePi4B()],
  ["ATIF", makeAtif()],
  ["messages", makeMessages()],
]);
