import { describe, expect, test } from "vitest";
import { toArray, toRecord } from "../../../src/core/context/entry-fields.ts";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import { importOpenCode } from "../../../src/interop/import/opencode/import-opencode.ts";
import { assistant, call, toolResult, user } from "../../support/messages.ts";
import { type Appended, ID, makeSession, NOW } from "./support/copied-sessions.ts";
import { readLines } from "./support/exported-requests.ts";

const PNG = "iVBORw0KGgo=";
const image = { type: "image", data: PNG, mimeType: "image/png" } as const;
const options = { id: ID, now: NOW };

function exportDocument(session: ReturnType<typeof makeSession>, more: object = {}) {
  const exported = exportFor("opencode", session, { ...options, ...more });
  const [document] = readLines(exported);
  const messages = toArray(document?.["messages"]).map((message) => ({
    info: toRecord(toRecord(message)["info"]),
    parts: toArray(toRecord(message)["parts"]).map(toRecord),
  }));
  return { exported, document, info: toRecord(document?.["info"]), messages };
}

/** Returns the parts of each message of an export, without ids. */
function writeParts(...messages: Appended[]) {
  return exportDocument(makeSession(...messages)).messages.map(({ parts }) =>
    parts.map(({ id: _id, sessionID: _sessionID, messageID: _messageID, ...part }) => part),
  );
}

describe("the document", () => {
  test("can be imported by a command, and states its provenance", () => {
    const session = makeSession(user("Hi\nthere", NOW - 2000), assistant("Hello", { timestamp: NOW - 1000 }));
    const { exported, info } = exportDocument(session);
    const { id } = exported;
    expect(id).toMatch(/^ses_[0-9a-f]{12}aaaaaaaa111142$/);
    expect(exported.files.map(({ path }) => path)).toEqual([`${id}.json`]);
    expect(exported.commands).toEqual([
      ["opencode", "import", "{}"],
      ["opencode", "--session", id],
    ]);
    expect(info).toEqual({
      id,
      slug: "sessiontree-aaaaaaaa",
      projectID: "global",
      directory: "/project",
      title: "Hi there",
      version: "1.18.33",
      metadata: {
        sessiontree: {
          sessionId: session.getSessionId(),
          leafId: session.getLeafId(),
          copiedUntil: NOW - 1000,
        },
      },
      time: { created: NOW - 2000, updated: NOW },
    });
  });

  test("has the session's name as its title", () => {
    const session = makeSession(user("Hi"), assistant("Hello"));
    session.appendSessionInfo("Receipts");
    expect(exportDocument(session).info).toMatchObject({ title: "Receipts" });
  });

  test("counts nothing that the session counts", () => {
    const { messages } = exportDocument(makeSession(user("Hi"), assistant("Hello")));
    expect(messages[1]?.info).toMatchObject({
      role: "assistant",
      parentID: messages[0]?.info["id"],
      providerID: "acme",
      modelID: "m1",
      cost: 0,
      tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
      finish: "stop",
    });
  });

  test("continues with the requested model, or otherwise with the one that answered last", () => {
    const session = makeSession(
      user("Hi"),
      assistant("Hello"),
      user("More"),
      assistant("Yes", { model: "m2" }),
    );
    const getModels = (more: object) =>
      exportDocument(session, more).messages.flatMap(({ info }) => info["model"] ?? []);
    expect(getModels({})).toEqual(Array(2).fill({ providerID: "acme", modelID: "m2" }));
    const model = "openrouter/anthropic/claude-opus-4-8";
    expect(getModels({ model })).toEqual(
      Array(2).fill({ providerID: "openrouter", modelID: "anthropic/claude-opus-4-8" }),
    );
    expect(() => getModels({ model: "claude" })).toThrow(TypeError);
  });
});

describe("ids and times", () => {
  const session = makeSession(
    user("Hi", NOW + 5000),
    assistant("", { timestamp: 5 }, call("c1"), call("c2")),
    toolResult("c1", "a"),
    toolResult("c2", "b"),
    assistant("Done", { timestamp: 5 }),
  );
  const { messages } = exportDocument(session);

  test("increase from message to message and part to part, whatever the clocks were", () => {
    const ids = messages.map(({ info }) => String(info["id"]));
    const partIds = messages.flatMap(({ parts }) => parts.map(({ id }) => String(id)));
    const times = messages.map(({ info }) => Number(toRecord(info["time"])["created"]));
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(partIds).toEqual([...new Set(partIds)].sort());
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
    expect(ids).toHaveLength(3);
    expect(times.at(-1)).toBe(NOW);
  });

  test("precede those that the program creates next", () => {
    // The program derives ids from the time in milliseconds, with a count in the last three digits.
    const next = ((BigInt(NOW) * 0x1000n) & 0xffff_ffff_ffffn).toString(16).padStart(12, "0");
    for (const { info, parts } of messages)
      for (const id of [info["id"], ...parts.map((part) => part["id"])])
        expect(String(id).slice(4, 16) < next, String(id)).toBe(true);
  });
});

