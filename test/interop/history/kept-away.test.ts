import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { deleteSession } from "../../../src/catalog/trash/trash.ts";
import { IMPORTED_SOURCES } from "../../../src/core/jsonl/foreign-source.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import * as claude from "../import/support/claude-records.ts";
import * as codex from "../import/support/codex-records.ts";
import * as copilot from "../import/support/copilot-records.ts";
import * as opencode from "../import/support/opencode-records.ts";
import * as pi4 from "../import/support/pi4-records.ts";
import * as qwen from "../import/support/qwen-records.ts";
import { Places } from "./support/places.ts";

const { joinLines: linesOf } = claude;

const SECRET = "hunter2";
const SAID = `the key is ${SECRET}`;

/** A session's text at its start and after growing, which in most cases repeats earlier messages in a compaction. */
interface Growth {
  readonly path: string;
  readonly texts: readonly [begun: string, grown: string];
  /** Whether its file is only imported by name. */
  readonly isNamed?: boolean;
}

function grown(path: string, records: readonly object[], more: readonly object[]): Growth {
  return { path, texts: [linesOf([...records]), linesOf([...records, ...more])] };
}

function document(
  path: string,
  make: (items: readonly object[]) => object,
  items: readonly object[],
): Growth {
  return {
    path,
    texts: [JSON.stringify(make(items.slice(0, 2))), JSON.stringify(make(items))],
  };
}

const CODEX_RECORDS = [codex.meta(), ...codex.turn(SAID, codex.said("assistant", "Noted."))];
const SENT = { type: "message", role: "user", content: [{ type: "input_text", text: SAID }] };

const EVENTS = [
  copilot.start(),
  copilot.prompt(SAID),
  copilot.tokens("r1"),
  copilot.answer("r1", "Noted."),
  copilot.prompt("go on"),
];

const CHAT = [
  qwen.asked("q1", SAID),
  qwen.answered("a1", [{ text: "Noted." }]),
  qwen.system("k1", "chat_compression", {
    info: { originalTokenCount: 90 },
    compressedHistory: [
      { role: "user", parts: [{ text: "the summary" }] },
      { role: "user", parts: [{ text: SAID }] },
      { role: "model", parts: [{ text: "Noted, shortened" }] },
    ],
  }),
];

const time = Date.UTC(2026, 10, 23);
const SPOKEN = { role: "user", id: "m1", content: [{ type: "text", text: SAID }], origin: { kind: "user" } };
const WIRE = [
  { type: "metadata", protocol_version: "1.5", created_at: time },
  { type: "turn.prompt", agentId: "main", time },
  { type: "context.append_message", agentId: "main", time, message: SPOKEN },
];
const APPLIED = { summary: "the summary", keptUserMessageCount: 1, tokensBefore: 9 };

const TASK = [
  { role: "user", ts: time, content: [{ type: "text", text: SAID }] },
  { role: "assistant", ts: time + 1, content: [{ type: "text", text: "Noted." }] },
  { role: "user", ts: time + 2, content: "the summary", isSummary: true, condenseId: "c1" },
];

const MESSAGES = [
  { role: "user", content: SAID },
  { role: "assistant", content: "Noted." },
  { role: "user", content: "go on" },
];

const SPEECH = [
  { id: "m1", type: "user", content: SAID, timestamp: "2026-11-22T06:00:00.000Z" },
  { id: "m2", type: "gemini", content: "Noted.", timestamp: "2026-11-22T06:00:01.000Z" },
  { id: "m3", type: "user", content: "go on", timestamp: "2026-11-22T06:00:02.000Z" },
];

const STEPS = [
  { step_id: 1, source: "user", message: SAID },
  { step_id: 2, source: "agent", message: "Noted." },
  { step_id: 3, source: "user", message: "go on" },
];

