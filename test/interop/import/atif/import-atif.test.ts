import { expect, test } from "vitest";
import { exportAtif } from "../../../../src/interop/atif/export-atif.ts";
import { importAtif } from "../../../../src/interop/import/atif/import-atif.ts";
import { detectSource } from "../../../../src/interop/import/detect-source.ts";
import fc from "../../../support/fast-check.ts";
import { readSource, writeText } from "../../atif/support/trajectories.ts";
import { brief, readView } from "../support/session-view.ts";

const importedAt = "2027-01-01T00:00:00.000Z";
const base = {
  schema_version: "ATIF-v1.5",
  session_id: "run",
  agent: { name: "a", version: "1", model_name: "m-1" },
};

function importSteps(steps: unknown, more: object = {}) {
  return importAtif({ document: { ...base, ...more, steps }, importedAt });
}

function view(steps: unknown, more: object = {}) {
  const [session] = importSteps(steps, more);
  if (session === undefined) throw new Error("no session was made");
  const read = readView(session);
  expect([read.problems, read.read.issues]).toEqual([[], []]);
  return read;
}

const call = { tool_call_id: "c1", function_name: "ls", arguments: { path: "." } };

test("turns steps into messages: instructions, prompts, answers, and results of their calls", () => {
  const { path, messages } = view([
    { step_id: 1, source: "system", message: "Be brief." },
    { step_id: 2, source: "user", message: "look", timestamp: "2026-11-22T05:00:00Z" },
    {
      step_id: 3,
      source: "agent",
      message: "ok",
      reasoning_content: "hm",
      tool_calls: [call],
      observation: { results: [{ source_call_id: "c1", content: "a.txt", extra: { is_error: true } }] },
      metrics: { prompt_tokens: 10, cached_tokens: 4, completion_tokens: 2, cost_usd: 0.5 },
    },
  ]);
  expect(path.map(brief).slice(2)).toEqual([
    "system Be brief.",
    "user look",
    "assistant hm+ok+c1",
    "result c1",
  ]);
  expect(messages[2]).toMatchObject({
    model: "m-1",
    content: [{ thinking: "hm" }, { text: "ok" }, { id: "c1", name: "ls", arguments: { path: "." } }],
    stopReason: "toolUse",
    usage: { input: 6, cacheRead: 4, output: 2, totalTokens: 12, cost: { total: 0.5 } },
  });
  expect(messages[3]).toMatchObject({ toolName: "ls", isError: true, content: [{ text: "a.txt" }] });
});

test("treats the only result of a step with one call as its result, and keeps observations without a call in the context", () => {
  const { messages } = view([
    {
      step_id: 1,
      source: "agent",
      message: "",
      tool_calls: [call],
      observation: { results: [{ content: "one" }] },
    },
    { step_id: 2, source: "agent", message: "typed", observation: { results: [{ content: "two" }] } },
    { step_id: 3, source: "agent", message: "", observation: { results: [{ content: "three" }] } },
  ]);
  expect(messages.map(({ role }) => role)).toEqual([
    "assistant",
    "toolResult",
    "assistant",
    "custom",
    "custom",
  ]);
  expect(messages[3]).toMatchObject({ customType: "atif.observation", content: [{ text: "two" }] });
});

test("restores another program's trajectory with its agent and its observations without a call", () => {
  const agent = { name: "terminal", version: "2.0", model_name: "m-1", extra: { parser: "json" } };
  const observation = { results: [{ content: "seen", extra: { bytes: 4 } }] };
  const metrics = { prompt_tokens: 10, completion_tokens: 2, cost_usd: 0.5 };
  const steps = [
    { step_id: 1, source: "user", message: "go" },
    { step_id: 2, source: "agent", message: "typed", reasoning_content: "why", observation, metrics },
    { step_id: 3, source: "agent", message: "done", metrics },
  ];
  const [session] = importSteps(steps, { agent });
  if (session === undefined) throw new Error("no session was made");
  const { trajectory } = exportAtif(readSource(writeText(session)));
  expect(trajectory.agent).toEqual(agent);
  expect(trajectory.steps).toMatchObject(steps);
  expect(trajectory.final_metrics).toMatchObject({ total_prompt_tokens: 20, total_cost_usd: 1 });
});

test("does not count usage of copied context, and keeps it in details", () => {
  const { messages, text } = view([
    { step_id: 1, source: "agent", message: "old", is_copied_context: true, metrics: { prompt_tokens: 9 } },
  ]);
  expect(messages[0]).toMatchObject({
    usage: { totalTokens: 0 },
    details: { atif: { is_copied_context: true, metrics: { prompt_tokens: 9 } } },
  });
  // An export marks it again.
  expect(exportAtif(readSource(text)).trajectory.steps[0]?.is_copied_context).toBe(true);
});

test("keeps unknown fields of steps, results, and the document", () => {
  const results = [{ source_call_id: "c1", content: "x", mood: "good" }];
  const { entries, messages } = view(
    [{ step_id: 1, source: "agent", message: "", mood: 1, tool_calls: [call], observation: { results } }],
    { notes: "a note", extra: { run: 7 } },
  );
  expect(messages).toMatchObject([
    { details: { atif: { mood: 1 } } },
    { details: { atif: { mood: "good" } } },
  ]);
  const kept = entries.find((entry) => brief(entry) === "atif.trajectory");
  expect(kept).toMatchObject({ data: { notes: "a note", extra: { run: 7 }, session_id: "run" } });
});

