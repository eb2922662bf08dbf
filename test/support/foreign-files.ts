const TIME = "2026-02-03T22:00:00.000Z";
const ID = "0198aaaa-0000-7000-8000-00000000000f";

function lines(...records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

const claude = (type: string, uuid: string, parentUuid: string | null, content: string) => ({
  type,
  uuid,
  parentUuid,
  sessionId: ID,
  cwd: "/work",
  version: "2.1.330",
  timestamp: TIME,
  isSidechain: false,
  message: { role: type, content },
});

const message = (role: string, content: string) => ({ role, content, timestamp: 1 });

/** Files of other programs: each one's name, its `details.source`, and its text. */
export const FOREIGN_FILES: readonly (readonly [what: string, source: string, text: string])[] = [
  [
    "a Claude Code transcript",
    "claude-code",
    lines(
      { type: "mode", mode: "normal", sessionId: ID },
      claude("user", "u1", null, "Hello"),
      claude("assistant", "u2", "u1", "Hi"),
    ),
  ],
  [
    "a Codex transcript",
    "codex",
    lines(
      { timestamp: TIME, type: "session_meta", payload: { id: ID, timestamp: TIME, cwd: "/work" } },
      {
        timestamp: TIME,
        type: "response_item",
        payload: { type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] },
      },
    ),
  ],
  [
    "a Codex transcript",
    "codex",
    JSON.stringify({ session: { id: ID, timestamp: TIME }, items: [{ type: "message" }] }, null, 2),
  ],
  [
    "a Gemini CLI transcript",
    "gemini",
    lines(
      { sessionId: ID, projectHash: "ab", startTime: TIME, lastUpdated: TIME },
      { id: "m1", timestamp: TIME, type: "user", content: "Hello" },
    ),
  ],
  [
    "a Gemini CLI transcript",
    "gemini",
    JSON.stringify(
      {
        sessionId: ID,
        projectHash: "ab",
        messages: [{ id: "m1", timestamp: TIME, type: "user", content: "Hello" }],
      },
      null,
      2,
    ),
  ],
  ["an array of messages", "messages", JSON.stringify([{ role: "user", content: "Hello" }], null, 2)],
  [
    "a session of pi's dropped version 4",
    "pi-v4",
    lines(
      { kind: "header", version: 4, id: ID, createdAt: 1, cwd: "/work" },
      {
        kind: "entry",
        lane: "main",
        type: "message",
        id: "e1",
        message: message("user", "Hello"),
        parentId: null,
        seq: 1,
        timestamp: 1,
      },
    ),
  ],
  [
    "a session of pi's dropped version 4",
    "pi-v4",
    lines(
      { v: 4, kind: "header", id: ID, storageVersion: 1, createdAt: 1, cwd: "/work" },
      {
        kind: "entry",
        id: "e1",
        parentId: null,
        type: "message",
        message: message("user", "Hello"),
        seq: 1,
        timestamp: 1,
      },
      [
        { kind: "value", op: "set", seq: 2, namespace: "pi.branch.tip", key: "main", value: "e1" },
        { kind: "value", op: "set", seq: 3, namespace: "pi.session.name", key: "", value: "x" },
      ],
    ),
  ],
  [
    "a Copilot CLI transcript",
    "copilot",
    lines(
      {
        type: "session.start",
        data: { sessionId: ID, version: 1 },
        id: "c1",
        timestamp: TIME,
        parentId: null,
      },
      { type: "user.message", data: { content: "Hello" }, id: "c2", timestamp: TIME, parentId: "c1" },
    ),
  ],
  [
    "a transcript of kimi-cli, which Kimi Code has replaced",
    "kimi-cli",
    lines({ role: "_checkpoint", id: 0 }, { role: "user", content: "Hello" }),
  ],
  [
    "a task of Cline, Roo Code or Kilo",
    "cline",
    JSON.stringify([{ role: "user", content: [{ type: "text", text: "Hello" }], ts: 1 }], null, 2),
  ],
  [
    "a Kimi Code transcript",
    "kimi",
    lines(
      { type: "metadata", protocol_version: "1.5", created_at: 1 },
      { type: "turn.prompt", agentId: "main", time: 1, input: [{ type: "text", text: "Hello" }] },
    ),
  ],
  [
    "an OpenCode session",
    "opencode",
    JSON.stringify({ info: { id: "ses_1" }, messages: [{ info: { role: "user" }, parts: [] }] }, null, 2),
  ],
  [
    "a Qwen Code transcript",
    "qwen",
    lines({
      uuid: "q1",
      parentUuid: null,
      sessionId: ID,
      timestamp: TIME,
      type: "user",
      cwd: "/work",
      message: { role: "user", parts: [{ text: "Hello" }] },
    }),
  ],
];
