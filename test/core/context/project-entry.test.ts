import { describe, expect, it } from "vitest";
import {
  projectContextEntry,
  projectSelectedEntry,
  sessionEntryToContextMessages,
} from "../../../src/core/context/project-entry.ts";
import type { AnySessionEntry, ContextEditEntry } from "../../../src/core/format/entry.ts";
import type { AgentMessage } from "../../../src/core/format/message.ts";
import { assistant, user } from "../../support/messages.ts";
import { call, Line, result, system, timeMs } from "./support/entries.ts";

const raw = (type: string, body: object): AnySessionEntry => new Line().raw(type, body);
const edit = (replacement: ContextEditEntry["replacement"]) => new Line().edit("e1", replacement);
const rawEdit = (replacement: unknown): ContextEditEntry => ({
  type: "context_edit",
  id: "x",
  parentId: null,
  timestamp: "",
  targetId: "e1",
  ...JSON.parse(JSON.stringify({ replacement })),
});

const bash: AgentMessage = {
  role: "bashExecution",
  command: "ls",
  output: "",
  exitCode: 0,
  cancelled: false,
  truncated: false,
  timestamp: 1,
};

describe("a message", () => {
  it.each<[string, AgentMessage]>([
    ["system", system("rules")],
    ["user", user("hello")],
    ["assistant", assistant([call("c1")])],
    ["toolResult", result("c1")],
    ["bashExecution", bash],
    ["custom", { role: "custom", customType: "t", content: "x", display: true, timestamp: 1 }],
  ])("of role %s is the stored object", (_role, message) => {
    const projected = sessionEntryToContextMessages(new Line().message(message));
    expect(projected).toHaveLength(1);
    expect(projected[0]).toBe(message);
  });

  it.each(["user", "assistant", "toolResult"])("of role %s without content gets an empty list", (role) => {
    const expected = [{ role, content: [], extra: 1 }];
    expect(sessionEntryToContextMessages(raw("message", { message: { role, extra: 1 } }))).toEqual(expected);
    for (const content of [null, 5, {}, true]) {
      const entry = raw("message", { message: { role, content, extra: 1 } });
      expect(sessionEntryToContextMessages(entry)).toEqual(expected);
    }
  });

  it("of role system without content gets an empty string", () => {
    const entry = raw("message", { message: { role: "system", content: null, sections: { a: "b" } } });
    expect(sessionEntryToContextMessages(entry)).toEqual([
      { role: "system", content: "", sections: { a: "b" } },
    ]);
  });

  it.each([["custom"], ["bashExecution"], ["of-a-host"]])(
    "of role %s without content stays as it is",
    (role) => {
      const entry = raw("message", { message: { role } });
      expect(sessionEntryToContextMessages(entry)[0]).toBe("message" in entry && entry.message);
    },
  );

  it("of an assistant, stored as a string, gets one text block", () => {
    const message = { role: "assistant", content: "plain" };
    expect(sessionEntryToContextMessages(raw("message", { message }))).toEqual([
      { role: "assistant", content: [{ type: "text", text: "plain" }] },
    ]);
  });

  it("keeps a string where a list is usual", () => {
    const message = { role: "toolResult", toolCallId: "c", content: "plain" };
    expect(sessionEntryToContextMessages(raw("message", { message }))[0]).toBe(message);
  });

  it.each([[undefined], [null], ["text"], [5], [[]], [{}], [{ role: 5 }]])(
    "that is %j contributes nothing",
    (message) => {
      expect(sessionEntryToContextMessages(raw("message", { message }))).toEqual([]);
    },
  );

  it("keeps a key named __proto__ as a key", () => {
    const message = JSON.parse('{"role":"user","content":null,"__proto__":{"polluted":true}}');
    const [projected] = sessionEntryToContextMessages(raw("message", { message }));
    expect(Object.hasOwn(projected ?? {}, "__proto__")).toBe(true);
    expect(projected).not.toHaveProperty("polluted");
  });
});

describe("a compaction", () => {
  it("becomes its summary, at its time", () => {
    const entry = new Line().compaction("e1", { summary: "what was", tokensBefore: 42 });
    expect(sessionEntryToContextMessages(entry)).toEqual([
      { role: "compactionSummary", summary: "what was", tokensBefore: 42, timestamp: timeMs(1) },
    ]);
  });

  it("replays its system message first, the same object", () => {
    const systemMessage = system("rules");
    const messages = sessionEntryToContextMessages(new Line().compaction("e1", { systemMessage }));
    expect(messages.map(({ role }) => role)).toEqual(["system", "compactionSummary"]);
    expect(messages[0]).toBe(systemMessage);
  });

  it("adds the messages that it carries after the summary", () => {
    const tail = [user("kept"), assistant("also")];
    const entry = raw("compaction", { summary: "s", retainedTail: tail });
    const messages = sessionEntryToContextMessages(entry);
    expect(messages.slice(1)).toEqual(tail);
    expect(messages[1]).toBe(tail[0]);
  });

  it("omits them if it names a kept entry, unless requested", () => {
    const entry = new Line().compaction("elsewhere", { retainedTail: [user("kept")] });
    expect(projectContextEntry(entry)).toHaveLength(1);
    expect(projectSelectedEntry(entry, undefined, true)).toHaveLength(2);
  });

  it("survives invalid values in every field", () => {
    const entry = raw("compaction", {
      summary: 5,
      tokensBefore: "many",
      timestamp: "not a time",
      systemMessage: user("not a system message"),
      retainedTail: [null, "x", [], { role: "user" }, user("good")],
    });
    expect(sessionEntryToContextMessages(entry)).toEqual([
      { role: "compactionSummary", summary: "", tokensBefore: 0, timestamp: 0 },
      { role: "user", content: [] },
      user("good"),
    ]);
    expect(
      sessionEntryToContextMessages(raw("compaction", { retainedTail: "x", systemMessage: [] })),
    ).toHaveLength(1);
  });

  it("handles a long list of carried messages", () => {
    const retainedTail = Array.from({ length: 200_000 }, () => user("x"));
    expect(sessionEntryToContextMessages(raw("compaction", { summary: "s", retainedTail }))).toHaveLength(
      200_001,
    );
  });
});