test("imports another program's compaction as one, and declares tools", () => {
  const definition = {
    type: "function",
    function: { name: "ls", description: "lists", parameters: { type: "object" } },
  };
  const { path } = view(
    [{ step_id: 1, source: "system", message: "so far", extra: { kind: "compaction" } }],
    {
      agent: { ...base.agent, tool_definitions: [definition] },
    },
  );
  expect(path.at(-1)).toMatchObject({ type: "compaction", summary: "so far" });
  expect(path.at(-2)).toMatchObject({ message: { toolsAdded: [{ name: "ls", description: "lists" }] } });
});

test("imports embedded subagents as linked sessions, at any depth, even if they share an id", () => {
  const results = [{ source_call_id: "c1", subagent_trajectory_ref: [{ session_id: "sub" }] }];
  const step = { step_id: 1, source: "agent", message: "", tool_calls: [call], observation: { results } };
  const user = [{ step_id: 1, source: "user", message: "dig" }];
  let deep: object = { ...base, trajectory_id: "leaf", steps: user };
  for (let depth = 0; depth < 2000; depth++)
    deep = { ...base, trajectory_id: "sub", steps: user, subagent_trajectories: [deep] };
  const sub = { ...base, session_id: "sub", steps: user };
  const sessions = importSteps([step], { subagent_trajectories: [sub, sub, deep, null] });
  expect(sessions).toHaveLength(1 + 2 + 2001);
  expect(new Set(sessions.map(({ header }) => header.id)).size).toBe(sessions.length);
  const link = sessions[0]?.entries.find((entry) => Object(entry).customType === "sessiontree.subagent");
  expect(link).toMatchObject({ data: { toolCallId: "c1", sessionId: sessions[1]?.header.id } });
  expect(sessions[1]?.parent).toEqual({ sourceId: "run", relation: "subagent" });
});

test("imports images from data: URLs and from files that the caller reads; others become texts", () => {
  const part = (path: string) => ({ type: "image", source: { media_type: "image/png", path } });
  const message = [
    part("data:image/png;base64,QQ=="),
    part("a.png"),
    part("b.png"),
    { type: "audio", source: { path: "c.wav" } },
  ];
  const readAsset = (path: string) => (path === "a.png" ? "Qg==" : undefined);
  const document = { ...base, steps: [{ step_id: 1, source: "user", message }] };
  const [session] = importAtif({ document, importedAt, readAsset });
  expect(session?.entries.at(-1)).toMatchObject({
    message: {
      content: [{ data: "QQ==" }, { data: "Qg==" }, { text: "[image: b.png]" }, { text: "[audio: c.wav]" }],
    },
  });
  expect(session?.issues).toHaveLength(2);
});

test("creates the same entries for the same document, and additional ones for a longer one", () => {
  const steps = [1, 2, 3].map((id) => ({ step_id: id, source: "user", message: "again" }));
  const ids = (count: number) => importSteps(steps.slice(0, count))[0]?.entries.map(({ id }) => id) ?? [];
  expect(ids(3)).toEqual(ids(3));
  expect(ids(3).slice(0, ids(2).length)).toEqual(ids(2));
  expect(new Set(ids(3)).size).toBe(ids(3).length);
});

test("detects a document by its version, on one line or several", () => {
  const document = { ...base, steps: [{ step_id: 1, source: "user", message: "look" }] };
  expect(detectSource(JSON.stringify(document))).toBe("atif");
  expect(detectSource(JSON.stringify(document, null, 2))).toBe("atif");
  expect(detectSource(JSON.stringify({ ...document, schema_version: "ATIF-v2.0" }))).toBeUndefined();
});

test.each([[undefined], [null], ["text"], [{ 0: {} }], [[null, 1, "x", [], {}]]])(
  "reports steps %j",
  (steps) => {
    const [session] = importSteps(steps);
    expect(session?.issues.length).toBeGreaterThan(0);
  },
);

/** A step whose fields may be of any type. */
const hostileStep = fc.record(
  Object.fromEntries(
    [
      "timestamp",
      "message",
      "model_name",
      "reasoning_content",
      "tool_calls",
      "observation",
      "metrics",
      "extra",
    ].map((name) => [
      name,
      fc.oneof(fc.jsonValue(), fc.constant(JSON.parse('[{"__proto__":{"type":"text"}}]'))),
    ]),
  ),
  { requiredKeys: [] },
);

const hostileDocument = fc.record(
  {
    agent: fc.jsonValue(),
    extra: fc.oneof(fc.jsonValue(), fc.record({ sessiontree: fc.jsonValue() })),
    trajectory_id: fc.jsonValue(),
    subagent_trajectories: fc.jsonValue(),
    steps: fc.array(
      fc
        .tuple(fc.constantFrom("user", "agent", "system", 7), hostileStep)
        .map(([source, step]) => ({ ...step, source })),
    ),
  },
  { requiredKeys: ["steps"] },
);

test("never throws and yields valid sessions, whatever a document's fields contain", () => {
  fc.assert(
    fc.property(hostileDocument, (document) => {
      for (const session of importAtif({
        document: { schema_version: "ATIF-v1.8", ...document },
        importedAt,
      })) {
        const read = readView(session);
        expect([read.problems, read.read.issues]).toEqual([[], []]);
        const { counts } = session;
        expect(counts.mapped + counts.kept + counts.dropped).toBe(counts.records);
      }
    }),
  );
});
