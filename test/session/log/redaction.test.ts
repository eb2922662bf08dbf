import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AnySessionEntry, isSessionError, SessionManager } from "sessiontree";
import { SessionController } from "sessiontree/controller";
import { describe, expect, test } from "vitest";
import { names, place, sandbox, snapshot } from "../../fault/support/sandbox.ts";
import { BRANCHED, getIds, header, lines, NOW, onDisk, user } from "../../fault/support/sessions.ts";
import { foreignEntry } from "../../support/messages.ts";

const SECRET = "hunter2";

const timestamp = new Date(NOW).toISOString();

const assistant = {
  role: "assistant",
  content: [
    { type: "thinking", thinking: SECRET, thinkingSignature: "sig-of-thought" },
    { type: "text", text: SECRET },
    { type: "toolCall", id: "c1", name: "bash", arguments: { command: SECRET } },
  ],
  api: "a",
  provider: "acme",
  model: "m1",
  stopReason: "toolUse",
  usage: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 3 },
  errorMessage: SECRET,
  timestamp: NOW,
};

/** One entry of each kind, with a secret in every field that may hold one. */
const bodies: readonly object[] = [
  { type: "message", message: user(SECRET) },
  {
    type: "message",
    message: {
      ...user(""),
      content: [
        { type: "text", text: SECRET },
        { type: "image", data: SECRET, mimeType: "x" },
      ],
    },
  },
  { type: "message", message: assistant },
  {
    type: "message",
    message: {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "bash",
      isError: false,
      content: [{ type: "text", text: SECRET }],
      details: { out: SECRET },
      timestamp: NOW,
    },
  },
  {
    type: "message",
    message: {
      role: "bashExecution",
      command: SECRET,
      output: SECRET,
      exitCode: 0,
      cancelled: false,
      truncated: false,
      fullOutputPath: SECRET,
      timestamp: NOW,
    },
  },
  { type: "message", message: { role: "system", content: SECRET, sections: { a: SECRET }, timestamp: NOW } },
  {
    type: "message",
    message: { role: "of tomorrow", content: { deep: SECRET }, more: SECRET, timestamp: NOW },
  },
  { type: "custom", customType: "x", data: { deep: [SECRET] } },
  { type: "custom_message", customType: "x", content: SECRET, display: true, details: { a: SECRET } },
  {
    type: "compaction",
    summary: SECRET,
    firstKeptEntryId: "00000001",
    tokensBefore: 9,
    details: { readFiles: [SECRET] },
    systemMessage: { role: "system", content: SECRET, timestamp: NOW },
  },
  { type: "branch_summary", fromId: "00000001", summary: SECRET, details: { modifiedFiles: [SECRET] } },
  { type: "label", targetId: "00000001", label: SECRET },
  { type: "session_info", name: SECRET },
  { type: "context_edit", targetId: "00000001", replacement: { content: SECRET } },
  {
    type: "usage",
    kind: "title",
    provider: "acme",
    model: "m1",
    usage: { input: 1, output: 1 },
    note: SECRET,
  },
  { type: "of tomorrow", whatever: { deep: SECRET } },
];

function file(): string {
  const entries = bodies.map((body, i) => ({
    ...body,
    id: String(i + 1).padStart(8, "0"),
    parentId: i === 0 ? null : String(i).padStart(8, "0"),
    timestamp,
  }));
  return lines(header(), ...entries);
}

/** Returns the content of all files in a folder. */
function everything(folder: string): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
}

const shape = (session: SessionManager) =>
  session.getEntries().map(({ id, parentId, type }) => ({ id, parentId, type }));

