import { isSessionError, type SessionManager } from "sessiontree";
import { OpenAIAgentsSession } from "sessiontree/adapters";
import { memoryStore } from "sessiontree/stores";
import { expect, test } from "vitest";
import fc from "../../support/fast-check.ts";

type Item = { type: string; [field: string]: unknown };

/** One operation of a host on a session. */
type Step =
  | { do: "add"; items: Item[] }
  | { do: "pop" | "clear" | "open" }
  | { do: "compact"; items: Item[] }
  | { do: "transact"; id: string; cut: number; items: Item[] }
  | { do: "mutate"; callId: string; name: string };

const callId = fc.constantFrom("c1", "c2", "c3");
const text = fc.constantFrom("", "one", "two\n", "\u2028 ", "\ud800");
const item: fc.Arbitrary<Item> = fc.oneof(
  fc.record({ type: fc.constant("message"), role: fc.constantFrom("user", "system"), content: text }),
  fc.record({
    type: fc.constant("message"),
    role: fc.constant("assistant"),
    content: fc.array(fc.record({ type: fc.constant("output_text"), text }), { maxLength: 2 }),
  }),
  fc.record({ type: fc.constant("reasoning"), content: fc.constant([]), id: text }),
  fc.record({ type: fc.constant("function_call"), callId, name: text, arguments: fc.json() }),
  fc.record({ type: fc.constant("function_call_result"), callId, name: text, output: text }),
  fc.record({
    type: fc.constantFrom("unknown", "hosted_tool_call", "compaction"),
    more: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))),
  }),
);
const items = fc.array(item, { maxLength: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("add" as const), items }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("pop" as const, "open" as const) }) },
  fc.constant({ do: "clear" as const }),
  fc.record({ do: fc.constant("compact" as const), items }),
  fc.record({
    do: fc.constant("transact" as const),
    id: fc.constantFrom("op1", "op2"),
    cut: fc.nat(5),
    items,
  }),
  fc.record({ do: fc.constant("mutate" as const), callId, name: text }),
);

/** The history as an array, as the interface promises. */
class Model {
  items: Item[] = [];
  applied = new Map<string, string>();

  transact(id: string, transaction: { type: string; expectedSuffix: Item[]; replacement: Item[] }): boolean {
    const spelled = JSON.stringify(transaction);
    const before = this.applied.get(id);
    if (before !== undefined) return before === spelled;
    this.items = [
      ...this.items.slice(0, this.items.length - transaction.expectedSuffix.length),
      ...transaction.replacement,
    ];
    this.applied.set(id, spelled);
    return true;
  }

  mutate(callId: string, replacement: Item): void {
    const isCall = (one: Item) => one.type === "function_call" && one["callId"] === callId;
    const first = this.items.findIndex(isCall);
    this.items = this.items.flatMap((one, i) => (!isCall(one) ? [one] : i === first ? [replacement] : []));
  }
}

async function run(
  manager: SessionManager,
  reopen: (manager: SessionManager) => Promise<SessionManager>,
  steps: Step[],
) {
  const model = new Model();
  let session = new OpenAIAgentsSession<Item>(manager);
  let current = manager;
  for (const one of steps) {
    switch (one.do) {
      case "add":
        await session.addItems(one.items);
        model.items = [...model.items, ...one.items];
        break;
      case "pop":
        expect(await session.popItem()).toEqual(model.items.pop());
        break;
      case "clear":
        if (model.items.length > 0) model.applied.clear();
        await session.clearSession();
        model.items = [];
        break;
      case "compact": {
        const compacted = [{ type: "compaction", encrypted_content: "x" }, ...one.items];
        await session.replaceHistoryWithCompaction(compacted);
        model.items = compacted;
        break;
      }
      case "transact": {
        const transaction = {
          type: "replace_suffix" as const,
          expectedSuffix: model.items.slice(Math.max(0, model.items.length - one.cut)),
          replacement: one.items,
        };
        const isApplied = model.transact(one.id, transaction);
        const applying = session.applyHistoryTransaction({ operationId: one.id, transaction });
        if (isApplied) await applying;
        else await expect(applying).rejects.toThrow(TypeError);
        break;
      }
      case "mutate": {
        const replacement = { type: "function_call", callId: one.callId, name: one.name, arguments: "{}" };
        const mutations = [{ type: "replace_function_call" as const, callId: one.callId, replacement }];
        await session.applyHistoryMutations({ mutations });
        model.mutate(one.callId, replacement);
        break;
      }
      case "open":
        current = await reopen(current);
        session = new OpenAIAgentsSession<Item>(current);
    }
    expect(await session.getItems()).toEqual(model.items);
    expect(current.issues).toEqual([]);
  }
}

test("returns an array's items after any operations, also when the session is reopened", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      const store = memoryStore();
      const manager = store.create({ cwd: "/projects/shop", createAtOnce: true });
      await run(
        manager,
        async (before) => {
          await before.flush();
          return store.open(before.getSessionId());
        },
        steps,
      );
      await store.close();
    }),
    { numRuns: 300 },
  );
});

test("reports that a session cannot be written, and keeps its items", async () => {
  const store = memoryStore();
  const manager = store.create({ cwd: "/projects/shop", createAtOnce: true });
  const session = new OpenAIAgentsSession(manager);
  await session.addItems([{ type: "message", role: "user", content: "a" }]);
  const reader = new OpenAIAgentsSession(await store.open(manager.getSessionId(), { mode: "read-only" }));
  for (const write of [
    () => reader.popItem(),
    () => reader.clearSession(),
    () => reader.addItems([{ type: "x" }]),
  ]) {
    await expect(write()).rejects.toSatisfy((error) => isSessionError(error, "READ_ONLY"));
  }
  expect(await reader.getItems()).toEqual(await session.getItems());
});