describe("other entries", () => {
  it("a branch summary becomes a message unless it is empty", () => {
    const entry = raw("branch_summary", { summary: "there", fromId: "e9" });
    expect(sessionEntryToContextMessages(entry)).toEqual([
      { role: "branchSummary", summary: "there", fromId: "e9", timestamp: timeMs(1) },
    ]);
    for (const summary of ["", null, undefined, 5, ["a"]]) {
      expect(sessionEntryToContextMessages(raw("branch_summary", { summary, fromId: "e9" }))).toEqual([]);
    }
    expect(sessionEntryToContextMessages(raw("branch_summary", { summary: "s", fromId: 3 }))).toMatchObject([
      { fromId: null },
    ]);
  });

  it("a custom message becomes a message of role custom", () => {
    const body = { customType: "note", content: "x", display: false, details: { a: 1 } };
    expect(sessionEntryToContextMessages(raw("custom_message", body))).toEqual([
      { role: "custom", ...body, timestamp: timeMs(1) },
    ]);
  });

  it.each([[undefined], [null], [5], [{}]])(
    "a custom message with content %j has an empty list",
    (content) => {
      const [message] = sessionEntryToContextMessages(raw("custom_message", { customType: "note", content }));
      expect(message).toMatchObject({ role: "custom", customType: "note", content: [] });
      expect(message).not.toHaveProperty("details");
    },
  );

  it("a custom message has no type and no display that its entry lacks", () => {
    const entry = raw("custom_message", { content: "x" });
    expect(sessionEntryToContextMessages(entry)).toStrictEqual([
      { role: "custom", content: "x", timestamp: timeMs(1) },
    ]);
  });

  it("times may be numbers", () => {
    const entry = raw("branch_summary", { summary: "s", fromId: "e", timestamp: 1234 });
    expect(sessionEntryToContextMessages(entry)).toMatchObject([{ timestamp: 1234 }]);
  });

  it.each([
    "thinking_level_change",
    "model_change",
    "usage",
    "custom",
    "context_edit",
    "label",
    "session_info",
    "leaf",
    "constructor",
    "__proto__",
  ])("%s contributes nothing", (type) => {
    expect(
      sessionEntryToContextMessages(raw(type, { message: user("x"), content: "x", summary: "x" })),
    ).toEqual([]);
  });
});

describe("a context edit", () => {
  it("of null removes the messages of the target", () => {
    const line = new Line();
    for (const entry of [
      line.message(bash),
      line.compaction("e1"),
      raw("branch_summary", { summary: "s" }),
    ]) {
      expect(projectContextEntry(entry, edit(null))).toEqual([]);
    }
  });

  it("replaces the content and nothing else, in a copy", () => {
    const message = user("before");
    const entry = new Line().message(message);
    expect(projectContextEntry(entry, edit({ content: "after" }))).toEqual([
      { ...message, content: "after" },
    ]);
    expect(message.content).toBe("before");
  });

  it("converts a text to one block for an assistant and a tool result", () => {
    const blocks = [{ type: "text", text: "after" }];
    for (const message of [assistant("before"), result("c1")]) {
      const projected = projectContextEntry(new Line().message(message), edit({ content: "after" }));
      expect(projected).toEqual([{ ...message, content: blocks }]);
    }
  });

  it("applies to custom messages, stored or converted", () => {
    const stored = new Line().message({
      role: "custom",
      customType: "t",
      content: "a",
      display: true,
      timestamp: 1,
    });
    const made = raw("custom_message", { customType: "t", content: "a", display: true });
    for (const entry of [stored, made]) {
      expect(projectContextEntry(entry, edit({ content: "b" }))).toMatchObject([
        { role: "custom", content: "b" },
      ]);
    }
  });

  it("adds content to a message without content", () => {
    const entry = raw("message", { message: { role: "assistant", content: null } });
    expect(projectContextEntry(entry, edit({ content: [{ type: "text", text: "b" }] }))).toEqual([
      { role: "assistant", content: [{ type: "text", text: "b" }] },
    ]);
  });

  it("does not change system messages, commands, summaries, and unknown roles", () => {
    const host = raw("message", { message: { role: "of-a-host", content: "a" } });
    for (const entry of [
      new Line().message(system("a")),
      new Line().message(bash),
      host,
      new Line().compaction("x"),
    ]) {
      expect(projectContextEntry(entry, edit({ content: "b" }))).toEqual(projectContextEntry(entry));
    }
  });

  it.each([[undefined], ["text"], [5], [[]], [{}], [{ content: null }], [{ content: 5 }]])(
    "with content %j is ignored",
    (replacement) => {
      const entry = new Line().message(user("a"));
      expect(projectContextEntry(entry, rawEdit(replacement))).toEqual(projectContextEntry(entry));
    },
  );
});