const GROWTHS: { readonly [source in (typeof IMPORTED_SOURCES)[number]]: Growth } = {
  atif: {
    ...document(
      "trajectory.json",
      (steps) => ({ schema_version: "ATIF-v1.7", agent: { name: "a", version: "1" }, steps }),
      STEPS,
    ),
    isNamed: true,
  },
  "claude-code": grown(
    `.claude/projects/-code-project/${claude.SESSION_ID}.jsonl`,
    [claude.user("q", null, SAID), claude.part("a", "q", "msg_1", claude.text("Noted."))],
    [claude.user("q2", "a", "go on")],
  ),
  cline: document(
    ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/t1/api_conversation_history.json",
    (items) => items,
    TASK,
  ),
  codex: grown(
    `.codex/sessions/2026/11/22/rollout-2026-11-22T05-00-00-${codex.THREAD_ID}.jsonl`,
    CODEX_RECORDS,
    [codex.compacted("the summary", [SENT])],
  ),
  copilot: grown(
    `.copilot/session-state/${copilot.COPILOT_ID}/events.jsonl`,
    copilot.numbered(EVENTS).slice(0, 4),
    copilot.numbered(EVENTS).slice(4),
  ),
  gemini: document(
    ".gemini/tmp/hash/chats/session-x.json",
    (messages) => ({ sessionId: "g1", projectHash: "hash", startTime: "2026-11-22T06:00:00.000Z", messages }),
    SPEECH,
  ),
  kimi: grown(".kimi-code/sessions/wd/session_1/agents/main/wire.jsonl", WIRE, [
    { type: "context.apply_compaction", agentId: "main", time: time + 2, ...APPLIED },
  ]),
  messages: { ...document("chat.json", (items) => items, MESSAGES), isNamed: true },
  opencode: document(
    ".local/share/opencode/storage/session/exported.json",
    (items) => ({ ...opencode.makeDocument([]), messages: items }),
    [
      opencode.prompt("msg_1", 1, SAID),
      opencode.answer("msg_2", 2, [opencode.text("Noted.")]),
      opencode.prompt("msg_3", 3, "go on"),
    ],
  ),
  "pi-v4": {
    ...grown(
      "four.jsonl",
      [
        pi4.HEADER_A,
        pi4.entry(1, "a1", null, pi4.user(SAID)),
        pi4.entry(2, "a2", "a1", pi4.assistant("Noted.")),
      ],
      [pi4.entry(3, "a3", "a2", pi4.user("go on"))],
    ),
    isNamed: true,
  },
  qwen: grown(".qwen/projects/-code/chats/chat.jsonl", qwen.chat(CHAT).slice(0, 2), qwen.chat(CHAT).slice(2)),
};

beforeEach(() => {
  vi.stubEnv("XDG_DATA_HOME", temporaryFolder());
});

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Returns the files of a home folder, with their contents and times. */
function stateOf({ home }: Places): unknown[] {
  const names = readdirSync(home, { recursive: true, encoding: "utf8" }).sort();
  return names.map((name) => {
    const stats = statSync(join(home, name));
    return [name, stats.mtimeMs, stats.isFile() && readFileSync(join(home, name), "utf8")];
  });
}

describe.each(IMPORTED_SOURCES)("a session of %s", (source) => {
  const { path, texts, isNamed = false } = GROWTHS[source];

  /** Imports the session in a state of its file, and checks that the file is not modified. */
  async function importAt(places: Places, text: string) {
    const file = places.put(path, text);
    const before = stateOf(places);
    const found = await places.import(isNamed ? { paths: [file] } : {});
    expect(stateOf(places)).toEqual(before);
    return found;
  }

  test("omits what was redacted here, even where the program repeats it", async () => {
    const places = new Places();
    const [made] = await importAt(places, texts[0]);
    expect(made).toMatchObject({ source, status: "new" });
    const session = SessionManager.open(made?.path ?? "");
    const holding = session.getEntries().filter((entry) => JSON.stringify(entry).includes(SECRET));
    expect(holding).toHaveLength(1);
    for (const { id } of holding) session.redactEntry(id);
    await session.close();
    expect(await importAt(places, texts[1])).toMatchObject([{ status: "grown" }]);
    expect([...places.files().values()].join("")).not.toContain(SECRET);
    expect(await importAt(places, texts[1])).toMatchObject([{ status: "unchanged" }]);
  });

  test("stays deleted", async () => {
    const places = new Places();
    const [made] = await importAt(places, texts[0]);
    await deleteSession(made?.path ?? "", { permanent: true });
    expect(await importAt(places, texts[1])).toMatchObject([{ status: "deleted", path: null }]);
    expect(places.files().size).toBe(0);
  });
});
