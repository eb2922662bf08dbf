import { convertToModelMessages, validateUIMessages } from "ai";
import {
  convertToModelMessages as convertToModelMessages5,
  validateUIMessages as validateUIMessages5,
} from "ai5";
import {
  convertToModelMessages as convertToModelMessages6,
  validateUIMessages as validateUIMessages6,
} from "ai6";
import { SessionManager } from "sessiontree";
import {
  appendConversation,
  fromModelMessages,
  fromUIMessages,
  toAnthropic,
  toModelMessages,
  toUIMessages,
} from "sessiontree/convert";
import { expect, it } from "vitest";
import { describeWith } from "../../support/sdk.ts";

const asked = (id: string, text: string) => ({ id, role: "user" as const, parts: [{ type: "text", text }] });
const answered = (...parts: object[]) => ({
  id: "a1",
  role: "assistant" as const,
  parts: [{ type: "step-start" }, ...parts.map((part) => Object.assign({ type: "" }, part))],
});
const call = (id: string, fields: object) => ({
  type: "tool-pay",
  toolCallId: id,
  input: { amount: 1 },
  ...fields,
});
const question = asked("u1", "Pay.");
const answer = (approved: boolean, fields: object = {}) => ({
  approval: { id: "ap1", approved, ...fields },
});
const done = { type: "text", text: "Done." };
const text = (said: string) => ({ type: "text", text: said });
const signature = { bedrock: { signature: "s" } };

/** Turns with a call that has an open or answered approval; turns that every version supports are in `CLIENT_TOOLS`. */
const CALLS = {
  "an open approval": [call("c1", { state: "approval-requested", approval: { id: "ap1" } })],
  "an approval signed by the server": [
    call("c1", {
      state: "approval-requested",
      approval: { id: "ap1", signature: "s", inputSchemaInput: { amount: "1" }, descriptor: { kind: "pay" } },
    }),
  ],
  "a granted approval": [call("c1", { state: "approval-responded", ...answer(true) })],
  "a granted approval with a reason": [
    text("One moment."),
    call("c1", { state: "approval-responded", ...answer(true, { reason: "Fine." }) }),
  ],
  "a denied approval": [call("c1", { state: "approval-responded", ...answer(false) })],
  "a denied approval with a reason": [
    call("c1", { state: "approval-responded", ...answer(false, { reason: "Too much." }) }),
  ],
  "an approved call that ran": [
    call("c1", { state: "output-available", output: { paid: true }, ...answer(true) }),
    { type: "step-start" },
    done,
  ],
  "an approved call that failed": [
    call("c1", { state: "output-error", errorText: "No money.", ...answer(true) }),
    { type: "step-start" },
    done,
  ],
  "a denied call": [
    call("c1", { state: "output-denied", ...answer(false, { reason: "Too much." }) }),
    { type: "step-start" },
    done,
  ],
  "a denied call without a reason": [
    call("c1", { state: "output-denied", ...answer(false) }),
    { type: "step-start" },
    done,
  ],
  "parallel calls with different answers": [
    call("c1", { state: "approval-responded", ...answer(true) }),
    call("c2", { state: "output-available", output: "x" }),
    call("c3", { state: "approval-responded", approval: { id: "ap3", approved: false, reason: "No." } }),
  ],
  "a call that the provider runs once it is approved": [
    {
      type: "dynamic-tool",
      toolName: "mcp",
      toolCallId: "c1",
      input: {},
      providerExecuted: true,
      state: "approval-responded",
      ...answer(true),
    },
  ],
  "an approval of a call with a state of its provider": [
    call("c1", { state: "approval-responded", callProviderMetadata: signature, ...answer(true) }),
  ],
  "a failed call with a state of its result": [
    call("c1", { state: "output-error", errorText: "No.", resultProviderMetadata: signature }),
    { type: "step-start" },
    done,
  ],
};

/** Turns that every version supports. */
const CLIENT_TOOLS = {
  "a client's tool that ran": [call("c1", { state: "output-available", output: { paid: true } })],
  "a client's tool that failed": [call("c1", { state: "output-error", errorText: "No." })],
  "several client's tools, and more steps": [
    call("c1", { state: "output-available", output: "x" }),
    call("c2", { state: "output-error", errorText: "No." }),
    { type: "step-start" },
    call("c3", { state: "output-available", output: [1] }),
    { type: "step-start" },
    done,
  ],
};

const timestamp = 1;

/** Converts messages to their JSON form, and a user's texts to parts. */
function plain(messages: unknown): unknown[] {
  const list: { role: string; content: unknown }[] = JSON.parse(JSON.stringify(messages));
  return list.map(({ role, content }) => ({
    role,
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  }));
}

const SDKS = [
  {
    sdk: 5,
    name: "ai5",
    turns: CLIENT_TOOLS,
    convert: async (messages: unknown) => convertToModelMessages5(await validateUIMessages5({ messages })),
  },
  {
    sdk: 6,
    name: "ai6",
    turns: { ...CLIENT_TOOLS, ...CALLS },
    convert: async (messages: unknown) => convertToModelMessages6(await validateUIMessages6({ messages })),
  },
  {
    sdk: 7,
    name: "ai",
    turns: {
      ...CLIENT_TOOLS,
      ...CALLS,
      "an automatic approval with a reason of the request": [
        call("c1", {
          state: "approval-responded",
          approval: { id: "ap1", approved: true, isAutomatic: true, requestReason: "It is dear." },
        }),
      ],
    },
    convert: async (messages: unknown) => convertToModelMessages(await validateUIMessages({ messages })),
  },
] as const;

