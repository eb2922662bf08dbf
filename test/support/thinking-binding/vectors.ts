/** A message of a request; `$0` is replaced with the first signature of thinking, `$1` with the second. */
interface VectorMessage {
  readonly role: "user" | "assistant" | "system";
  readonly content: string | readonly object[];
}

/** A request and its model. */
interface VectorRequest {
  readonly model: string;
  readonly system?: string | readonly object[];
  readonly tools?: readonly object[];
  readonly messages: readonly VectorMessage[];
}

/** Expected verdict on one request after others were answered. */
export interface BindingVector {
  readonly name: string;
  /** Requests that were answered with one block of thinking each, in order. */
  readonly answered: readonly VectorRequest[];
  readonly asked: VectorRequest;
  /** For each block of thinking in the request, the reason why it is not valid; "valid" if it is. */
  readonly verdicts: readonly string[];
  /** Account of the request, if it is not the one of the answers. */
  readonly account?: string;
}

const model = "claude-opus-5-5";
const PREFIX = "prefix_binding_mismatch";
const user = (content: VectorMessage["content"]): VectorMessage => ({ role: "user", content });
const thought = (signature: string) => ({ type: "thinking", thinking: "", signature });
const answer = (signature: string, text: string): VectorMessage => ({
  role: "assistant",
  content: [thought(signature), { type: "text", text }],
});
const unthinking = (text: string): VectorMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
});

const first = { model, system: "Be brief.", tools: [{ name: "read" }], messages: [user("u1")] };
const second = { ...first, messages: [user("u1"), answer("$0", "a1"), user("u2")] };
const third = { ...first, messages: [...second.messages, answer("$1", "a2"), user("u3")] };

/** Requests of the check by which Claude binds thinking, with their verdicts: from docs/messages.md and the published facts. */
export const BINDING_VECTORS: readonly BindingVector[] = [
  {
    name: "a continuation is valid",
    answered: [first, second],
    asked: third,
    verdicts: ["valid", "valid"],
  },
  {
    name: "a changed earlier message voids the thinking after it, and not before it",
    answered: [first, second],
    asked: {
      ...third,
      messages: [user("u1"), answer("$0", "a1"), user("changed"), answer("$1", "a2"), user("u3")],
    },
    verdicts: ["valid", PREFIX],
  },
  {
    name: "another system text voids all",
    answered: [first, second],
    asked: { ...third, system: "Be long." },
    verdicts: [PREFIX, PREFIX],
  },
  {
    name: "other tools void all",
    answered: [first],
    asked: { ...second, tools: [{ name: "write" }] },
    verdicts: [PREFIX],
  },
  {
    name: "thinking generated after a change is valid",
    answered: [first, { ...first, messages: [user("changed"), unthinking("a1"), user("u2")] }],
    asked: {
      ...first,
      messages: [user("changed"), unthinking("a1"), user("u2"), answer("$1", "a2"), user("u3")],
    },
    verdicts: ["valid"],
  },
  {
    name: "thinking may be missing at the start",
    answered: [first, second],
    asked: {
      ...third,
      messages: [user("u1"), unthinking("a1"), user("u2"), answer("$1", "a2"), user("u3")],
    },
    verdicts: ["valid"],
  },
  {
    name: "thinking may not be missing in the middle",
    answered: [first, second, third],
    asked: {
      ...first,
      messages: [
        ...[user("u1"), answer("$0", "a1"), user("u2"), unthinking("a2")],
        ...[user("u3"), answer("$2", "a3"), user("u4")],
      ],
    },
    verdicts: ["valid", PREFIX],
  },
  {
    name: "restored thinking voids the thinking after it",
    answered: [first, { ...first, messages: [user("u1"), unthinking("a1"), user("u2")] }],
    asked: third,
    verdicts: ["valid", PREFIX],
  },
  {
    name: "cache marks, and a string for one text block, do not count as changes",
    answered: [first],
    asked: {
      ...second,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [
        user([{ type: "text", text: "u1", cache_control: { type: "ephemeral" } }]),
        answer("$0", "a1"),
        user("u2"),
      ],
    },
    verdicts: ["valid"],
  },
  {
    name: "a message of role system is part of the prefix",
    answered: [first],
    asked: {
      ...second,
      messages: [user("u1"), { role: "system", content: "New." }, answer("$0", "a1"), user("u2")],
    },
    verdicts: [PREFIX],
  },
  {
    name: "another model's thinking is left out without an error",
    answered: [first],
    asked: { ...second, model: "claude-haiku-5-5" },
    verdicts: ["model_binding_mismatch"],
  },
  {
    name: "a name with a date is the same model",
    answered: [{ ...first, model: "claude-opus-5-5-20260901" }],
    asked: second,
    verdicts: ["valid"],
  },
  {
    name: "the date of a model's name is not a minor version",
    answered: [{ ...first, model: "claude-opus-5-20260401" }],
    asked: { ...second, model: "claude-opus-5", system: "Be long." },
    verdicts: ["valid"],
  },
  {
    name: "models before 5.1 do not bind",
    answered: [{ ...first, model: "claude-sonnet-4-5" }],
    asked: { ...second, model: "claude-sonnet-4-5", system: "Be long." },
    verdicts: ["valid"],
  },
  {
    name: "another account's thinking is left out without an error",
    answered: [first],
    asked: second,
    verdicts: ["organization_binding_mismatch"],
    account: "org-2",
  },
];
