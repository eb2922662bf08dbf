import { describe, expect, it } from "vitest";
import { repairToolPairs } from "../../../src/core/context/tool-pairs.ts";
import type { AgentMessage, AssistantMessage, Message } from "../../../src/core/format/message.ts";
import { assistant, user } from "../../support/messages.ts";
import { call, result, system } from "./support/entries.ts";
import { pairFaults } from "./support/pairs.ts";

const text = (words: string) => ({ type: "text" as const, text: words });
const thinking = { type: "thinking" as const, thinking: "hm" };
const calls = (...ids: string[]) => assistant(ids.map((id) => call(id)));
const interrupted = (id: string) => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "read",
  isError: true,
  timestamp: 1,
});

/** Repairs a list, and checks the invariants. */
function repair(messages: readonly AgentMessage[]) {
  const before = structuredClone(messages);
  const repaired = repairToolPairs(messages);
  expect(messages).toEqual(before);
  expect(pairFaults(repaired.messages)).toEqual([]);
  expect(repairToolPairs(repaired.messages).repairs).toEqual([]);
  return repaired;
}

describe("a list in order", () => {
  it("is returned with the same objects", () => {
    const messages: Message[] = [
      system("rules"),
      user("a"),
      calls("1", "2"),
      result("2"),
      result("1"),
      assistant("done"),
      user("b"),
      calls("3"),
      result("3"),
    ];
    const repaired = repair(messages);
    expect(repaired.repairs).toEqual([]);
    expect(repaired.messages).not.toBe(messages);
    repaired.messages.forEach((message, i) => {
      expect(message).toBe(messages[i]);
    });
  });

  it("may be empty, or without tools", () => {
    expect(repair([])).toEqual({ messages: [], repairs: [] });
    const messages = [user("a"), assistant([]), assistant("b", { stopReason: "aborted" })];
    expect(repair(messages)).toEqual({ messages, repairs: [] });
  });
});

describe("a call without a result", () => {
  it("gets one that reports an interruption, directly after the others", () => {
    const { messages, repairs } = repair([calls("1", "2", "3"), result("2"), user("go on")]);
    expect(messages.map(({ role }) => role)).toEqual([
      "assistant",
      "toolResult",
      "toolResult",
      "toolResult",
      "user",
    ]);
    expect(messages[1]).toEqual(result("2"));
    expect(messages[2]).toMatchObject(interrupted("1"));
    expect(messages[3]).toMatchObject(interrupted("3"));
    expect(JSON.stringify(messages[2])).toContain("interrupted");
    expect(repairs).toEqual([
      { kind: "resultMade", index: 0, toolCallId: "1" },
      { kind: "resultMade", index: 0, toolCallId: "3" },
    ]);
  });

  it("gets one at the end of the list, too", () => {
    expect(repair([user("a"), calls("1")]).messages).toHaveLength(3);
  });

  it.each(["error", "aborted", "deferred", "pending"] as const)(
    "is removed if the message ended with %s",
    (stopReason) => {
      const { messages, repairs } = repair([assistant([text("I will"), call("1")], { stopReason })]);
      expect(messages).toEqual([assistant([text("I will")], { stopReason })]);
      expect(repairs).toEqual([{ kind: "callDropped", index: 0, toolCallId: "1" }]);
    },
  );

  it("takes an aborted message with it if only thinking is left", () => {
    const { messages, repairs } = repair([
      user("a"),
      assistant([thinking, call("1")], { stopReason: "aborted" }),
    ]);
    expect(messages).toEqual([user("a")]);
    expect(repairs.map(({ kind, index }) => [kind, index])).toEqual([
      ["callDropped", 1],
      ["messageDropped", 1],
    ]);
  });

  it("has the tool's name in its result, or reports it as unknown", () => {
    const nameless = assistant([JSON.parse('{"type":"toolCall","id":"1"}')]);
    expect(repair([nameless]).messages[1]).toMatchObject({ toolName: "unknown", toolCallId: "1" });
  });
});

