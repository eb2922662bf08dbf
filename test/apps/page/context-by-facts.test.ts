import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { viewPath } from "../../../src/apps/page/model/path-items.ts";
import { getPathTo, type SessionModel } from "../../../src/apps/page/model/session-model.ts";
import { NONE } from "../../../src/core/tree/entry-tree.ts";
import {
  type AgentMessage,
  buildSessionProjection,
  convertToLlm,
  estimateProjectedContextTokens,
  repairToolPairs,
} from "../../../src/core.ts";
import { bigSession } from "../../browser/support/big-session.ts";
import { type Line, makeModel, modelOfText, said } from "./support/session.ts";

const FIXTURES = "fixtures";
const MAX_BYTES = 400_000;

const files = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".jsonl"))
  .sort();

/** Maximum number of paths compared per session; all of a small one. */
const MAX_PATHS = 60;

/** Expects the context of every path, or of many, to match the one built from all bodies. */
function expectSameContexts(model: SessionModel): void {
  const step = Math.ceil((model.size + 1) / MAX_PATHS);
  for (let end = NONE; end < model.size; end += step) expectSameContext(model, end);
  expectSameContext(model, model.leaf);
}

function expectSameContext(model: SessionModel, end: number): void {
  const branch = getPathTo(model, end).flatMap((ordinal) => model.entryAt(ordinal) ?? []);
  const projection = buildSessionProjection(branch, end === NONE ? null : branch.at(-1)?.id);
  const view = viewPath(model, end);
  const sent = projection.entries.flatMap(({ sourceEntry, messages }) => {
    const converted = convertToLlm(messages.map(withoutDetails));
    return converted.length === 0 ? [] : { id: sourceEntry.id, messages: converted };
  });
  expect(
    view.modelItems.map(({ entry, messages }) => ({ id: entry.id, messages: messages.map(withoutDetails) })),
  ).toEqual(sent);
  expect(view.messageCount).toBe(sent.reduce((sum, { messages }) => sum + messages.length, 0));
  expect(view.repairs).toEqual(repairToolPairs(convertToLlm(projection.messages)).repairs);
  const { tokens, usageTokens, trailingTokens } = estimateProjectedContextTokens(projection, branch);
  expect(view.contextSize).toEqual({ tokens, usageTokens, trailingTokens });
  expect([view.model ?? null, view.thinkingLevel]).toEqual([projection.model, projection.thinkingLevel]);
}

/** Models get no details, and the page omits those added later. */
function withoutDetails<M extends AgentMessage>(message: M): M {
  const copy = { ...message };
  if ("details" in copy) delete copy.details;
  return copy;
}

test.each(files)("the context at each entry of %s matches the one built from the bodies", (name) => {
  const bytes = readFileSync(join(FIXTURES, name));
  if (bytes.length <= MAX_BYTES) expectSameContexts(modelOfText(bytes));
});

test("contexts match in long sessions with branches, compactions, and tools", () => {
  expectSameContexts(modelOfText(bigSession(700)));
});

test("contexts match if calls and results do not match, or lack IDs", () => {
  const calls = (ids: readonly unknown[], fields: object = {}, blocks: readonly object[] = []) =>
    said("assistant", [...blocks, ...ids.map((id) => ({ type: "toolCall", id, name: "t", arguments: {} }))], {
      provider: "p",
      model: "m",
      ...fields,
    });
  const result = (toolCallId: unknown) => said("toolResult", [], { toolCallId, toolName: "t" });
  const steps = [
    "go",
    calls(["1", "2"]),
    result("2"),
    "hurry",
    result("1"),
    calls(["1", "1"]),
    result("1"),
    result("1"),
    calls([5, ""]),
    result(5),
    result(""),
    calls(["3"], { stopReason: "aborted" }),
    result("3"),
    calls(["4"], { stopReason: "pending" }, [{ type: "text", text: "wait" }]),
    calls([7], {}, [{ type: "thinking", thinking: "hm" }]),
    calls(["6"]),
  ];
  const lines = steps.map(
    (fields, index): Line => [`e${index}`, index === 0 ? null : `e${index - 1}`, fields],
  );
  expectSameContexts(makeModel(lines));
});
