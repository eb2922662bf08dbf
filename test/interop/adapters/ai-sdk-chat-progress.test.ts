import { convertToModelMessages, validateUIMessages } from "ai";
import {
  convertToModelMessages as convertToModelMessages6,
  validateUIMessages as validateUIMessages6,
} from "ai6";
import { SessionManager } from "sessiontree";
import { loadChat, saveChat } from "sessiontree/adapters";
import { toAnthropic, toModelMessages } from "sessiontree/convert";
import { expect, test } from "vitest";
import fc from "../../support/fast-check.ts";
import { describeWith } from "../../support/sdk.ts";
import { scaleCount } from "../../support/share.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const asked = (id: string, text: string) => ({
  id,
  role: "user" as const,
  parts: [{ type: "text" as const, text }],
});
const step = { type: "step-start" };
const text = (said: string, state = "done") => ({ type: "text", text: said, state });
const pay = (fields: object, id = "c1") => ({
  type: "tool-pay",
  toolCallId: id,
  input: { amount: 1 },
  ...fields,
});
const answered = (parts: readonly object[], fields: object = {}) => ({
  id: "a1",
  role: "assistant" as const,
  ...fields,
  parts: parts.map((part) => Object.assign({ type: "" }, part)),
});
const tokens = (inputTokens: number, outputTokens: number) => ({
  metadata: { totalUsage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens } },
});

function onFile() {
  return SessionManager.create("/projects/shop", { sessionDir: temporaryFolder() });
}
const reopened = (session: SessionManager) => SessionManager.open(session.getSessionFile() ?? "");

/** Returns the tokens of all calls in a session. */
function tokensOf(session: SessionManager): number {
  return session.getEntries().reduce((sum, entry) => {
    if (entry.type === "usage") return sum + entry.usage.totalTokens;
    const isAnswer = entry.type === "message" && entry.message.role === "assistant";
    return isAnswer && entry.message.role === "assistant" ? sum + entry.message.usage.totalTokens : sum;
  }, 0);
}

/** Saves states of a chat in order and checks after each that it is now the chat. */
async function saveAll(session: SessionManager, states: readonly (readonly ReturnType<typeof answered>[])[]) {
  for (const state of states) {
    const chat = [asked("u1", "Pay."), ...state];
    expect(await saveChat(session, chat)).toMatchObject({ hasBranched: false });
    expect(loadChat(session)).toEqual(chat);
    expect(loadChat(reopened(session))).toEqual(chat);
    expect(await saveChat(session, chat)).toMatchObject({ entryIds: [], hasBranched: false });
    expect(session.getLeaves()).toHaveLength(1);
  }
}

test("stores a browser tool's call as one branch and counts each call's tokens once", async () => {
  const session = onFile();
  const before = [step, text("One moment."), pay({ state: "input-available" })];
  const after = [step, text("One moment."), pay({ state: "output-available", output: { paid: true } })];
  await saveAll(session, [
    [answered(before, tokens(900, 100))],
    [answered(after, tokens(900, 100))],
    [answered([...after, step, text("Done.")], tokens(1_100, 100))],
  ]);
  expect(tokensOf(session)).toBe(2_200);
});

test("stores an approval as one branch, from its request to the result", async () => {
  const session = onFile();
  const approval = { id: "ap1", approved: true, reason: "Fine." };
  const ran = pay({ state: "output-available", output: "paid", approval });
  await saveAll(session, [
    [answered([step, pay({ state: "approval-requested", approval: { id: "ap1" } })], tokens(900, 100))],
    [answered([step, pay({ state: "approval-responded", approval })], tokens(900, 100))],
    [answered([step, ran, step, text("Done.")], tokens(1_100, 100))],
  ]);
  expect(tokensOf(session)).toBe(2_200);
});

test("stores a denial as one branch and sends it to every provider", async () => {
  const session = onFile();
  const approval = { id: "ap1", approved: false, reason: "Too much." };
  const denied = pay({ state: "output-denied", approval });
  await saveAll(session, [
    [answered([step, pay({ state: "approval-requested", approval: { id: "ap1" } })])],
    [answered([step, pay({ state: "approval-responded", approval })])],
    [answered([step, denied, step, text("As you like.")])],
  ]);
  const request = toAnthropic(session.buildSessionContext().messages);
  expect(JSON.stringify(request.messages)).toContain("Too much.");
  expect(JSON.stringify(request.messages)).not.toContain("interrupted");
});