describe("redacting", () => {
  test.each(bodies.map((body, i) => [i + 1, JSON.stringify(body).slice(0, 60)] as const))(
    "entry %i, %s, removes its text, and keeps everything else",
    (number) => {
      const path = place(sandbox(), "s.jsonl", file());
      const id = String(number).padStart(8, "0");
      const session = SessionManager.open(path);
      const before = shape(session);
      const recordId = session.redactEntry(id, { replacement: "[gone]" });
      const [oldLines, newLines] = [file(), readFileSync(path, "utf8")].map((text) =>
        text.trimEnd().split("\n"),
      );
      expect(newLines?.filter((_, at) => at !== number).slice(0, bodies.length)).toEqual(
        oldLines?.filter((_, at) => at !== number),
      );
      expect(newLines?.[number]).not.toContain(SECRET);
      // A context edit has no effect, and next to a usage there is only a note.
      if (![14, 15].includes(number)) expect(newLines?.[number]).toContain("[gone]");
      expect(shape(session)).toEqual([
        ...before,
        { id: recordId, parentId: before.at(-1)?.id, type: "custom" },
      ]);
      expect(JSON.stringify(session.getEntry(id))).not.toContain(SECRET);
      expect(shape(onDisk(path))).toEqual(shape(session));
      expect(onDisk(path).buildSessionContext()).toEqual(session.buildSessionContext());
      expect(onDisk(path).issues).toEqual([]);
    },
  );

  test("all entries removes the secret everywhere: in the file, next to it, and in memory", () => {
    const path = place(sandbox(), "s.jsonl", file());
    const session = SessionManager.open(path, { now: () => NOW });
    for (const id of getIds(session)) session.redactEntry(id);
    expect(everything(dirname(path))).not.toContain(SECRET);
    expect(names(dirname(path))).toEqual(["s.jsonl"]);
    const seen = [
      session.getEntries(),
      session.getTree(),
      session.buildSessionContext(),
      session.getSessionName(),
    ];
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    expect(session.getLabel("00000001")).not.toContain(SECRET);
    const record = session.getEntries().find(({ type, id }) => type === "custom" && id !== "00000008");
    expect(record).toMatchObject({
      customType: "sessiontree.redaction",
      data: { targetId: "00000001" },
      timestamp,
    });
  });

  test("in another session is read from the file immediately, and from memory after a refresh", () => {
    const path = place(sandbox(), "s.jsonl", file());
    const [fresh, ...readers] = Array.from({ length: 3 }, () => SessionManager.open(path));
    const [ofBodies, ofContext] = readers;
    const first = ofBodies?.getEntry("00000001");
    const context = ofContext?.buildSessionContext();
    const other = SessionManager.open(path);
    for (const id of getIds(other)) other.redactEntry(id);
    expect(JSON.stringify([fresh?.getEntries(), fresh?.buildSessionContext()])).not.toContain(SECRET);
    // Anything a session has read or built is in memory, and so are the objects that callers hold.
    expect(ofBodies?.getEntry("00000001")).toBe(first);
    expect(ofContext?.buildSessionContext()).toEqual(context);
    expect(JSON.stringify([first, context])).toContain(SECRET);
    for (const reader of readers) reader.refresh();
    expect(JSON.stringify([ofBodies?.getEntries(), ofContext?.buildSessionContext()])).not.toContain(SECRET);
  });

  test.each([
    ["a change of the model", { type: "model_change", provider: "p", modelId: "m" }],
    ["a change of the thinking level", { type: "thinking_level_change", thinkingLevel: "high" }],
    ["state without data", { type: "custom", customType: "todo" }],
    [
      "usage without a note",
      { type: "usage", kind: "search", provider: "p", model: "m", usage: { input: 1 } },
    ],
  ])("%s holds nothing to redact, and reports it", (_what, body) => {
    const line = { id: "0000000a", parentId: "00000006", timestamp, ...body };
    const path = place(sandbox(), "s.jsonl", `${BRANCHED}${JSON.stringify(line)}\n`);
    const session = SessionManager.open(path);
    const before = snapshot(path);
    expect(() => session.redactEntry("0000000a")).toThrow(/0000000a has nothing to redact/);
    expect(snapshot(path)).toEqual(before);
  });

  test("keeps only the kind, model, and numbers of an answer", () => {
    const message = {
      role: "assistant",
      content: [
        { type: "thinking", thinking: SECRET, thinkingSignature: SECRET },
        { type: "text", text: SECRET, textSignature: SECRET },
        {
          type: "toolCall",
          id: "c1",
          name: "bash",
          arguments: { command: SECRET },
          thoughtSignature: SECRET,
        },
      ],
      api: "a",
      provider: "p",
      model: "m",
      usage: { input: 1, cost: { total: 2, note: SECRET }, raw: SECRET, iterations: [SECRET] },
      stopReason: "error",
      errorMessage: SECRET,
      details: { said: SECRET },
      diagnostics: [SECRET],
      toolUseResult: SECRET,
      display: { said: SECRET },
      timestamp: 1,
    };
    const line = { type: "message", id: "0000000a", parentId: "00000006", timestamp, message };
    const path = place(sandbox(), "s.jsonl", `${BRANCHED}${JSON.stringify(line)}\n`);
    const session = SessionManager.open(path);
    session.redactEntry("0000000a");
    expect(everything(dirname(path))).not.toContain(SECRET);
    expect(session.getEntry("0000000a")).toMatchObject({
      message: { model: "m", usage: { input: 1, cost: { total: 2 } } },
    });
  });

  test("keeps tool calls and their results together", () => {
    const path = place(sandbox(), "s.jsonl", file());
    const session = SessionManager.open(path);
    session.redactEntry("00000003");
    expect(session.getEntry("00000003")).toMatchObject({
      message: {
        role: "assistant",
        content: [
          { type: "text", text: "[redacted]" },
          { type: "toolCall", id: "c1", name: "bash", arguments: {} },
        ],
        usage: { totalTokens: 3 },
      },
    });
  });

  test("an unknown entry is rejected, and nothing is written", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const session = SessionManager.open(path);
    const before = snapshot(path);
    expect(() => session.redactEntry("nowhere")).toThrow(/^Entry nowhere not found/);
    expect(snapshot(path)).toEqual(before);
  });

  test("works before anything is on disk, and in memory", () => {
    const folder = sandbox();
    const sessions = [SessionManager.create("/project", folder), SessionManager.inMemory()];
    for (const session of sessions) {
      const id = session.appendCustomEntry("x", SECRET);
      session.redactEntry(id);
      session.appendMessage(user("one"));
      expect(JSON.stringify(session.getEntries())).not.toContain(SECRET);
      expect(session.getEntries().map(({ type }) => type)).toEqual(["custom", "custom", "message"]);
    }
    expect(everything(folder)).not.toContain(SECRET);
  });

  test("emits an event for the record only", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const session = SessionManager.open(path);
    const heard: string[] = [];
    session.on("entry_appended", ({ entry }) => heard.push(`appended ${entry.id}`));
    session.on("foreign_entries", () => heard.push("foreign"));
    session.on("leaf_changed", ({ leafId, previousLeafId }) =>
      heard.push(`leaf ${previousLeafId} ${leafId}`),
    );
    const id = session.redactEntry("00000002");
    expect(heard).toEqual([`appended ${id}`, `leaf 00000006 ${id}`]);
  });
});

