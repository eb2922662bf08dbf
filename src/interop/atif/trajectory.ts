import type { JsonRecord } from "../../core/format/json.ts";

/** ATIF version that is written. */
export const ATIF_VERSION = "ATIF-v1.8";

/** A session path as an Agent Trajectory Interchange Format document. */
export interface AtifTrajectory {
  schema_version: string;
  session_id?: string;
  trajectory_id?: string;
  agent: AtifAgent;
  steps: AtifStep[];
  notes?: string;
  final_metrics?: AtifFinalMetrics;
  continued_trajectory_ref?: string;
  extra?: JsonRecord;
  subagent_trajectories?: AtifTrajectory[];
}

/** Program that ran the session. */
export interface AtifAgent {
  name: string;
  version: string;
  model_name?: string;
  tool_definitions?: JsonRecord[];
  extra?: JsonRecord;
}

/** One step of a trajectory. */
export interface AtifStep {
  step_id: number;
  timestamp?: string;
  source: "system" | "user" | "agent";
  message: string | AtifPart[];
  model_name?: string;
  reasoning_effort?: string | number;
  reasoning_content?: string;
  tool_calls?: AtifCall[];
  observation?: { results: AtifResult[] };
  metrics?: AtifMetrics;
  is_copied_context?: boolean;
  llm_call_count?: number;
  extra?: JsonRecord;
}

/** A tool call of an agent step. */
export interface AtifCall {
  tool_call_id: string;
  function_name: string;
  arguments: JsonRecord;
  extra?: JsonRecord;
}

/** A result. If it specifies a call id, the call is in the same step. */
export interface AtifResult {
  source_call_id?: string;
  content?: string | AtifPart[];
  subagent_trajectory_ref?: { trajectory_id: string }[];
  extra?: JsonRecord;
}

/** Part of a message or a result. */
export type AtifPart =
  | { type: "text"; text: string }
  | { type: "image"; source: { media_type: string; path: string } };

/** Tokens and cost of a step. */
export interface AtifMetrics {
  /** Input tokens, including tokens read from or written to a cache. */
  prompt_tokens?: number;
  completion_tokens?: number;
  cached_tokens?: number;
  cost_usd?: number;
  extra?: JsonRecord;
}

/** Sums for a trajectory, including its embedded subagents. */
export interface AtifFinalMetrics {
  total_prompt_tokens?: number;
  total_completion_tokens?: number;
  total_cached_tokens?: number;
  total_cost_usd?: number;
  total_steps?: number;
  extra?: JsonRecord;
}
