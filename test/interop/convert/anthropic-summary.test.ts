import { SessionManager } from "sessiontree";
import {
  appendAnthropicSummary,
  requestAnthropicSummary,
  toAnthropic,
  toOpenAIChat,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import { BindingChat, thinkingCall } from "../../support/thinking-binding/binding-chat.ts";

const model = "claude-opus-5-5";

/** A chat whose answers keep hashes of their requests, or do not. */
class SummarizedChat extends BindingChat {
  tells = false;

  override received(request: ReturnType<typeof toAnthropic>): object {
    return this.tells ? { request } : {};
  }

  /** Has the provider summarize all but the last turns. */
  summarize(keepRecentTokens = 12): string {
    const prepared = requestAnthropicSummary(this.session, { model, keepRecentTokens });
    expect(this.api.refusal(prepared.request, model)).toBeUndefined();
    const block = this.api.compact(prepared.request, "Notes.");
    return appendAnthropicSummary(this.session, prepared, summaryOf(block));
  }
}

function summaryOf(...content: object[]) {
  return {
    id: "msg_s",
    model,
    content: content.map((block) => ({ ...block, type: "type" in block ? String(block.type) : "" })),
    stop_reason: "compaction",
    usage: { input_tokens: 100, output_tokens: 20 },
  };
}

function start(tells = false): SummarizedChat {
  const chat = new SummarizedChat(SessionManager.inMemory());
  chat.tells = tells;
  chat.session.appendMessage({ role: "system", content: "Help.", timestamp: 1 });
  for (const turn of ["One.", "Two.", "Three."]) {
    chat.say(turn);
    chat.ask(thinkingCall(`toolu_${turn.length}_${turn.charCodeAt(0)}`));
    chat.result(`toolu_${turn.length}_${turn.charCodeAt(0)}`, "found");
    chat.ask();
  }
  return chat;
}

describe("a summary by the provider", () => {
  it("is named as the cause where a kept answer's request had a late result, whose call was summarized", () => {
    const chat = new SummarizedChat(SessionManager.inMemory());
    chat.say("Begin.");
    chat.ask(thinkingCall("c1"));
    chat.ask();
    chat.result("c1", "found");
    chat.say("More.");
    chat.ask();
    const id = chat.summarize(3);
    chat.say("End.");
    const { issues } = toAnthropic(chat.session, { model });
    const causes = issues.flatMap(({ code, causedBy }) => (code === "THINKING_DROPPED" ? [causedBy] : []));
    expect(causes).toEqual([id]);
  });

  it("is not the cause if the system text differs", () => {
    const chat = start(true);
    chat.summarize();
    chat.say("End.");
    const { issues } = toAnthropic(chat.session, { model, system: "Other text." });
    const dropped = issues.filter(({ code }) => code === "THINKING_DROPPED");
    expect(dropped).toHaveLength(2);
    for (const issue of dropped) {
      expect(issue.message).toMatch(/^Dropped thinking whose request had a different system text/);
      expect(issue.causedBy).toBeUndefined();
    }
  });

  it.each([false, true])(
    "is sent back verbatim and first, and kept turns keep their thinking (hashes kept: %s)",
    (tells) => {
      const chat = start(tells);
      const id = chat.summarize();
      const entry = chat.session.getEntry(id);
      expect(entry).toMatchObject({
        type: "compaction",
        summary: "Notes.",
        usage: { input: 100, output: 20 },
      });
      chat.say("Four.");
      const { messages, system, issues } = toAnthropic(chat.session, { model });
      expect(system).toBe("Help.");
      expect(messages[0]).toEqual({
        role: "assistant",
        content: [
          { type: "compaction", content: "Notes.", encrypted_content: null, signature: expect.any(String) },
        ],
      });
      expect(messages[1]?.role).toBe("user");
      expect(issues).toEqual([]);
      expect(JSON.stringify(messages).split('"thinking":').length - 1).toBe(2);
      chat.ask();
      chat.say("Five.");
      chat.ask();
      expect(chat.sentVoid).toEqual([]);
      chat.summarize();
      chat.say("Six.");
      chat.ask();
      chat.say("Seven.");
      chat.request();
      expect(chat.sentVoid).toEqual([]);
      expect(JSON.stringify(chat.last?.messages).split('"thinking":').length - 1).toBeGreaterThan(1);
    },
  );

  it("loses subsequent changes", () => {
    for (const tells of [false, true]) {
      const chat = start(tells);
      chat.summarize();
      const kept = chat.session.buildContextEntries().find(({ type }) => type === "message");
      const edit = chat.session.appendContextEdit(kept?.id ?? "", { content: "Changed." });
      chat.say("Four.");
      const { issues } = chat.request();
      expect(chat.sentVoid).toEqual([]);
      expect(issues.map(({ code, causedBy }) => [code, causedBy])).toEqual([
        ["THINKING_DROPPED", edit],
        ["THINKING_DROPPED", edit],
      ]);
    }
  });

  it("is text for other models and for messages alone", () => {
    const chat = start();
    chat.summarize();
    chat.say("Four.");
    const { messages } = toAnthropic(chat.session.buildSessionContext().messages, { model });
    for (const request of [
      toOpenAIChat(chat.session),
      toAnthropic(chat.session, { model: "claude-opus-5" }),
      { messages },
    ])
      expect(JSON.stringify(request.messages[0] ?? "") + JSON.stringify(request.messages[1] ?? "")).toMatch(
        /<summary>\\nNotes\.|Notes\./,
      );
    expect(JSON.stringify(toAnthropic(chat.session, { model: "claude-opus-5" }).messages)).not.toMatch(
      /"compaction"/,
    );
  });

  it("is refused without a text, after the branch was left, and for older models", () => {
    const chat = start();
    const prepared = requestAnthropicSummary(chat.session, {
      model,
      keepRecentTokens: 1,
      instructions: "Short.",
    });
    expect(prepared.request.compaction).toEqual({ type: "summarize", instructions: "Short." });
    const failed = { type: "compaction", content: null, encrypted_content: null };
    const append = (block: object) => () => appendAnthropicSummary(chat.session, prepared, summaryOf(block));
    expect(append(failed)).toThrow(expect.objectContaining({ code: "SUMMARY_FAILED" }));
    expect(append({ type: "text", text: "Notes." })).toThrow(
      expect.objectContaining({ code: "SUMMARY_FAILED" }),
    );
    chat.session.branch(chat.session.getPathIds()[1] ?? "");
    expect(append({ ...failed, content: "Notes." })).toThrow(expect.objectContaining({ code: "STALE_LEAF" }));
    expect(() => requestAnthropicSummary(chat.session, { model })).toThrow(
      expect.objectContaining({ code: "NOTHING_TO_COMPACT" }),
    );
    const old = start();
    expect(() =>
      requestAnthropicSummary(old.session, { model: "claude-opus-5", keepRecentTokens: 1 }),
    ).toThrow(TypeError);
  });

  it("is an ordinary one if its kept data is damaged", () => {
    const chat = start();
    const prepared = requestAnthropicSummary(chat.session, { model, keepRecentTokens: 1 });
    const details = {
      anthropic: [{ type: "compaction", content: "Notes." }],
      summaryRequestHash: { kept: [] },
    };
    chat.session.appendCompaction("Notes.", prepared.firstKeptEntryId, 10, details);
    chat.say("Four.");
    const request = chat.request();
    expect(chat.sentVoid).toEqual([]);
    expect(request.messages[0]?.role).toBe("user");
  });
});