test("accepts results of parallel calls in any order", async () => {
  const [open, one] = [{ state: "input-available" }, { state: "output-available", output: "x" }];
  const failed = { state: "output-error", errorText: "No." };
  const calls = (first: object, second: object) => answered([step, pay(first), pay(second, "c2")]);
  await saveAll(onFile(), [[calls(open, open)], [calls(open, failed)], [calls(one, failed)]]);
});

test("counts usage that later metadata reports, once", async () => {
  const session = onFile();
  const said = [step, text("Done.")];
  await saveAll(session, [
    [answered(said)],
    [answered(said, { metadata: { note: "x" } })],
    [answered(said, tokens(100, 10))],
    [answered(said, tokens(100, 20))],
  ]);
  expect(tokensOf(session)).toBe(120);
});

test("restores the state and ids of texts and reasoning", async () => {
  const thought = { type: "reasoning", id: "r1", text: "Hm.", state: "done" };
  await saveAll(onFile(), [
    [answered([step, thought, text("Done.")])],
    [answered([step, thought, text("Done."), step, text("Well.", "streaming")])],
    [answered([step, thought, text("Done."), step, text("Well.")])],
  ]);
});

test("adds and removes UI-only parts without a branch", async () => {
  const data = (degrees: number) => ({ type: "data-weather", id: "w1", data: { degrees } });
  const source = { type: "source-url", sourceId: "s1", url: "https://example.com" };
  const [open, ran] = [pay({ state: "input-available" }), pay({ state: "output-available", output: null })];
  await saveAll(onFile(), [
    [answered([step, open])],
    [answered([step, open, data(1)])],
    [answered([step, ran, data(2), step, text("Done."), source])],
    [answered([step, ran, step, text("Done."), source, data(3)])],
  ]);
});

test("stores a result that arrives after the user continued without a branch, and shows it at its call", async () => {
  const session = onFile();
  const later = [asked("u2", "Well?"), { ...answered([step, text("Wait.")]), id: "a2" }];
  const chat = (call: object) => [asked("u1", "Pay."), answered([step, pay(call)]), ...later];
  await saveChat(session, chat({ state: "input-available" }));
  expect(loadChat(session)).toEqual(chat({ state: "input-available" }));
  const done = chat({ state: "output-available", output: "paid" });
  expect(await saveChat(session, done)).toMatchObject({ hasBranched: false });
  expect(loadChat(reopened(session))).toEqual(done);
  expect(await saveChat(session, done)).toMatchObject({ entryIds: [], hasBranched: false });
});

test("branches for an answer with another id, however much it shares with the first", async () => {
  const session = onFile();
  const requested = [step, pay({ state: "approval-requested", approval: { id: "ap1" } })];
  await saveChat(session, [asked("u1", "Pay."), answered(requested)]);
  const other = {
    ...answered([step, pay({ state: "approval-requested", approval: { id: "ap2" } })]),
    id: "a2",
  };
  expect(await saveChat(session, [asked("u1", "Pay."), other])).toMatchObject({ hasBranched: true });
  expect(loadChat(session)).toEqual([asked("u1", "Pay."), other]);
});

test("treats a file that changes under the same id as another version", async () => {
  const session = onFile();
  const chat = (url: string) => {
    const file = { type: "file" as const, mediaType: "application/pdf", filename: "a.pdf", url };
    return [{ id: "u1", role: "user" as const, parts: [file] }];
  };
  await saveChat(session, chat("data:application/pdf;base64,AAAA"));
  const edited = chat("data:application/pdf;base64,BBBB");
  expect(await saveChat(session, edited)).toMatchObject({ hasBranched: true });
  expect(loadChat(session)).toEqual(edited);
});

test("does not restore redacted content from a later state", async () => {
  const session = onFile();
  const approval = { id: "ap1", approved: true, reason: "hunter2" };
  const requested = [
    asked("u1", "Pay."),
    answered([step, pay({ state: "approval-requested", approval: { id: "ap1" } })]),
  ];
  const responded = [asked("u1", "Pay."), answered([step, pay({ state: "approval-responded", approval })])];
  await saveChat(session, requested);
  const answer = session.getLeafId() ?? "";
  await saveChat(session, responded);
  session.redactEntry(answer);
  expect(JSON.stringify(session.getEntries())).not.toContain("hunter2");
  expect(JSON.stringify(session.buildSessionContext())).not.toContain("hunter2");
  for (const one of [session, reopened(session)]) {
    expect(await saveChat(one, responded)).toMatchObject({ entryIds: [], hasBranched: false });
    expect(JSON.stringify(one.getEntries())).not.toContain("hunter2");
  }
});

