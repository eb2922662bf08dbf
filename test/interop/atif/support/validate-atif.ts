import { z } from "zod";

/** Rules of the ATIF specification; every object refuses unknown keys. */
const extra = z.record(z.string(), z.unknown()).optional();
const whole = z.number().int().optional();

const image = z.strictObject({
  media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
  path: z.string().min(1),
});

const audio = z.strictObject({
  media_type: z.string().regex(/^audio\/(?:wav|mpeg|mp4|aac|ogg|flac|webm|aiff)$/),
  path: z.string().min(1),
  duration_sec: z.number().nonnegative().optional(),
});

const content = z.union([
  z.string(),
  z.array(
    z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("text"), text: z.string() }),
      z.strictObject({ type: z.literal("image"), source: image }),
      z.strictObject({ type: z.literal("audio"), source: audio }),
    ]),
  ),
]);

const call = z.strictObject({
  tool_call_id: z.string(),
  function_name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  extra,
});

const ref = z
  .strictObject({
    trajectory_id: z.string().optional(),
    trajectory_path: z.string().optional(),
    session_id: z.string().optional(),
    extra,
  })
  .refine(
    (one) => one.trajectory_id !== undefined || one.trajectory_path !== undefined,
    "a ref without target",
  );

const result = z.strictObject({
  source_call_id: z.string().optional(),
  content: content.optional(),
  subagent_trajectory_ref: z.array(ref).optional(),
  extra,
});

const metrics = z.strictObject({
  prompt_tokens: whole,
  completion_tokens: whole,
  cached_tokens: whole,
  cost_usd: z.number().optional(),
  prompt_token_ids: z.array(z.number().int()).optional(),
  completion_token_ids: z.array(z.number().int()).optional(),
  logprobs: z.array(z.number()).optional(),
  extra,
});

const step = z
  .strictObject({
    step_id: z.number().int().min(1),
    timestamp: z.iso.datetime({ offset: true }).optional(),
    source: z.enum(["system", "user", "agent"]),
    message: content,
    model_name: z.string().optional(),
    reasoning_effort: z.union([z.string(), z.number()]).optional(),
    reasoning_content: z.string().optional(),
    tool_calls: z.array(call).optional(),
    observation: z.strictObject({ results: z.array(result) }).optional(),
    metrics: metrics.optional(),
    is_copied_context: z.boolean().optional(),
    llm_call_count: z.number().int().min(0).optional(),
    extra,
  })
  .superRefine((one, context) => {
    const report = (message: string) => context.addIssue({ code: "custom", message });
    const { model_name, reasoning_effort, reasoning_content, tool_calls, observation } = one;
    const agentOnly = [model_name, reasoning_effort, reasoning_content, tool_calls, one.metrics, observation];
    if (one.source !== "agent" && agentOnly.some((field) => field !== undefined))
      report("a field of agent steps");
    if (one.llm_call_count === 0 && (one.metrics ?? reasoning_content) !== undefined)
      report("metrics or reasoning without a call of a model");
    const ids = (tool_calls ?? []).map(({ tool_call_id: id }) => id);
    if (new Set(ids).size < ids.length) report("a repeated call id");
    for (const { source_call_id: id } of observation?.results ?? [])
      if (id !== undefined && !ids.includes(id)) report("a result of a call of another step");
    const { cached_tokens: cached = 0, prompt_tokens: prompt = cached } = one.metrics ?? {};
    if (cached > prompt) report("more cached tokens than tokens of the prompt");
  });

const tools = z.array(z.record(z.string(), z.unknown())).optional();

const trajectory = z
  .strictObject({
    schema_version: z.string().regex(/^ATIF-v1\.[0-8]$/),
    session_id: z.string().optional(),
    trajectory_id: z.string().optional(),
    agent: z.strictObject({
      name: z.string(),
      version: z.string(),
      model_name: z.string().optional(),
      tool_definitions: tools,
      extra,
    }),
    steps: z.array(step).min(1),
    notes: z.string().optional(),
    final_metrics: z
      .strictObject({
        total_prompt_tokens: whole,
        total_completion_tokens: whole,
        total_cached_tokens: whole,
        total_cost_usd: z.number().optional(),
        total_steps: z.number().int().min(0).optional(),
        extra,
      })
      .optional(),
    continued_trajectory_ref: z.string().optional(),
    extra,
    subagent_trajectories: z.array(z.unknown()).optional(),
  })
  .superRefine((one, context) => {
    const report = (message: string) => context.addIssue({ code: "custom", message });
    one.steps.forEach(({ step_id: id }, index) => {
      if (id !== index + 1) report(`step ${index + 1} has the id ${id}`);
    });
    const total = one.final_metrics?.total_steps ?? one.steps.length;
    if (total !== one.steps.length && one.notes === undefined)
      report("another number of steps, and no notes");
    const embedded = (one.subagent_trajectories ?? []).map((value) => Object(value).trajectory_id);
    if (embedded.some((id) => typeof id !== "string")) report("an embedded trajectory without an id");
    if (new Set(embedded).size < embedded.length) report("a repeated id of an embedded trajectory");
    const results = one.steps.flatMap(({ observation }) => observation?.results ?? []);
    for (const { trajectory_id: id, trajectory_path: path } of results.flatMap(
      (it) => it.subagent_trajectory_ref ?? [],
    ))
      if (path === undefined && !embedded.includes(id)) report(`no embedded trajectory ${id}`);
  });

/** Returns the problems of an ATIF document and of those embedded in it; empty if it is valid. */
export function findAtifProblems(document: unknown): string[] {
  const parsed = trajectory.safeParse(document);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  const nulls = findNull(document) ? ["null: optional fields are left out"] : [];
  return [...nulls, ...(parsed.data.subagent_trajectories ?? []).flatMap(findAtifProblems)];
}

/** Returns whether a field of the format is null; fields of `extra` and arguments may be. */
function findNull(value: unknown): boolean {
  if (value === null) return true;
  if (typeof value !== "object") return false;
  return Object.entries(value).some(([name, one]) => !FREE.has(name) && findNull(one));
}

const FREE: ReadonlySet<string> = new Set(["extra", "arguments", "tool_definitions"]);
