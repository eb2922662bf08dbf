import { expect, test } from "vitest";
import { sumByModel } from "../../../src/catalog/usage/model-costs.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";

test("adds up the calls of some entries by model, stated and estimated costs apart", () => {
  const session = SessionManager.inMemory();
  const answer = (model: string, input: number, cost: number) => {
    const parts = { input: cost, output: 0, cacheRead: 0, cacheWrite: 0, total: cost };
    const usage = { input, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: input, cost: parts };
    const facts = { api: "made-up", provider: "acme", stopReason: "stop", timestamp: 1 } as const;
    session.appendMessage({
      role: "assistant",
      content: [{ type: "text", text: "x" }],
      model,
      usage,
      ...facts,
    });
  };
  answer("acorn", 100, 2);
  answer("acorn", 10, 0);
  answer("birch", 5, 0);
  const prices = (_: string | null, model: string) => (model === "acorn" ? 0.5 : undefined);
  const { byModel, total } = sumByModel(session.getEntries(), prices);
  expect(byModel.map(({ by, cost, estimated, unpriced }) => [by.model, cost, estimated, unpriced])).toEqual([
    ["acme/acorn", 2, 0.5, 0],
    ["acme/birch", null, null, 5],
  ]);
  expect(total).toMatchObject({ calls: 3, input: 115, cost: 2, estimated: 0.5, unpriced: 5 });
  expect(sumByModel(session.getEntries().slice(1, 2), prices).total).toMatchObject({ calls: 1, cost: null });
});
