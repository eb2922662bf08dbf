import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { isSameJson } from "../raw-form.ts";
import { callIdOf } from "../tool-ids.ts";
import { isStepStart, isToolPart, type PartResult, writeOutcome } from "./ui-parts.ts";

/** Key in `details` of what has changed in a UI message since its entries were written. */
export const STATE_DETAIL = "uiState";

/** Difference between two records. */
export interface Change {
  readonly set?: JsonRecord;
  readonly unset?: readonly string[];
}

/** Changes of a UI message; those of tool parts are kept with the answer that has the call. */
export interface UIState {
  /** Tool parts by the ids of their calls. */
  readonly calls?: { readonly [toolCallId: string]: Change };
  /** The message apart from its parts. */
  readonly message?: Change;
  /** Other parts by their index. */
  readonly parts?: readonly (readonly [index: number, change: Change])[];
  /** Number of parts; absent if it is the same. */
  readonly length?: number;
}

/** Returns the difference between two records; undefined if they are equal. */
export function changeBetween(before: object, after: object): Change | undefined {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  const set = Object.entries(now).filter(([name, value]) => !(name in old) || !isSameJson(old[name], value));
  const unset = Object.keys(old).filter((name) => !(name in now));
  if (set.length === 0 && unset.length === 0) return undefined;
  return { ...(set.length > 0 && { set: Object.fromEntries(set) }), ...(unset.length > 0 && { unset }) };
}

/** Applies a difference to a record. */
export function applyChange(record: object, change: unknown): JsonRecord {
  const { set, unset } = fieldsOf(change);
  const kept = Object.entries(record).filter(([name]) => !listOf(unset).includes(name));
  return { ...Object.fromEntries(kept), ...fieldsOf(set) };
}

/** An answer of a UI message: its `details`, and the results of its calls by the SDK's ids. */
export interface CurrentAnswer {
  readonly details: unknown;
  readonly results: ReadonlyMap<string, PartResult>;
}

/** Returns the parts of the steps of answers, with what happened to their calls since the parts were kept. */
export function currentParts(parts: readonly object[], answers: readonly CurrentAnswer[]): object[] {
  let step = -1;
  let isInStep = false;
  return parts.map((part) => {
    if (isStepStart(part)) {
      isInStep = false;
      return part;
    }
    if (!isInStep) step++;
    isInStep = true;
    const answer = answers[step];
    return answer === undefined || !isToolPart(part) ? part : currentCall(part, answer);
  });
}

function currentCall(part: object, { details, results }: CurrentAnswer): object {
  const id = String(fieldsOf(part)["toolCallId"]);
  const { calls } = fieldsOf(fieldsOf(details)[STATE_DETAIL]);
  const change = Object.hasOwn(fieldsOf(calls), id) ? fieldsOf(calls)[id] : undefined;
  return withResult(change === undefined ? part : applyChange(part, change), results.get(id));
}

/** Adds the result of a call that had none when its part was kept; a denial says the same in its approval. */
function withResult(part: object, result: PartResult | undefined): object {
  const { output: _, errorText: __, preliminary, ...kept } = fieldsOf(part);
  const { state, providerExecuted, approval } = kept;
  const isDone = state === "output-available" && preliminary !== true;
  const isOver = isDone || state === "output-error" || state === "output-denied";
  const isDenied = fieldsOf(approval)["approved"] === false;
  if (result === undefined || result.isOpen || providerExecuted === true || isOver || isDenied) return part;
  return { ...kept, ...writeOutcome(result) };
}

/** Indexes results by the SDK's ids of their calls. */
export function resultsByCall(
  results: readonly { readonly toolCallId: string; readonly result: PartResult }[],
): Map<string, PartResult> {
  return new Map(results.map(({ toolCallId, result }) => [callIdOf(toolCallId), result]));
}
