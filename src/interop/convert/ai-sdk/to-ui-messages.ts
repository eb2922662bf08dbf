import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { hashText } from "../../../core/format/ids.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import type { AgentMessage } from "../../../core/format/message.ts";
import { assertOptions } from "../../../core/format/options.ts";
import type { AnswerBlock, Dialect } from "../dialect.ts";
import { isSameJson } from "../raw-form.ts";
import { type PlannedAnswer, type PlannedUser, planMessages, type RequestPlan } from "../request-plan.ts";
import { getMessages, type RequestSource } from "../session/session-steps.ts";
import { getCallId, shortenId, ToolIds } from "../tool-ids.ts";
import { withTypedFields } from "../typed-message.ts";
import { canReplay, findFamily } from "./provider-state.ts";
import { MODEL_MESSAGES } from "./to-model-messages.ts";
import {
  type PartResult,
  readStep,
  readUserParts,
  splitSteps,
  type UIMessage,
  type UIMessageLike,
  type UIMessagesOptions,
  type UIMessagesResult,
  type UIPart,
  writeStep,
  writeUserParts,
} from "./ui-parts.ts";
import {
  type CurrentAnswer,
  callChanges,
  changedMessage,
  changedPart,
  currentParts,
  messageChanges,
  partChanges,
  readUIState,
  type UIState,
} from "./ui-state.ts";

const ID_LENGTH = 16;

const UI_MESSAGES: Dialect = {
  ...MODEL_MESSAGES,
  form: "uiMessage",
  isForDisplay: true,
  startsWithUser: false,
  wantsThinkingWhole: false,
  takesImages: () => true,
  canReplay: (block, answer) => block.thinking !== "" || canReplay(block, answer),
  // No provider sees these ids.
  newIds: () =>
    new ToolIds({ maxLength: Number.POSITIVE_INFINITY, getPart: getCallId, fitForeign: shortenId }),
  // The content to compare contains no blank text.
  readUser: (raw) => readUserParts(getParts(raw).filter((part) => !isBlankText(part))),
  // A stored original may span several answers and is read when they are joined.
  readAnswer: () => undefined,
  readResult: () => undefined,
};

/**
 * Converts a session, or the messages of a context, to AI SDK UI messages. The SDK itself does not offer this
 * conversion.
 *
 * An assistant message contains all answers and results up to the next user message, or up to an answer with its own UI
 * message in `details`. Each model call follows a `step-start`. Includes the thinking of every model and the text of
 * aborted answers. A call at the end without a result is `input-available`.
 *
 * @param source - Session, or messages such as `buildSessionContext().messages`. Not modified.
 * @returns `messages` as accepted by `validateUIMessages` and `convertToModelMessages`, `instructions`, and `issues`.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#ai-sdk
 */
export function toUIMessages(source: RequestSource, options: UIMessagesOptions = {}): UIMessagesResult {
  assertOptions<object>(options, {});
  const messages = getMessages(source, options.leafId);
  const { written, ...result } = writeUIMessages(messages, options, () => false);
  return { ...result, messages: written.map(({ message }) => message) };
}

/** UI message, and the messages that it was created from. */
export interface WrittenMessage {
  readonly message: UIMessage;
  /** Index of the user message, or indexes of the answers. */
  readonly indexes: readonly number[];
  /** Indexes of the answers' results. */
  readonly resultIndexes: readonly number[];
  /**
   * Returns the states to store with the indexed messages, in the same order, so that the UI message equals `other`.
   */
  changesTo(other: UIMessageLike): UIState[];
}

/**
 * Converts messages like `toUIMessages`. `isFirst` returns whether an answer begins an assistant message, in addition
 * to the starts in `details`.
 */