describe("a message that failed or was aborted", () => {
  it.each(["error", "aborted", "deferred", "pending"] as const)(
    "loses its calls together with their results (%s)",
    (stopReason) => {
      const { messages, repairs } = repair([
        assistant([text("I will"), call("1"), call("2")], { stopReason }),
        result("2"),
        user("go on"),
      ]);
      const rest = [assistant([text("I will")], { stopReason }), user("go on")];
      expect(messages).toEqual(rest);
      expect(repairs).toEqual([
        { kind: "callDropped", index: 0, toolCallId: "1" },
        { kind: "callDropped", index: 0, toolCallId: "2" },
        { kind: "resultDropped", index: 1, toolCallId: "2" },
      ]);
    },
  );

  it("leaves a result of the same id to the previous complete message", () => {
    const failed = assistant([text("x"), call("1")], { stopReason: "error" });
    const { messages } = repair([calls("1"), failed, result("1")]);
    expect(messages).toEqual([calls("1"), result("1"), assistant([text("x")], { stopReason: "error" })]);
  });
});

describe("a result", () => {
  it("without a call is dropped", () => {
    const { messages, repairs } = repair([result("1"), user("a"), result("2")]);
    expect(messages).toEqual([user("a")]);
    expect(repairs).toEqual([
      { kind: "resultDropped", index: 0, toolCallId: "1" },
      { kind: "resultDropped", index: 2, toolCallId: "2" },
    ]);
  });

  it("before its call is dropped, and the call counts as interrupted", () => {
    const { messages, repairs } = repair([result("1"), calls("1")]);
    expect(messages[1]).toMatchObject(interrupted("1"));
    expect(repairs.map(({ kind }) => kind)).toEqual(["resultDropped", "resultMade"]);
  });

  it("that is repeated is dropped at any position", () => {
    const messages = [
      calls("1"),
      result("1", "first"),
      result("1", "second"),
      user("a"),
      result("1", "third"),
    ];
    const repaired = repair(messages);
    expect(repaired.messages).toEqual([messages[0], messages[1], messages[3]]);
    expect(repaired.repairs.map(({ kind, index }) => [kind, index])).toEqual([
      ["resultDropped", 2],
      ["resultDropped", 4],
    ]);
  });

  it.each<[string, AgentMessage]>([
    ["a user message", user("hurry")],
    ["an assistant message", assistant("meanwhile")],
    ["a system message", system("rules")],
    ["other calls", calls("9")],
  ])("that follows %s is moved to its call", (_name, between) => {
    const late = result("1", "late");
    const { messages, repairs } = repair([calls("1", "2"), result("2"), between, late]);
    expect(messages.slice(0, 4)).toEqual([calls("1", "2"), result("2"), late, between]);
    expect(messages[2]).toBe(late);
    expect(repairs).toContainEqual({ kind: "resultMoved", index: 3, toolCallId: "1" });
  });

  describe("that came after an answer that is bound to the substituted result", () => {
    const bindsThinking = ({ model }: AssistantMessage) => model === "bound";
    const bound = assistant("meanwhile", { model: "bound" });
    const late = result("1", "late");

    it("stays in its place, as user text that names the call", () => {
      const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
      const messages = [
        calls("1", "2"),
        result("2"),
        user("b"),
        bound,
        { ...late, content: [...late.content, image] },
        user("c"),
      ];
      const { messages: repaired, repairs } = repairToolPairs(messages, { bindsThinking });
      expect(repaired.slice(0, 5)).toEqual(repairToolPairs(messages.slice(0, 4)).messages);
      const [quoted, last] = repaired.slice(5);
      expect(quoted).toMatchObject({ role: "user", timestamp: late.timestamp });
      expect(quoted?.role === "user" && quoted.content.slice(1)).toEqual([text("late"), image]);
      expect(JSON.stringify(quoted)).toMatch(/Tool call 1 \(read\)/);
      expect(last).toBe(messages[5]);
      expect(repairs).toEqual([
        { kind: "resultMade", index: 0, toolCallId: "1" },
        { kind: "resultQuoted", index: 4, toolCallId: "1" },
      ]);
      expect(pairFaults(repaired)).toEqual([]);
      expect(repairToolPairs(repaired, { bindsThinking }).repairs).toEqual([]);
    });

    it("holds no half of a surrogate pair, which an id may hold", () => {
      const { messages } = repairToolPairs([calls("a\ude00"), bound, result("a\ude00")], { bindsThinking });
      expect(JSON.stringify(messages.at(-1))).toContain("Tool call a\ufffd (read)");
    });

    it("reports a failure of the call", () => {
      const { messages } = repairToolPairs([calls("1"), bound, { ...late, isError: true }], {
        bindsThinking,
      });
      expect(JSON.stringify(messages.at(-1))).toContain("failed");
    });

    it.each([
      ["another model answered", assistant("meanwhile")],
      ["the answer was aborted", assistant("half", { model: "bound", stopReason: "aborted" })],
      ["nothing was asked", user("hurry")],
    ])("is moved to its call if %s", (_when, between) => {
      const { messages, repairs } = repairToolPairs([calls("1"), between, late], { bindsThinking });
      expect(messages[1]).toBe(late);
      expect(repairs).toContainEqual({ kind: "resultMoved", index: 2, toolCallId: "1" });
    });

    it("is moved if the answer was before the call", () => {
      const { messages } = repairToolPairs([bound, calls("1"), user("hurry"), late], { bindsThinking });
      expect(messages[2]).toBe(late);
    });

    it("is not repeated: a second result is dropped", () => {
      const { messages, repairs } = repairToolPairs([calls("1"), bound, late, result("1", "again")], {
        bindsThinking,
      });
      expect(messages).toHaveLength(4);
      expect(repairs.at(-1)).toEqual({ kind: "resultDropped", index: 3, toolCallId: "1" });
    });
  });

  it("is not moved because it follows dropped results", () => {
    const { repairs } = repair([calls("1", "2"), result("1"), result("1"), result("7"), result("2")]);
    expect(repairs.map(({ kind }) => kind)).toEqual(["resultDropped", "resultDropped"]);
  });

  it("without a readable id is dropped", () => {
    const odd: AgentMessage[] = JSON.parse('[{"role":"toolResult"},{"role":"toolResult","toolCallId":5}]');
    expect(repair([calls("1"), ...odd]).repairs.map(({ kind, toolCallId }) => [kind, toolCallId])).toEqual([
      ["resultMade", "1"],
      ["resultDropped", ""],
      ["resultDropped", ""],
    ]);
  });
});