/** A tool call, with its input and its outcome. */
const CALLS: readonly (readonly object[])[] = [
  [{ state: "input-available" }, { state: "output-available", output: { paid: [1, null] } }],
  [{ state: "input-available" }, { state: "output-error", errorText: "No." }],
  [
    { state: "approval-requested", approval: { id: "ap1" } },
    { state: "approval-responded", approval: { id: "ap1", approved: true } },
    { state: "output-available", output: "x", approval: { id: "ap1", approved: true } },
  ],
  [
    { state: "approval-requested", approval: { id: "ap1", signature: "s" } },
    { state: "approval-responded", approval: { id: "ap1", signature: "s", approved: false, reason: "No." } },
    { state: "output-denied", approval: { id: "ap1", signature: "s", approved: false, reason: "No." } },
  ],
  [
    { state: "input-available", callProviderMetadata: { bedrock: { signature: "s" } } },
    { state: "output-available", output: "x", callProviderMetadata: { bedrock: { signature: "s" } } },
  ],
  [
    { state: "input-available" },
    { state: "output-error", errorText: "No.", resultProviderMetadata: { bedrock: { signature: "s" } } },
  ],
  [
    { state: "input-available" },
    { state: "output-available", output: "a", preliminary: true },
    { state: "output-available", output: "b" },
  ],
];

/** One step: a text, its calls, and the order in which they progress. */
const steps = fc.array(
  fc.record({
    said: fc.option(fc.constantFrom("One moment.", "Hm."), { nil: undefined }),
    calls: fc.array(fc.nat(CALLS.length - 1), { minLength: 1, maxLength: 3 }),
    order: fc.array(fc.nat(5), { maxLength: 8 }),
  }),
  { minLength: 1, maxLength: 3 },
);

/** Returns the states of a turn. */
function statesOf(turn: readonly { said: string | undefined; calls: number[]; order: number[] }[]) {
  const states: ReturnType<typeof answered>[] = [];
  const over: object[] = [];
  turn.forEach(({ said, calls, order }, at) => {
    const reached = calls.map(() => 0);
    const add = () => {
      const now = calls.map((kind, index) => {
        const call = pay(CALLS[kind]?.[reached[index] ?? 0] ?? {}, `c${at}-${index}`);
        const { approval } = { approval: undefined, ...call };
        if (approval === undefined) return call;
        return { ...call, approval: Object.assign({}, approval, { id: `ap${at}-${index}` }) };
      });
      states.push(
        answered([...over, step, ...(said === undefined ? [] : [text(said)]), ...now], tokens(100, 10)),
      );
      return now;
    };
    add();
    for (const next of [...order, ...calls.flatMap((_, index) => [index, index])]) {
      const index = next % calls.length;
      const kind = CALLS[calls[index] ?? 0] ?? [];
      const done = (reached[index] ?? 0) + 1;
      if (done >= kind.length) continue;
      reached[index] = done;
      add();
    }
    over.push(...(states.at(-1)?.parts ?? []).slice(over.length));
  });
  return states;
}

test("stores a turn as one message with each call's tokens once, in whatever order it progresses", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (turn) => {
      const session = onFile();
      await saveAll(
        session,
        statesOf(turn).map((state) => [state]),
      );
      expect(tokensOf(session)).toBe(110 * turn.length);
    }),
    { numRuns: scaleCount(100) },
  );
});

const plain = (messages: unknown) => {
  const list: { role: string; content: unknown }[] = JSON.parse(JSON.stringify(messages));
  return list.map(({ role, content }) => ({
    role,
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  }));
};

const SDKS = [
  {
    sdk: 6,
    name: "ai6",
    convert: async (messages: unknown) => convertToModelMessages6(await validateUIMessages6({ messages })),
  },
  {
    sdk: 7,
    name: "ai",
    convert: async (messages: unknown) => convertToModelMessages(await validateUIMessages({ messages })),
  },
] as const;

for (const { sdk, name, convert } of SDKS) {
  describeWith([name], `version ${sdk} of the AI SDK`, () => {
    test("sends the request that the SDK's own converter makes of the chat, for every state of a session", async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (turn) => {
          const session = SessionManager.inMemory();
          for (const state of statesOf(turn)) {
            const chat = [asked("u1", "Pay."), state];
            await saveChat(session, chat);
            const { messages } = toModelMessages(session.buildSessionContext().messages, { sdk });
            const isOpen = (part: object) => /input-available|preliminary/.test(JSON.stringify(part));
            // A request is made only after all tools have finished.
            if (!state.parts.some(isOpen)) expect(plain(messages)).toEqual(plain(await convert(chat)));
          }
        }),
        { numRuns: scaleCount(100) },
      );
    });
  });
}