export function writeUIMessages(
  messages: readonly AgentMessage[],
  options: UIMessagesOptions,
  isFirst: (index: number) => boolean,
): Omit<UIMessagesResult, "messages"> & { readonly written: WrittenMessage[] } {
  const plan = planMessages(messages.map(withTypedFields), UI_MESSAGES, {});
  const written: WrittenMessage[] = [];
  let turn: PlannedAnswer[] = [];
  const add = (index: number, writer: UserWriter | TurnWriter) => {
    const said = writer.say();
    const { role, parts } = said;
    const id = options.id?.(index) ?? hashText(JSON.stringify([index, role, parts])).slice(0, ID_LENGTH);
    const { indexes, resultIndexes } = writer;
    const changesTo = (other: UIMessageLike) => writer.changesTo(other);
    written.push({ message: { id, ...said }, indexes, resultIndexes, changesTo });
  };
  const endTurn = () => {
    const [first] = turn;
    if (first !== undefined) add(first.index, new TurnWriter(turn, plan));
    turn = [];
  };
  for (const item of plan.items) {
    if (item.kind === "answer") {
      if (isFirst(item.index) || startsTurn(item)) endTurn();
      turn.push(item);
    } else {
      endTurn();
      if (item.kind === "user") add(item.index, new UserWriter(item));
    }
  }
  endTurn();
  return {
    ...(plan.system !== "" && { instructions: plan.system }),
    written,
    issues: plan.issues.list(),
  };
}

/** Returns the UI message stored with an answer: the whole message, or the part that was new when the answer was stored. */
function findKept(answer: PlannedAnswer | undefined): unknown {
  return toRecord(answer?.details)["uiMessage"];
}

/** Returns whether an answer begins its stored UI message. A later part of a message has no role. */
function startsTurn(answer: PlannedAnswer): boolean {
  return toRecord(findKept(answer))["role"] !== undefined;
}

type Said = Omit<UIMessage, "id">;

/** Writes a user message. */
class UserWriter {
  readonly indexes: readonly number[];
  readonly resultIndexes: readonly number[] = [];
  readonly #item: PlannedUser;

  constructor(item: PlannedUser) {
    this.indexes = [item.index];
    this.#item = item;
  }

  say(state = readUIState(this.#item.details)): Said {
    const { raw, content } = this.#item;
    const kept = raw === undefined ? { parts: writeUserParts(content) } : toRecord(raw);
    const parts = getParts(kept).map((part, at) => changedPart(part, at, state["parts"]));
    return saidBy("user", changedMessage({ ...kept, parts }, state));
  }

  changesTo(other: UIMessageLike): UIState[] {
    const parts = partChanges(this.say({}).parts, getParts(other));
    const state = parts === undefined ? {} : { parts };
    return [withMessageChanges(state, (changed) => this.say({ ...changed }), other)];
  }
}

/** Writes the answers up to the next user message. */
class TurnWriter {
  readonly indexes: readonly number[];
  readonly resultIndexes: readonly number[];
  readonly #turn: readonly PlannedAnswer[];
  readonly #plan: RequestPlan;

  constructor(turn: readonly PlannedAnswer[], plan: RequestPlan) {
    this.indexes = turn.map(({ index }) => index);
    this.resultIndexes = turn.flatMap(({ results }) => results.map(({ index }) => index));
    this.#turn = turn;
    this.#plan = plan;
    reportImages(turn, plan);
  }

  say(states: readonly JsonRecord[] = this.#turn.map(({ details }) => readUIState(details))): Said {
    const answers = this.#turn.map(
      (answer, at): CurrentAnswer => ({ state: states[at] ?? {}, results: storedResults(answer) }),
    );
    const { parts: _, ...fields } = toRecord(findKept(this.#turn[0]));
    const parts = this.#runs().flatMap(([start, end]) => this.#sayRun(start, answers.slice(start, end)));
    return saidBy("assistant", changedMessage({ ...fields, parts }, states[0] ?? {}));
  }

  changesTo(other: UIMessageLike): UIState[] {
    const bare = splitSteps(this.say([]).parts);
    const now = splitSteps(getParts(other));
    const states = this.#turn.map((_, at): UIState => {
      const [before = [], after = []] = [bare[at], now[at]];
      const calls = callChanges(before, after);
      const parts = before.length === after.length ? partChanges(before, after) : undefined;
      return { ...(calls !== undefined && { calls }), ...(parts !== undefined && { parts }) };
    });
    const [first = {}, ...rest] = states;
    const say = (state: UIState) => this.say([{ ...state }, ...rest.map((one) => ({ ...one }))]);
    return [withMessageChanges(first, say, other), ...rest];
  }