describe("an id that occurs twice", () => {
  it("within a message: the first call has it", () => {
    const { messages, repairs } = repair([
      assistant([call("1", "read"), call("1", "write")]),
      result("1"),
      result("1"),
    ]);
    expect(messages).toEqual([assistant([call("1", "read")]), result("1")]);
    expect(repairs.map(({ kind }) => kind)).toEqual(["callDropped", "resultDropped"]);
  });

  it("in messages that each have their result: the later pair gets a new one", () => {
    const { messages, repairs } = repair([
      calls("1"),
      result("1", "a"),
      calls("1"),
      result("1", "b"),
      calls("1"),
      result("1"),
    ]);
    expect(messages.slice(2, 4)).toEqual([calls("1_2"), result("1_2", "b")]);
    expect(messages.slice(4)).toEqual([calls("1_3"), result("1_3")]);
    expect(repairs).toEqual([
      { kind: "callRenamed", index: 2, toolCallId: "1", newToolCallId: "1_2" },
      { kind: "callRenamed", index: 4, toolCallId: "1", newToolCallId: "1_3" },
    ]);
  });

  it("never gets a new one that another call has", () => {
    const { messages } = repair([
      calls("1"),
      result("1"),
      calls("1"),
      result("1"),
      calls("1_2"),
      result("1_2"),
    ]);
    expect(messages[2]).toEqual(calls("1_3"));
    expect(messages[4]).toEqual(calls("1_2"));
  });

  it("in a later message without a result: it gets a new one, and a result that says so", () => {
    const { messages, repairs } = repair([calls("1"), result("1"), calls("1"), user("go on")]);
    expect(messages.slice(2)).toEqual([
      calls("1_2"),
      { ...messages[3], ...interrupted("1_2") },
      user("go on"),
    ]);
    expect(repairs).toEqual([
      { kind: "callRenamed", index: 2, toolCallId: "1", newToolCallId: "1_2" },
      { kind: "resultMade", index: 2, toolCallId: "1", newToolCallId: "1_2" },
    ]);
  });

  it("in two messages whose results come later: the first result goes to the later call, the second is dropped", () => {
    const { messages, repairs } = repair([
      calls("1"),
      user("again"),
      calls("1"),
      result("1", "b"),
      result("1", "a"),
    ]);
    expect(messages[1]).toMatchObject(interrupted("1"));
    expect(messages.slice(3)).toEqual([calls("1_2"), result("1_2", "b")]);
    expect(repairs).toContainEqual({ kind: "resultDropped", index: 4, toolCallId: "1" });
  });

  it("in two messages with one result: the latest before the result is answered", () => {
    const { messages } = repair([calls("1"), user("again"), calls("1"), result("1")]);
    expect(messages[1]).toMatchObject(interrupted("1"));
    expect(messages.slice(3)).toEqual([calls("1_2"), result("1_2")]);
  });

  it("keeps a finished call its id where an aborted one had it before", () => {
    const aborted = assistant([text("x"), call("1")], { stopReason: "aborted" });
    expect(repair([aborted, calls("1"), result("1")]).messages.slice(1)).toEqual([calls("1"), result("1")]);
  });
});

