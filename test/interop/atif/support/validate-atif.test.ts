import { expect, test } from "vitest";
import { findAtifProblems } from "./validate-atif.ts";

const call = { tool_call_id: "c1", function_name: "f", arguments: {} };
const agent = { step_id: 1, source: "agent", message: "" };
const base = { schema_version: "ATIF-v1.8", agent: { name: "a", version: "1" } };

function findProblems(step: object, more: object = {}): string[] {
  return findAtifProblems({ ...base, steps: [step], ...more });
}

test("reports no problems for a valid document", () => {
  const results = [{ source_call_id: "c1", subagent_trajectory_ref: [{ trajectory_id: "s" }] }];
  const step = { ...agent, tool_calls: [call], observation: { results } };
  const embedded = { ...base, trajectory_id: "s", steps: [agent] };
  expect(findProblems(step, { subagent_trajectories: [embedded] })).toEqual([]);
});

test.each([
  ["an unknown key", { ...agent, note: "x" }],
  ["null for an optional field", { ...agent, model_name: null }],
  ["a gap between steps", { ...agent, step_id: 2 }],
  ["an unknown source", { ...agent, source: "tool" }],
  ["no message", { step_id: 1, source: "user" }],
  ["a model of a user", { ...agent, source: "user", model_name: "m" }],
  ["an observation of a user", { ...agent, source: "user", observation: { results: [] } }],
  ["a dangling result", { ...agent, observation: { results: [{ source_call_id: "c1" }] } }],
  ["two calls of one id", { ...agent, tool_calls: [call, call] }],
  ["arguments as a string", { ...agent, tool_calls: [{ ...call, arguments: "{}" }] }],
  ["half a token", { ...agent, metrics: { prompt_tokens: 0.5 } }],
  ["more cached tokens than tokens", { ...agent, metrics: { prompt_tokens: 1, cached_tokens: 2 } }],
  ["metrics without a call of a model", { ...agent, llm_call_count: 0, metrics: {} }],
  ["a time that is not ISO 8601", { ...agent, timestamp: "yesterday" }],
  ["a part of an unknown type", { ...agent, message: [{ type: "video", source: {} }] }],
  [
    "an image of an unknown type",
    { ...agent, message: [{ type: "image", source: { media_type: "image/bmp", path: "a" } }] },
  ],
  ["a reference without target", { ...agent, observation: { results: [{ subagent_trajectory_ref: [{}] }] } }],
  [
    "a reference to nothing",
    { ...agent, observation: { results: [{ subagent_trajectory_ref: [{ trajectory_id: "s" }] }] } },
  ],
])("reports %s as a problem", (_name, step) => {
  expect(findProblems(step)).not.toEqual([]);
});

test.each([
  ["another version", { schema_version: "ATIF-v2.0" }],
  ["no steps", { steps: [] }],
  ["an agent without version", { agent: { name: "a" } }],
  ["another number of steps without notes", { final_metrics: { total_steps: 7 } }],
  ["an embedded trajectory without id", { subagent_trajectories: [{ ...base, steps: [agent] }] }],
  ["an invalid embedded trajectory", { subagent_trajectories: [{ ...base, trajectory_id: "s", steps: [] }] }],
])("reports %s as a problem", (_name, more) => {
  expect(findProblems(agent, more)).not.toEqual([]);
});
