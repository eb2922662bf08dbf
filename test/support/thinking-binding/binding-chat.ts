import type { AgentMessage, SessionManager } from "sessiontree";
import { fromAnthropicResponse, toAnthropic } from "sessiontree/convert";
import { fields, list, text } from "../provider-rules/json.ts";
import { BindingCheck } from "./binding-check.ts";

/** Blocks of an answer in Anthropic's form. */
type Content = readonly { readonly type: string; readonly [field: string]: unknown }[];

type Options = Parameters<typeof toAnthropic>[1];

/** A chat with a model that binds its thinking, in a session: sends requests as a host does, and counts faults. */
export class BindingChat {
  readonly api: BindingCheck;
  readonly model: string;
  session: SessionManager;
  /** Number of tokens that the provider counts in a request. */
  inputTokens = 10;
  /** Number of requests. */
  requests = 0;
  /** Void signatures that were sent, with the number of their request. */
  readonly sentVoid: string[] = [];
  /** Valid signatures that were not sent. */
  readonly leftOut: string[] = [];
  /** The last request. */
  last: ReturnType<typeof toAnthropic> | undefined;
  #time = 0;

  constructor(session: SessionManager, { model = "claude-opus-5-5", api = new BindingCheck() } = {}) {
    this.session = session;
    this.model = model;
    this.api = api;
  }

  say(content: string): string {
    return this.session.appendMessage({ role: "user", content, timestamp: ++this.#time });
  }

  /** Sends a request at the leaf, checks it, and appends the answer. */
  ask(content: Content = [thinking(), { type: "text", text: "Done." }], options: Options = {}): string {
    const request = this.request(options);
    const signed = this.api.sign(request, this.model, content);
    return this.session.appendMessage(this.answer(request, signed));
  }

  /** Makes the request at the leaf, and checks it. */
  request(options: Options = {}): ReturnType<typeof toAnthropic> {
    const { model } = this;
    const request = toAnthropic(this.session, { model, ...options });
    this.requests++;
    this.last = request;
    const checked = this.api.check(request, model);
    for (const { signature, reason } of checked)
      if (reason !== undefined) this.sentVoid.push(`${this.requests}: ${signature} ${reason}`);
    const sent = new Set(checked.map(({ signature }) => signature));
    for (const signature of this.#mostValid(options))
      if (!sent.has(signature)) this.leftOut.push(`${this.requests}: ${signature}`);
    return request;
  }

  answer(request: ReturnType<typeof toAnthropic>, content: readonly object[]) {
    const isCalling = content.some((block) => fields(block)["type"] === "tool_use");
    const response = {
      id: `msg_${this.requests}`,
      model: this.model,
      content: content.map((block) => ({ ...block, type: text(fields(block)["type"]) })),
      stop_reason: isCalling ? "tool_use" : "end_turn",
      usage: { input_tokens: this.inputTokens, output_tokens: 5 },
    };
    return fromAnthropicResponse(response, { timestamp: ++this.#time, ...this.received(request) }).message;
  }

  /**
   * Returns the request facts that the host passes to `fromAnthropicResponse`; none, so that only the tree determines what was
   * sent.
   */
  received(_request: ReturnType<typeof toAnthropic>): object {
    return {};
  }

  result(toolCallId: string, said: string, place: Parameters<SessionManager["append"]>[1] = {}): string {
    const message: AgentMessage = {
      role: "toolResult",
      toolCallId,
      toolName: "bash",
      content: [{ type: "text", text: said }],
      isError: false,
      timestamp: ++this.#time,
    };
    return this.session.append({ type: "message", message }, place);
  }

  /**
   * Finds the signatures that could be sent: from a request with all thinking, the first void one is removed until none is left.
   */
  #mostValid(options: Options): string[] {
    const { messages } = this.session.buildSessionContext();
    let request: { readonly messages: readonly object[] } = toAnthropic(messages, {
      model: this.model,
      ...options,
    });
    for (;;) {
      const checked = this.api.check(request, this.model);
      const wrong = checked.find(({ reason }) => reason !== undefined);
      if (wrong === undefined) return checked.map(({ signature }) => signature);
      request = { ...request, messages: request.messages.map((one) => without(one, wrong.signature)) };
    }
  }
}

function without(message: object, signature: string): object {
  const { content } = fields(message);
  if (!Array.isArray(content)) return message;
  return { ...message, content: list(content).filter((block) => fields(block)["signature"] !== signature) };
}

/** Returns a block of thinking whose text the provider left out, before it is signed. */
export function thinking() {
  return { type: "thinking", thinking: "", signature: "" };
}

/** Returns an answer that thinks and calls a tool. */
export function thinkingCall(id: string) {
  return [thinking(), { type: "tool_use", id, name: "bash", input: { command: id } }];
}
