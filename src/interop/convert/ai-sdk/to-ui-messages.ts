import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { hashText } from "../../../core/format/ids.ts";
import type { AgentMessage } from "../../../core/format/message.ts";
import type { AnswerBlock, Dialect } from "../dialect.ts";
import { isSameJson } from "../raw-form.ts";
import { type PlannedAnswer, type PlannedUser, planMessages, type RequestPlan } from "../request-plan.ts";
import { getMessages, type RequestSource } from "../session/session-steps.ts";
import { getCallId, shortenId, ToolIds } from "../tool-ids.ts";
import { canReplay, findFamily } from "./provider-state.ts";
import { MODEL_MESSAGES } from "./to-model-messages.ts";
import type { UIMessage, UIMessagesOptions, UIMessagesResult, UIPart } from "./ui-parts.ts";
import { readStep, readUserParts, splitSteps, writeStep, writeUserParts } from "./ui-parts.ts";

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
  // The texts that are compared have lost what is blank.
  readUser: (raw) => readUserParts(getParts(raw).filter((part) => !isBlankText(part))),
  // A kept original spans several answers, and is read when they are joined.
  readAnswer: () => undefined,
  readResult: () => undefined,
};

/**
 * Converts a session, or the messages of a context, to UI messages of the AI SDK, a direction that the SDK itself does not offer.
 *
 * An assistant message holds all answers and results until the user speaks again, or an answer keeps a UI message of its
 * own in `details`, each model call behind a `step-start`. It shows the thinking of every model and the text of aborted answers. A call at the end without a result is
 * `input-available`.
 *
 * @param source - A session, or messages such as `buildSessionContext().messages`; not changed.
 * @returns `messages` as `validateUIMessages` and `convertToModelMessages` take them, `instructions`, and the issues.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#ai-sdk
 */
export function toUIMessages(source: RequestSource, options: UIMessagesOptions = {}): UIMessagesResult {
  return writeUIMessages(getMessages(source, options.leafId), options, () => false);
}

/** Converts messages like `toUIMessages`; `isFirst` tells where assistant messages begin besides those in `details`. */
export function writeUIMessages(
  messages: readonly AgentMessage[],
  options: UIMessagesOptions,
  isFirst: (index: number) => boolean,
): UIMessagesResult {
  const plan = planMessages(messages, UI_MESSAGES, {});
  const made: UIMessage[] = [];
  let turn: PlannedAnswer[] = [];
  const add = (index: number, role: UIMessage["role"], said: Said) => {
    const id = options.id?.(index) ?? hashText(JSON.stringify([index, role, said.parts])).slice(0, ID_LENGTH);
    made.push({ id, role, ...said });
  };
  const endTurn = () => {
    const [first] = turn;
    if (first !== undefined) add(first.index, "assistant", sayTurn(turn, plan));
    turn = [];
  };
  for (const item of plan.items) {
    if (item.kind === "answer") {
      if (isFirst(item.index) || findKept(item) !== undefined) endTurn();
      turn.push(item);
    } else {
      endTurn();
      if (item.kind === "user") add(item.index, "user", sayUser(item));
    }
  }
  endTurn();
  return {
    ...(plan.system !== "" && { instructions: plan.system }),
    messages: made,
    issues: plan.issues.list(),
  };
}

/** Returns the UI message that an answer keeps, the first one of it. */
function findKept(answer: PlannedAnswer | undefined): unknown {
  return toRecord(answer?.details)["uiMessage"];
}

type Said = Pick<UIMessage, "metadata" | "parts">;

function sayUser({ raw, content }: PlannedUser): Said {
  return raw === undefined ? { parts: writeUserParts(content) } : sayKept(raw);
}

/** Returns the content of a kept UI message. Unknown fields and kinds of parts stay unchanged. */
function sayKept(raw: unknown): Said {
  const { role: _, ...others } = toRecord(raw);
  return { ...others, parts: getParts(raw).filter(isPart) };
}

function isPart(part: object): part is UIPart {
  return typeof toRecord(part)["type"] === "string";
}

function sayTurn(turn: readonly PlannedAnswer[], plan: RequestPlan): Said {
  const raw = findKept(turn[0]);
  if (raw !== undefined && hasSameContent(raw, turn)) return sayKept(raw);
  reportImages(turn, plan);
  const last = plan.items.at(-1);
  const parts = turn.flatMap((answer) => {
    const results = answer.results.map(({ message, isMade }) => {
      return [message.toolCallId, { message, isOpen: isMade && answer === last }] as const;
    });
    const family = answer.isOwn ? findFamily(answer.api) : undefined;
    return writeStep(answer.content, new Map(results), family, (id) => plan.ids.of(id));
  });
  return { parts };
}

/** Reports the images of failed results, for which UI messages have only a text. */
function reportImages(turn: readonly PlannedAnswer[], { issues }: RequestPlan): void {
  for (const { message, index } of turn.flatMap(({ results }) => results)) {
    if (message.isError && message.content.some(({ type }) => type === "image"))
      issues.report("BLOCK_DROPPED", index, "Dropped the images of a failed result.");
  }
}

/** Tells whether a kept UI message still matches its answers and results. */
function hasSameContent(raw: unknown, turn: readonly PlannedAnswer[]): boolean {
  const steps = splitSteps(getParts(raw)).map(readStep);
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
  return type === "text" && String(text).trim() === "";
}

/** Tells whether a block is not empty. A model stopped early may leave empty texts. */
function isShown(block: AnswerBlock): boolean {
  if (block.type === "text") return block.text.trim() !== "" || block.textSignature !== undefined;
  return block.type !== "thinking" || block.thinking !== "" || block.thinkingSignature !== undefined;
}

function getParts(message: unknown): readonly object[] {
  return toArray(toRecord(message)["parts"]).map(toRecord);
}
