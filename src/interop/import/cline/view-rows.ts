import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { parseRecord } from "../../../core/jsonl/decode.ts";
import { toUsage } from "../../convert/answer.ts";
import { getMember, toNonemptyText } from "../source-text.ts";

/** A model call, from the rows that the editor displays. */
export interface ViewCall {
  readonly time: unknown;
  readonly usage: Usage;
  /** Whether the call was canceled. It may then have no answer. */
  readonly isCancelled: boolean;
}

/** A recorded state of the working files. */
export interface Checkpoint {
  readonly ref: string;
  readonly createdAt: unknown;
  readonly [field: string]: unknown;
}

/** Facts in an editor's rows that are missing from the messages. */
export interface ViewRows {
  readonly calls: readonly ViewCall[];
  readonly checkpoints: readonly Checkpoint[];
  /** Condensed histories by id. */
  readonly condensed: ReadonlyMap<unknown, JsonRecord>;
  readonly size: number;
}

/** Reads `ui_messages.json`, which repeats the conversation for display and is the only source of tokens and costs. */
export function readViewRows(rows: unknown): ViewRows {
  const calls: ViewCall[] = [];
  const checkpoints: Checkpoint[] = [];
  const condensed = new Map<unknown, JsonRecord>();
  const all = toArray(rows).filter(isJsonRecord);
  for (const row of all) {
    const { say, ts: time, text } = row;
    if (say === "api_req_started") {
      const request = parseRecord(typeof text === "string" ? text : "") ?? {};
      const usage = convertRequestUsage(request);
      const isCancelled = request["cancelReason"] !== undefined;
      if (usage.totalTokens > 0 || usage.cost.total > 0) calls.push({ time, usage, isCancelled });
    } else if (say === "checkpoint_created" || say === "checkpoint_saved") {
      const ref = toNonemptyText(row["lastCheckpointHash"]) ?? toNonemptyText(text);
      if (ref !== undefined) checkpoints.push({ ref, createdAt: time });
    } else if (say === "condense_context") {
      const told = getMember(row, "contextCondense");
      condensed.set(told["condenseId"], told);
    }
  }
  return { calls, checkpoints, condensed, size: all.length };
}

/** Returns whether a value is a row of `ui_messages.json`. */
export function isShownRow(value: unknown): value is JsonRecord {
  const { type, ts, role } = toRecord(value);
  return (type === "say" || type === "ask") && typeof ts === "number" && role === undefined;
}

/** Speaker of each kind of row. All other rows belong to the program, such as a command's output. */
const SPEAKERS: ReadonlyMap<unknown, "user" | "assistant"> = new Map([
  ["task", "user"],
  ["user_feedback", "user"],
  ["user_feedback_diff", "user"],
  ["text", "assistant"],
  ["reasoning", "assistant"],
  ["completion_result", "assistant"],
  ["followup", "assistant"],
  ["plan_mode_respond", "assistant"],
]);

/** Kinds of rows that `readViewRows` handles. */
const TOLD_BESIDE: ReadonlySet<unknown> = new Set([
  "api_req_started",
  "checkpoint_created",
  "checkpoint_saved",
]);

/** Returns the messages that an editor displays, for a task whose other files are missing. Tool calls become notices. */
export function readShownMessages(rows: readonly JsonRecord[]): JsonRecord[] {
  return rows.flatMap((row): JsonRecord[] => {
    const { say, ask, ts, text } = row;
    const kind = say ?? ask;
    if (TOLD_BESIDE.has(kind)) return [];
    const role = SPEAKERS.get(kind);
    const said = toNonemptyText(text);
    if (role === undefined) return [{ ...row, role: "user", metadata: { displayOnly: true } }];
    if (said === undefined) return [];
    const { question, response = question } = parseRecord(said) ?? {};
    const spoken = ask === undefined ? said : (toNonemptyText(response) ?? said);
    return [{ role, ts, content: [{ type: kind === "reasoning" ? kind : "text", text: spoken }] }];
  });
}

/** Converts a call's token counts. With an OpenAI protocol, the input count includes both caches. */
function convertRequestUsage(request: JsonRecord): Usage {
  const { tokensIn, tokensOut, cacheReads, cacheWrites, cost, apiProtocol } = request;
  return toUsage({
    ...(apiProtocol === "openai" ? { inputWithCache: tokensIn } : { input: tokensIn }),
    output: tokensOut,
    cacheRead: cacheReads,
    cacheWrite: cacheWrites,
    cost,
  });
}

/**
 * Finds the call for each answer: the last call that began before the answer and after the previous answer.
 *
 * If times are missing, calls and answers are matched in order.
 *
 * @returns Calls by answer, and the calls whose answers no longer exist. A call that is still waiting for its answer appears in
 *   neither.
 */
export function assignCalls(
  answers: readonly JsonRecord[],
  calls: readonly ViewCall[],
): { readonly byAnswer: ReadonlyMap<JsonRecord, Usage>; readonly lost: readonly ViewCall[] } {
  const byAnswer = new Map<JsonRecord, Usage>();
  const lost: ViewCall[] = [];
  let next = 0;
  for (const answer of answers) {
    const { ts } = answer;
    let own: ViewCall | undefined;
    for (let call = calls[next]; call !== undefined; call = calls[next]) {
      const isTimed = typeof ts === "number" && typeof call.time === "number";
      if (isTimed ? Number(call.time) > ts : own !== undefined) break;
      if (own !== undefined) lost.push(own);
      own = call;
      next++;
    }
    if (own !== undefined) byAnswer.set(answer, own.usage);
  }
  return { byAnswer, lost: [...lost, ...calls.slice(next).filter(({ isCancelled }) => isCancelled)] };
}

/** Returns the checkpoints in a manifest. */
export function listCheckpoints(manifest: JsonRecord): Checkpoint[] {
  const { history } = getMember(getMember(manifest, "metadata"), "checkpoint");
  return toArray(history).flatMap((one) => {
    const { ref, createdAt, ...rest } = toRecord(one);
    return typeof ref === "string" ? [{ ref, createdAt, ...rest }] : [];
  });
}