describe("nonsense", () => {
  it("is survived", () => {
    const odd: AgentMessage[] = JSON.parse(`[
      null, 5, "x", [], {}, {"role":"assistant"}, {"role":"assistant","content":"text"},
      {"role":"assistant","content":[null, 5, "x", {"type":"toolCall"}, {"type":"toolCall","id":5}, {"type":"toolCall","id":"1"}]},
      {"role":"of-a-host","content":[{"type":"toolCall","id":"1"}]}
    ]`);
    const { messages, repairs } = repairToolPairs(odd);
    expect(messages.slice(0, 7)).toEqual(odd.slice(0, 7));
    expect(messages[7]).toMatchObject({ content: [null, 5, "x", { type: "toolCall", id: "1" }] });
    expect(messages[8]).toMatchObject({ role: "toolResult", toolCallId: "1", timestamp: 0 });
    expect(repairs.map(({ kind }) => kind)).toEqual(["callDropped", "callDropped", "resultMade"]);
  });

  it("ids named like members of objects are ids", () => {
    const { messages, repairs } = repair([
      calls("__proto__", "constructor"),
      result("constructor"),
      result("toString"),
    ]);
    expect(messages.map((message) => "toolCallId" in message && message.toolCallId)).toEqual([
      false,
      "constructor",
      "__proto__",
    ]);
    expect(repairs.map(({ kind }) => kind)).toEqual(["resultMade", "resultDropped"]);
  });

  it("takes linear time, though one id is used a hundred thousand times", () => {
    const messages = Array.from({ length: 100_000 }, () => [calls("x"), result("x")]).flat();
    const { repairs } = repairToolPairs(messages);
    expect(repairs).toHaveLength(99_999);
    const wide = [calls(...Array.from({ length: 100_000 }, (_, i) => `${i % 50_000}`))];
    expect(repairToolPairs(wide).messages).toHaveLength(50_001);
  });
});