for (const { sdk, name, turns, convert } of SDKS) {
  describeWith([name], `version ${sdk} of the AI SDK`, () => {
    it.each(Object.entries(turns))("receives its own converter's messages for %s", async (_, parts) => {
      const chat = [asked("u1", "Pay."), answered(...parts)];
      const { messages } = fromUIMessages(chat, { timestamp });
      expect(plain(toModelMessages(messages, { sdk }).messages)).toEqual(plain(await convert(chat)));
    });

    it.each(Object.entries(turns))("receives its model messages of %s unchanged", async (_, parts) => {
      const asked = await convert([question, answered(...parts)]);
      const { messages } = fromModelMessages(JSON.parse(JSON.stringify(asked)), { timestamp });
      expect(plain(toModelMessages(messages, { sdk }).messages)).toEqual(plain(asked));
    });
  });
}

describeWith(["ai"], "an approval that the user did not answer but spoke", () => {
  const waiting = call("c1", { state: "approval-requested", approval: { id: "ap1" } });

  it.each([
    ["alone", [waiting]],
    ["after a text", [text("May I?"), waiting]],
    ["next to a call that ran", [waiting, call("c2", { state: "output-available", output: "x" })]],
  ])("is left out as the SDK does: %s", async (_, parts) => {
    const chat = [asked("u1", "Pay."), answered(...parts), asked("u2", "Wait.")];
    const { messages } = fromUIMessages(chat, { timestamp });
    const request = toModelMessages(messages, { sdk: 7 });
    expect(plain(request.messages)).toEqual(plain(await SDKS[2].convert(chat)));
    expect(request.issues).toContainEqual(expect.objectContaining({ code: "PAIR_REPAIRED", index: 1 }));
  });
});

it("sends a denial to every provider", () => {
  const denied = call("c1", { state: "approval-responded", ...answer(false, { reason: "Too much." }) });
  const { messages } = fromUIMessages([asked("u1", "Pay."), answered(denied)], { timestamp });
  expect(JSON.stringify(toAnthropic(messages).messages)).toContain("Too much.");
});

it("shows approvals of model messages in the states of UI messages", () => {
  const request = { type: "tool-approval-request", approvalId: "ap1", toolCallId: "c1" };
  const response = { type: "tool-approval-response", approvalId: "ap1", approved: false, reason: "No." };
  const result = {
    type: "tool-result",
    toolCallId: "c1",
    toolName: "pay",
    output: { type: "execution-denied" },
  };
  const shown = (...said: object[][]) => {
    const input = { type: "tool-call", toolCallId: "c1", toolName: "pay", input: {} };
    const answers = said.map((parts) => ({ role: "tool" as const, content: parts.map(typed) }));
    const asking = { role: "assistant" as const, content: [input, request] };
    const { messages, issues } = fromModelMessages([asking, ...answers], { timestamp });
    expect(issues.filter(({ code }) => code !== "KEPT_IN_DETAILS")).toEqual([]);
    return toUIMessages(messages).messages[0]?.parts[1];
  };
  const typed = (part: object) => ({ type: "", ...part });
  expect(shown()).toMatchObject({ state: "approval-requested", approval: { id: "ap1" } });
  const approval = { id: "ap1", approved: false, reason: "No." };
  expect(shown([response])).toMatchObject({ state: "approval-responded", approval });
  expect(shown([response], [result])).toMatchObject({ state: "output-denied", approval });
});

it("reports an answer to a missing request", () => {
  const response = { type: "tool-approval-response", approvalId: "ap9", approved: true };
  const { issues } = fromModelMessages([{ role: "tool", content: [response] }], { timestamp });
  expect(issues).toMatchObject([{ code: "BLOCK_DROPPED", index: 0 }]);
});

it("leaves a list that a tool returned unchanged", () => {
  const call = { type: "tool-call", toolCallId: "c1", toolName: "list", input: {} };
  const output = { type: "json", value: [1, "a", null, { b: [2] }] };
  const asked = [
    { role: "user" as const, content: "Go" },
    { role: "assistant" as const, content: [call] },
    { role: "tool" as const, content: [{ type: "tool-result", toolCallId: "c1", toolName: "list", output }] },
  ];
  expect(toModelMessages(fromModelMessages(asked, { timestamp }).messages).messages).toEqual(asked);
});

it("does not branch for an array with an answered approval", () => {
  const input = { type: "tool-call", toolCallId: "c1", toolName: "pay", input: {} };
  const request = { type: "tool-approval-request", approvalId: "ap1", toolCallId: "c1" };
  const response = { type: "tool-approval-response", approvalId: "ap1", approved: true };
  const result = {
    type: "tool-result",
    toolCallId: "c1",
    toolName: "pay",
    output: { type: "text", value: "x" },
  };
  const asked = [
    { role: "user" as const, content: "Pay." },
    { role: "assistant" as const, content: [input, request] },
    { role: "tool" as const, content: [response] },
    { role: "tool" as const, content: [result] },
  ];
  const session = SessionManager.inMemory();
  for (const length of [2, 3, 4])
    appendConversation(session, fromModelMessages(asked.slice(0, length), { timestamp }).messages);
  expect([session.getLeaves().length, session.getEntryCount()]).toEqual([1, 3]);
});
