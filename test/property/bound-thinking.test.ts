import { isSessionError, SessionManager } from "sessiontree";
import { appendAnthropicSummary, requestAnthropicSummary, requestChanges } from "sessiontree/convert";
import { expect, test } from "vitest";
import fc from "../support/fast-check.ts";
import { BindingChat, thinking, thinkingCall } from "../support/thinking-binding/binding-chat.ts";

/** Number of a step; chooses among the existing entries. */
const pick = fc.nat({ max: 60 });
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom("ask" as const, "askCalling" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("askOther" as const, "abort" as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("result" as const), of: pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("say" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("edit" as const),
      of: pick,
      content: fc.constantFrom(null, "a", "b", "found"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("compact" as const, "redact" as const), of: pick }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("branch" as const), of: pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("summarize" as const), keep: fc.nat({ max: 40 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("system" as const, "label" as const, "note" as const) }),
  },
);

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Returns the system text and the messages of a request without thinking, as strings. */
function bare(request: BindingChat["last"]): string[] {
  const messages = request?.messages.map(({ role, content }) => {
    const blocks = typeof content === "string" ? content : content.filter(({ type }) => type !== "thinking");
    return JSON.stringify([role, blocks]);
  });
  return [request?.system ?? "", ...(messages ?? [])];
}

class TellingChat extends BindingChat {
  override received(request: ReturnType<BindingChat["request"]>): object {
    return { request };
  }
}

class Story {
  readonly session = SessionManager.inMemory();
  readonly chat: BindingChat;
  readonly other: BindingChat;
  readonly #redacted = new Set<string>();
  #last: { readonly id: string; readonly sent: readonly string[] } | undefined;
  #calls = 0;
  #time = 100;

  constructor(tells: boolean) {
    const Chat = tells ? TellingChat : BindingChat;
    this.chat = new Chat(this.session);
    this.other = new Chat(this.session, { api: this.chat.api, model: "claude-haiku-5-5" });
  }

  run(one: Step): void {
    const { session, chat, other } = this;
    // Providers reject a request without a user message.
    if (!session.buildSessionContext().messages.some(({ role }) => role === "user")) chat.say("Again.");
    switch (one.kind) {
      case "ask":
        this.#ask();
        break;
      case "askCalling":
        chat.ask(thinkingCall(`c${++this.#calls}`));
        break;
      case "askOther":
        other.ask();
        break;
      case "abort":
        this.#abort();
        break;
      case "summarize":
        this.#summarize(one.keep);
        break;
      case "say":
        chat.say(`Prompt ${++this.#time}`);
        break;
      case "result":
        chat.result(`c${(one.of % (this.#calls + 1)) + 1}`, "found");
        break;
      case "system":
        session.appendMessage({ role: "system", content: `Rule ${++this.#time}`, timestamp: 1 });
        break;
      case "label":
        session.appendSessionInfo("name");
        break;
      case "note":
        session.appendCustomMessageEntry("note", `Note ${++this.#time}`, true);
        break;
      default:
        this.#change(one, this.#pickId(one.of));
    }
  }

  #change(one: Extract<Step, { of: number }>, id: string | undefined): void {
    const { session } = this;
    if (id === undefined) return;
    const entry = session.getEntry(id);
    const isMessage = entry?.type === "message" && entry.message.role !== "system";
    if (one.kind === "branch") session.branch(id);
    else if (one.kind === "compact" && session.getPathIds().includes(id))
      session.appendCompaction(`Notes ${++this.#time}`, id, 10);
    // What is redacted once more may say the same, which no record tells.
    else if (one.kind === "redact" && isMessage && !this.#redacted.has(id)) {
      this.#redacted.add(id);
      session.redactEntry(id);
    } else if (one.kind === "edit" && isMessage && session.getPathIds().includes(id)) {
      const { content } = one;
      session.appendContextEdit(id, content === null ? null : { content });
    }
  }

  #pickId(number: number): string | undefined {
    const entries = this.session.getEntries();
    return entries[number % Math.max(1, entries.length)]?.id;
  }

  /** Sends a request, and compares it with the previous one: either it continues that one, or a change is reported. */
  #ask(): void {
    const before = this.#last;
    const id = this.chat.ask();
    const sent = bare(this.chat.last);
    this.#last = { id, sent };
    if (before === undefined || !this.session.getPathIds().includes(before.id)) return;
    const continues = before.sent.every((message, at) => message === sent[at]);
    const change = requestChanges(this.session, before.id, id);
    if (continues || change === undefined) expect(continues).toBe(change === undefined);
    else expect(this.session.getEntry(change.causedBy ?? ""), change.message).toBeDefined();
  }

  /** Requests a summary from the provider, if there is anything to summarize. */
  #summarize(keepRecentTokens: number): void {
    const { api, model } = this.chat;
    try {
      const prepared = requestAnthropicSummary(this.session, { model, keepRecentTokens });
      this.chat.sentVoid.push(...[api.refusal(prepared.request, model) ?? []].flat());
      const block = { type: "compaction", ...api.compact(prepared.request, `Notes ${++this.#time}`) };
      appendAnthropicSummary(this.session, prepared, {
        ...{ id: "msg_s", model, stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 1 } },
        content: [block],
      });
    } catch (error) {
      if (!isSessionError(error, "NOTHING_TO_COMPACT")) throw error;
    }
  }

  #abort(): void {
    const request = this.chat.request();
    const signed = this.chat.api.sign(request, this.chat.model, [thinking()]);
    this.session.appendMessage({ ...this.chat.answer(request, signed), stopReason: "aborted" });
  }
}

test("no request of a random tree holds invalid thinking, lacks valid thinking, or drops it without naming an entry", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, tells) => {
      const story = new Story(tells);
      story.chat.say("Begin.");
      for (const one of steps) story.run(one);
      story.chat.say("End.");
      story.chat.request();
      const { chat, other, session } = story;
      expect({ void: chat.sentVoid, leftOut: chat.leftOut }).toEqual({ void: [], leftOut: [] });
      expect({ void: other.sentVoid, leftOut: other.leftOut }).toEqual({ void: [], leftOut: [] });
      for (const { code, message, causedBy } of chat.last?.issues ?? []) {
        if (code !== "THINKING_DROPPED" || message.includes("would reject")) continue;
        expect(session.getEntry(causedBy ?? ""), message).toBeDefined();
      }
    }),
    { numRuns: 200 },
  );
});