describe("text that another session has redacted", () => {
  const copies: [string, (session: SessionManager) => string | undefined][] = [
    ["fork", (session) => session.fork().getSessionFile()],
    ["branch", (session) => session.createBranchedSession(session.getLeafId() ?? "")],
    [
      "exported branch",
      (session) => new SessionController({ session }).exportJsonl(join(sandbox(), "branch.jsonl")),
    ],
  ];

  test.each(copies)("is in no %s that this one makes, even if it was in memory", async (_name, copy) => {
    for (const isHeld of [false, true]) {
      const record = { parentId: "0000000a", timestamp };
      const path = place(
        sandbox(),
        "s.jsonl",
        lines(
          header({ title: SECRET }),
          { type: "message", id: "0000000a", parentId: null, timestamp, message: user(SECRET) },
          { type: "label", id: "0000000b", ...record, targetId: "0000000a", label: SECRET },
          { type: "session_info", id: "0000000c", ...record, parentId: "0000000b", name: SECRET },
        ),
      );
      const session = SessionManager.open(path);
      if (isHeld) session.appendMessage(user("mine"));
      expect(JSON.stringify(session.buildSessionContext())).toContain(SECRET);
      expect(session.getLabel("0000000a")).toBe(SECRET);
      await SessionManager.open(path).redactText(SECRET);
      expect(readFileSync(path, "utf8")).not.toContain(SECRET);
      const made = copy(session) ?? "";
      expect(readFileSync(made, "utf8")).not.toContain(SECRET);
      expect(onDisk(made).getLabel("0000000a")).toBe("[redacted]");
      expect(JSON.stringify(session.buildSessionContext())).not.toContain(SECRET);
    }
  });
});