  /** Returns the ranges of answers that share a stored original or have no original. */
  #runs(): [start: number, end: number][] {
    const runs: [number, number][] = [];
    for (let start = 0; start < this.#turn.length; ) {
      const kept = findKept(this.#turn[start]);
      const steps = kept === undefined ? this.#turn.length : splitSteps(getParts(kept)).length;
      const next = this.#turn.findIndex((answer, at) => at > start && findKept(answer) !== undefined);
      const end = Math.min(start + Math.max(steps, 1), next === -1 ? this.#turn.length : next);
      runs.push([start, end]);
      start = end;
    }
    return runs;
  }

  #sayRun(start: number, answers: readonly CurrentAnswer[]): object[] {
    const run = this.#turn.slice(start, start + answers.length);
    const raw = findKept(run[0]);
    const kept = raw === undefined ? undefined : currentParts(getParts(raw).filter(isPart), answers);
    if (kept !== undefined && hasSameContent(kept, run)) return kept;
    const last = this.#plan.items.at(-1);
    const parts = run.flatMap((answer) => {
      const results = answer.results.map(({ message, isMade }) => {
        return [message.toolCallId, { message, isOpen: isMade && answer === last }] as const;
      });
      const family = answer.isOwn ? findFamily(answer.api) : undefined;
      return writeStep(answer.content, new Map(results), family, (id) => this.#plan.ids.of(id));
    });
    return currentParts(parts, answers);
  }
}

/** Returns the stored results of an answer's calls, by the SDK's call ids. */
function storedResults({ results }: PlannedAnswer): Map<string, PartResult> {
  return new Map(
    results.flatMap(({ message, isMade }) =>
      isMade ? [] : [[getCallId(message.toolCallId), { message, isOpen: false }]],
    ),
  );
}

/** Adds the remaining differences from another message to the changes to parts. */
function withMessageChanges(state: UIState, say: (state: UIState) => Said, other: UIMessageLike): UIState {
  const { id: _, role: __, ...after } = other;
  const { role: ___, ...before } = say(state);
  return { ...state, ...messageChanges(before, after) };
}

function saidBy(role: UIMessage["role"], { parts, ...fields }: JsonRecord): Said {
  return { ...fields, role, parts: getParts({ parts }).filter(isPart) };
}

function isPart(part: object): part is UIPart {
  return typeof toRecord(part)["type"] === "string";
}

/** Reports images in failed results, because UI messages can contain only text for failed results. */
function reportImages(turn: readonly PlannedAnswer[], { issues }: RequestPlan): void {
  for (const { message, index } of turn.flatMap(({ results }) => results)) {
    if (message.isError && message.content.some(({ type }) => type === "image"))
      issues.report("BLOCK_DROPPED", index, "Dropped the images in a failed result.");
  }
}

/** Returns whether the parts of a stored UI message still match its answers and results. */
function hasSameContent(parts: readonly object[], turn: readonly PlannedAnswer[]): boolean {
  const steps = splitSteps(parts).map(readStep);
  const read = steps.map(({ content, results }) => [
    content.filter(isShown),
    results.map(({ result }) => result),
  ]);
  const planned = turn.map(({ content, results }) => [
    content.filter(isShown),
    results
      .filter(({ isMade }) => !isMade)
      .map(({ message }) => ({
        toolCallId: getCallId(message.toolCallId),
        content: message.content,
        isError: message.isError,
      })),
  ]);
  return isSameJson(read.length === 0 ? [[[], []]] : read, planned);
}

function isBlankText(part: object): boolean {
  const { type, text } = toRecord(part);
  return type === "text" && toSafeString(text).trim() === "";
}

/** Returns whether a block is not empty. A model that stopped early may leave empty text blocks. */
function isShown(block: AnswerBlock): boolean {
  if (block.type === "text") return block.text.trim() !== "" || block.textSignature !== undefined;
  return block.type !== "thinking" || block.thinking !== "" || block.thinkingSignature !== undefined;
}

function getParts(message: unknown): readonly object[] {
  return toArray(toRecord(message)["parts"]).map(toRecord);
}