describe("calls and results", () => {
  test("are one part in the order of the answer, even if they failed", () => {
    const [, answer] = writeParts(
      user("Go"),
      assistant([
        { type: "text", text: "First" },
        call("c1", "bash", { command: "ls" }),
        call("c2", "read", "a.ts"),
        { type: "text", text: "Last" },
      ]),
      toolResult("c2", "no such file", true),
      toolResult("c1", "a\nb"),
    );
    const time = { start: 2, end: 2 };
    expect(answer).toEqual([
      { type: "text", text: "First" },
      {
        type: "tool",
        callID: "c1",
        tool: "bash",
        state: {
          status: "completed",
          input: { command: "ls" },
          output: "a\nb",
          title: "bash",
          metadata: {},
          time,
        },
      },
      {
        type: "tool",
        callID: "c2",
        tool: "read",
        state: { status: "error", input: { path: "a.ts" }, error: "no such file", time },
      },
      { type: "text", text: "Last" },
    ]);
  });

  test("have ids and names that any provider accepts", () => {
    const [, answer] = writeParts(
      user("Go"),
      assistant("", {}, call("call_1|fc_9", "my tool")),
      toolResult("call_1|fc_9", ""),
    );
    expect(answer).toEqual([expect.objectContaining({ callID: "call_1_fc_9", tool: "my_tool" })]);
  });

  test("keep images in their results, or after failed ones", () => {
    const content = [{ type: "text" as const, text: "seen" }, image];
    const write = (isError: boolean) =>
      writeParts(user("Go"), assistant("", {}, call("c1")), { ...toolResult("c1", "", isError), content });
    const file = {
      type: "file",
      mime: "image/png",
      filename: "image.png",
      url: `data:image/png;base64,${PNG}`,
    };
    const [, [part] = []] = write(false);
    expect(part).toMatchObject({ state: { output: "seen", attachments: [file] } });
    const failed = write(true);
    expect(failed[1]).toEqual([
      expect.objectContaining({ state: expect.objectContaining({ error: "seen" }) }),
    ]);
    expect(failed[2]).toEqual([file]);
  });

  test("get a placeholder result and an issue if a result is missing", () => {
    const { exported, messages } = exportDocument(makeSession(user("Go"), assistant("", {}, call("c1"))));
    expect(messages[1]?.parts).toEqual([
      expect.objectContaining({
        state: expect.objectContaining({
          status: "error",
          error: "The tool call was interrupted: it has no result.",
        }),
      }),
    ]);
    expect(exported.issues.map(({ code }) => code)).toContain("PAIR_REPAIRED");
  });
});

test("adds the prompt that answers need to a session that starts with an answer", () => {
  const { messages, exported } = exportDocument(makeSession(assistant("Welcome")));
  expect(messages.map(({ info }) => info["role"])).toEqual(["user", "assistant"]);
  expect(exported.issues.map(({ code }) => code)).toEqual(["CONTENT_ADDED"]);
});

test("keeps images in prompts and omits empty texts", () => {
  const content = [{ type: "text" as const, text: "" }, { type: "text" as const, text: "Look" }, image];
  expect(
    writeParts(
      { ...user(""), content },
      assistant([
        { type: "text", text: "" },
        { type: "text", text: "I see" },
      ]),
    ),
  ).toEqual([
    [
      { type: "text", text: "Look" },
      { type: "file", mime: "image/png", filename: "image.png", url: `data:image/png;base64,${PNG}` },
    ],
    [{ type: "text", text: "I see" }],
  ]);
});

test.each(["AAA=AAAA", "AAAAA", "<svg>"])(
  "replaces an image that is not base64 with text, because the program would exit: %s",
  (data) => {
    const content = [{ ...image, data }, image];
    const { messages, exported } = exportDocument(makeSession({ ...user(""), content }, assistant("I see")));
    expect(messages[0]?.parts.map(({ type, text }) => [type, text])).toEqual([
      ["text", "[image: image/png]"],
      ["file", undefined],
    ]);
    expect(exported.issues.map(({ code }) => code)).toEqual(["IMAGE_LEFT_OUT"]);
  },
);

test("exports summaries of compactions and branches as prompts", () => {
  const session = makeSession(user("Old"), assistant("Older"));
  const kept = session.appendMessage(user("Kept"));
  session.appendMessage(assistant("Answer"));
  session.appendCompaction("They talked.", kept, 100);
  session.branchWithSummary(session.getLeafId(), "They tried.");
  const texts = exportDocument(session).messages.map(
    ({ info, parts }) => `${info["role"]} ${parts[0]?.["text"]}`,
  );
  expect(texts).toEqual([
    expect.stringMatching(/^user .*They talked\./s),
    "user Kept",
    "assistant Answer",
    expect.stringMatching(/^user .*They tried\./s),
  ]);
});

test("imports as the same conversation", () => {
  const session = makeSession(
    user("Go"),
    assistant("First", {}, call("c1", "bash", { command: "ls" })),
    toolResult("c1", "a"),
    assistant("Done"),
  );
  const { document } = exportDocument(session);
  const imported = importOpenCode({ document, importedAt: "2026-11-28T06:00:00.000Z" });
  const messages = imported?.entries.flatMap(({ type, ...entry }) => (type === "message" ? [entry] : []));
  expect(JSON.stringify(messages)).toMatch(/"Go".*"First".*"command":"ls".*toolResult.*"a".*"Done"/);
  expect(imported?.counts).toMatchObject({ userMessages: 1, assistantMessages: 2, toolResults: 1 });
});