describe("beforePersist", () => {
  const redacting = (entry: AnySessionEntry): AnySessionEntry =>
    JSON.parse(JSON.stringify(entry).replaceAll(SECRET, "***"));

  test("is called for every entry before it is stored", () => {
    const folder = sandbox();
    const session = SessionManager.create("/project", { sessionDir: folder, beforePersist: redacting });
    const heard: unknown[] = [];
    session.on("entry_appended", ({ entry }) => heard.push(entry));
    const first = session.appendMessage(user(SECRET));
    session.appendCustomEntry("x", { deep: [SECRET] });
    session.appendCustomMessageEntry("x", SECRET, true);
    session.appendSessionInfo(SECRET);
    session.appendLabelChange(first, SECRET);
    session.appendCompaction(SECRET, first, 1);
    session.branchWithSummary(first, SECRET);
    session.appendContextEdit(first, { content: SECRET });
    session.append({ unknownType: "of tomorrow", whatever: SECRET });
    session.redactEntry(first, { replacement: SECRET });
    expect(heard).toHaveLength(10);
    session.createBranchedSession(session.getLeafId() ?? "");
    const seen = [session.getEntries(), session.buildSessionContext(), session.getSessionName(), heard];
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    expect(everything(folder)).not.toContain(SECRET);
  });

  test("keeps everything that it does not change: signatures, order, and spelling of fields", () => {
    const path = place(sandbox(), "s.jsonl", lines(header()));
    const session = SessionManager.open(path, { beforePersist: (entry) => entry });
    session.append(foreignEntry({ type: "message", message: assistant }));
    expect(readFileSync(path, "utf8")).toContain(`"message":${JSON.stringify(assistant)}}`);
  });

  test.each(["id", "parentId", "type"])("may not change the %s of an entry", (field) => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const states: unknown[] = [];
    const session = SessionManager.open(path, {
      beforePersist: (entry) => ({ ...entry, [field]: "changed" }),
    });
    session.on("persistence_state", (state) => states.push(state));
    const before = snapshot(path);
    let error: unknown;
    try {
      session.appendMessage(user("one"));
    } catch (caught) {
      error = caught;
    }
    expect(isSessionError(error, "ENTRY_INVALID")).toBe(true);
    expect(snapshot(path)).toEqual(before);
    expect(session.getEntryCount()).toBe(6);
    expect(states).toEqual([]);
  });

  test.each([
    ["close", (session: SessionManager) => session.close()],
    ["async dispose", (session: SessionManager) => session[Symbol.asyncDispose]()],
    ["newSession", (session: SessionManager) => session.newSession()],
    ["setSessionFile", (session: SessionManager) => session.setSessionFile("other.jsonl")],
    ["createBranchedSession", (session: SessionManager) => session.createBranchedSession("00000001")],
    ["an append", (session: SessionManager) => session.appendMessage(user("two"))],
    ["redact", (session: SessionManager) => session.redactEntry("00000002")],
  ])("may only alter the entry: %s is rejected, and nothing is written", async (_name, act) => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const acting = { now: true };
    const session: SessionManager = SessionManager.open(path, {
      beforePersist: (entry) => {
        // A later rejection would be unhandled.
        if (acting.now) act(session);
        return entry;
      },
    });
    const before = snapshot(path);
    expect(() => session.appendMessage(user("one"))).toThrow(TypeError);
    expect(() => session.redactEntry("00000002")).toThrow(TypeError);
    expect(snapshot(path)).toEqual(before);
    expect(names(dirname(path))).toEqual(["s.jsonl"]);
    acting.now = false;
    session.appendMessage(user("one"));
    expect(session.getEntryCount()).toBe(7);
    await session.close();
  });

  test("that throws prevents the append", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const fail = () => {
      throw new RangeError("no");
    };
    const session = SessionManager.open(path, { beforePersist: fail });
    const before = snapshot(path);
    expect(() => session.appendMessage(user(SECRET))).toThrow(RangeError);
    expect(snapshot(path)).toEqual(before);
    expect(session.getEntryCount()).toBe(6);
  });
});
