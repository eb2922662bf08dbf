import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { isSameJson, STATE_DETAIL } from "../raw-form.ts";
import { isStepStart, isToolPart, type PartResult, writeOutcome } from "./ui-parts.ts";

/** Difference between two records. */
export interface Change {
  readonly set?: JsonRecord;
  readonly unset?: readonly string[];
}

/** Changes to the parts in a list, by index. */
export type PartChanges = readonly (readonly [index: number, change: Change])[];

/** Replacement for consecutive parts in a list. */
export interface Splice {
  readonly at: number;
  readonly remove: number;
  readonly insert: readonly object[];
}

/** Changes to a UI message, stored with the messages it was converted to. */
export interface UIState {
  /** Changes to an answer's tool parts, by call id. */
  readonly calls?: { readonly [toolCallId: string]: Change };
  /** Changes to the other parts of a user message or of an answer's step. */
  readonly parts?: PartChanges;
  /** Changes to the fields of the UI message except its parts. Only with the first answer. */
  readonly message?: Change;
  /**
   * Replacement for parts that do not belong to a step, or whose number differs from the number of entries. Only with the first
   * answer.
   */
  readonly splice?: Splice;
}

/** Returns the difference between two records; undefined if they are equal. */
function changeBetween(before: object, after: object): Change | undefined {
  const [old, now] = [toRecord(before), toRecord(after)];
  const set = Object.entries(now).filter(([name, value]) => !(name in old) || !isSameJson(old[name], value));
  const unset = Object.keys(old).filter((name) => !(name in now));
  if (set.length === 0 && unset.length === 0) return undefined;
  return { ...(set.length > 0 && { set: Object.fromEntries(set) }), ...(unset.length > 0 && { unset }) };
}

/** Applies a difference to a record. */
export function applyChange(record: object, change: unknown): JsonRecord {
  const { set, unset } = toRecord(change);
  const kept = Object.entries(record).filter(([name]) => !toArray(unset).includes(name));
  return { ...Object.fromEntries(kept), ...toRecord(set) };
}

/** Returns the changes stored in a message's `details`. */
export function readUIState(details: unknown): JsonRecord {
  return toRecord(toRecord(details)[STATE_DETAIL]);
}

/** Answer in a UI message: its changes, and the results of its calls by the SDK's call ids. */
export interface CurrentAnswer {
  readonly state: JsonRecord;
  readonly results: ReadonlyMap<string, PartResult>;
}

/** Returns the parts of the answers' steps, updated with outcomes of calls that arrived after the parts were stored. */
export function currentParts(parts: readonly object[], answers: readonly CurrentAnswer[]): object[] {
  let [step, at, isInStep] = [-1, -1, false];
  return parts.map((part) => {
    if (isStepStart(part)) {
      isInStep = false;
      return part;
    }
    [step, at] = isInStep ? [step, at + 1] : [step + 1, 0];
    isInStep = true;
    const answer = answers[step];
    return answer === undefined ? part : currentPart(part, at, answer);
  });
}

function currentPart(part: object, at: number, { state, results }: CurrentAnswer): object {
  if (!isToolPart(part)) return changedPart(part, at, state["parts"]);
  const id = toSafeString(toRecord(part)["toolCallId"]);
  const calls = toRecord(state["calls"]);
  const changed = Object.hasOwn(calls, id) ? applyChange(part, calls[id]) : part;
  return settled(withResult(changed, results.get(id)));
}

/** Converts the state of a call from model messages, where approvals have no state, to the state in UI messages. */
function settled(part: object): object {
  const { state, approval, errorText: _, ...others } = toRecord(part);
  const { approved } = toRecord(approval);
  if (approval !== undefined && state === "input-available")
    return {
      ...others,
      approval,
      state: approved === undefined ? "approval-requested" : "approval-responded",
    };
  return approved === false && state === "output-error"
    ? { ...others, approval, state: "output-denied" }
    : part;
}

/** Applies the change to a part, if the part has a change. */
export function changedPart(part: object, at: number, changes: unknown): object {
  const found = toArray(changes).find((one) => toArray(one)[0] === at);
  return found === undefined ? part : applyChange(part, toArray(found)[1]);
}

/** Applies the stored changes to a whole message. */
export function changedMessage(said: { readonly parts: readonly object[] }, state: JsonRecord): JsonRecord {
  const { message, splice } = state;
  const { at, remove, insert } = toRecord(splice);
  const { parts, ...fields } = said;
  const isSpliced = typeof at === "number" && typeof remove === "number" && Array.isArray(insert);
  const now = isSpliced
    ? [...parts.slice(0, at), ...insert.map(toRecord), ...parts.slice(at + remove)]
    : parts;
  return { ...applyChange(fields, message), parts: now };
}

/** Returns the changes between parts with the same index; undefined if they are equal. */
export function partChanges(before: readonly object[], after: readonly object[]): PartChanges | undefined {
  const changes = before.flatMap((part, at) => {
    const now = after[at];
    const change = now === undefined || isToolPart(part) ? undefined : changeBetween(part, now);
    return change === undefined ? [] : [[at, change] as const];
  });
  return changes.length === 0 ? undefined : changes;
}

/** Returns the changes between tool parts by call id; undefined if they are equal. */
export function callChanges(before: readonly object[], after: readonly object[]): UIState["calls"] {
  const now = new Map(after.filter(isToolPart).map((part) => [toRecord(part)["toolCallId"], part]));
  const changes = before.filter(isToolPart).flatMap((part) => {
    const id = toRecord(part)["toolCallId"];
    const current = now.get(id);
    const change = current === undefined ? undefined : changeBetween(part, current);
    return change === undefined ? [] : [[toSafeString(id), change] as const];
  });
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** Returns the changes between two whole messages; empty if there are no changes. */
export function messageChanges(
  before: { readonly parts: readonly object[] },
  after: { readonly parts: readonly object[] },
): Pick<UIState, "message" | "splice"> {
  const { parts: old, ...fields } = before;
  const { parts: now, ...others } = after;
  const message = changeBetween(fields, others);
  const isSame = (a: object | undefined, b: object | undefined) => isSameJson(a, b);
  let at = 0;
  while (at < old.length && at < now.length && isSame(old[at], now[at])) at++;
  let end = 0;
  const max = Math.min(old.length, now.length) - at;
  while (end < max && isSame(old.at(-1 - end), now.at(-1 - end))) end++;
  const [remove, insert] = [old.length - at - end, now.slice(at, now.length - end)];
  return {
    ...(message !== undefined && { message }),
    ...((remove > 0 || insert.length > 0) && { splice: { at, remove, insert } }),
  };
}

/** Adds a result to a call that had no result when its part was stored. A denial is already in the approval. */
function withResult(part: object, result: PartResult | undefined): object {
  const { output: _, errorText: __, preliminary, ...kept } = toRecord(part);
  const { state, providerExecuted, approval } = kept;
  const isDone = state === "output-available" && preliminary !== true;
  const isOver = isDone || state === "output-error" || state === "output-denied";
  const isDenied = toRecord(approval)["approved"] === false;
  if (result === undefined || result.isOpen || providerExecuted === true || isOver || isDenied) return part;
  return { ...kept, ...writeOutcome(result) };
}
