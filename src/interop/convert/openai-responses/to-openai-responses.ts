import { toRecord } from "../../../core/context/entry-fields.ts";
import { assertOptions } from "../../../core/format/options.ts";
import { type Dialect, NO_ORIGINALS, USUAL_DIALECT } from "../dialect.ts";
import { endsWithType } from "../raw-form.ts";
import {
  type PlannedAnswer,
  type PlannedUser,
  type RequestPlan,
  reportFailedResult,
} from "../request-plan.ts";
import { planRequest } from "../session/plan-source.ts";
import type { RequestSource } from "../session/session-steps.ts";
import { getCallId, ToolIds } from "../tool-ids.ts";
import {
  isHostCall,
  isHostOutput,
  isReasoningId,
  MAX_ID,
  type OpenAICallOutput,
  type OpenAICustomToolCall,
  type OpenAIInputMessage,
  type OpenAIResponsesItem,
  type OpenAIResponsesOptions,
  type OpenAIResponsesRequest,
  parseReasoningItem,
  parseTextItem,
  readAnswer,
  readResult,
  readSystem,
  readUser,
  writeAnswer,
  writeResult,
  writeUser,
} from "./openai-responses-content.ts";

const OPENAI_RESPONSES: Omit<Dialect, "canReplay" | "readAnswer"> = {
  ...USUAL_DIALECT,
  form: "openaiResponses",
  apis: new Set(["openai-responses", "openai-codex-responses", "azure-openai-responses"]),
  provider: "openai",
  systemInFront: "leading",
  wantsThinkingWhole: true,
  // Next to a generated image, a model writes an empty text in a separate item.
  keepsSignedText: (signature) => parseTextItem(signature) !== undefined,
  newIds: () => new ToolIds({ maxLength: MAX_ID, getPart: getCallId }),
  readSystem,
  readUser,
  readResult,
};

/**
 * Converts a session, or the messages of a context, to a request for OpenAI's Responses API.
 *
 * Reasoning from the requested model is sent back unchanged, followed by its item. If that is impossible, the items of
 * the answer are sent without ids, because the provider rejects an item with a known id if its reasoning is missing.
 *
 * @param source - Session, or messages such as `buildSessionContext().messages`. Not modified.
 * @returns `instructions` and `input` for `responses.create`, and issues.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#openai-responses
 */
export function toOpenAIResponses(
  source: RequestSource,
  options: OpenAIResponsesOptions = {},
): OpenAIResponsesRequest {
  const { plan, written } = planOpenAIResponses(source, options);
  reportFailedResult(plan);
  const input = written.flatMap(({ items }) => items);
  return { ...(plan.system !== "" && { instructions: plan.system }), input, issues: plan.issues.list() };
}

/** Items for one message and the results of its calls. */
interface WrittenItems {
  readonly index: number;
  readonly items: readonly OpenAIResponsesItem[];
}

/**
 * Plans a request and writes its items.
 *
 * @param isPortable - Whether the items are for a different account or program. If so, omits ids of stored items and
 *   originals that only the provider supports. Default: false.
 */
export function planOpenAIResponses(
  source: RequestSource,
  options: OpenAIResponsesOptions,
  { isPortable = false }: { readonly isPortable?: boolean } = {},
): { readonly plan: RequestPlan; readonly written: WrittenItems[] } {
  assertOptions<object>(options, {});
  const isStored = options.store ?? true;
  const dialect: Dialect = {
    ...OPENAI_RESPONSES,
    canReplay: ({ thinkingSignature }, { provider }) => {
      const item = parseReasoningItem(thinkingSignature, !isStored);
      return item !== undefined && isReasoningId(provider, item.id);
    },
    readAnswer: (raw) => (isReplayable(raw, isStored) ? readAnswer(raw) : undefined),
    ...(isPortable && NO_ORIGINALS),
  };
  const plan = planRequest(source, dialect, options);
  const writer = new ItemWriter(plan, isPortable);
  const written = plan.items.map((item): WrittenItems => {
    const { index } = item;
    if (item.kind === "answer") return { index, items: writer.writeAnswer(item) };
    if (item.kind === "user") return { index, items: [writer.writeUser(item)] };
    return {
      index,
      items: [isInstructions(item.raw) ? item.raw : { role: "developer", content: item.text }],
    };
  });
  return { plan, written };
}

/**
 * Returns whether the provider accepts items. It rejects trailing reasoning and references to items that it has not
 * stored.
 */
function isReplayable(raw: unknown, isStored: boolean): boolean {
  const isReference = (item: unknown) => toRecord(item)["type"] === "item_reference";
  return !endsWithType(raw, "reasoning") && (isStored || !getItems(raw).some(isReference));
}

/** Writes items, each only once and together with the items it requires. */
class ItemWriter {
  readonly #plan: RequestPlan;
  readonly #usedIds = new Set<string>();
  /** Ids of host tool calls that have results. */
  readonly #answered: ReadonlySet<string>;
  readonly #called = new Set<string>();

  /** Whether calls to custom tools are written as custom tool calls for any model, and without item ids. */
  readonly #isPortable: boolean;

  constructor(plan: RequestPlan, isPortable: boolean) {
    this.#plan = plan;
    this.#isPortable = isPortable;
    const kept = plan.items.flatMap((item) => (item.kind === "system" ? [] : getItems(item.raw)));
    this.#answered = new Set(kept.filter(isHostOutput).flatMap(getPairIds));
  }

  writeUser({ raw, content, index }: PlannedUser): OpenAIResponsesItem {
    if (!isMessage(raw)) return writeUser(content);
    if (!isHostOutput(raw) || getPairIds(raw).some((id) => this.#called.has(id))) return raw;
    this.#plan.issues.report(
      "DETAILS_DROPPED",
      index,
      "Replaced the output of a tool with a message because its call is missing.",
    );
    return writeUser(content);
  }

  writeAnswer(answer: PlannedAnswer): OpenAIResponsesItem[] {
    const items = this.#writeItems(answer);
    const custom = new Set(items.flatMap((item) => (isCustomCall(item) ? [item.call_id] : [])));
    const outputs = answer.results.map(({ message, raw }): OpenAIResponsesItem => {
      const callId = this.#plan.ids.of(message.toolCallId);
      const type = custom.has(callId) ? "custom_tool_call_output" : "function_call_output";
      return isOutput(raw, type) ? raw : writeResult(message, type, callId);
    });
    return [...items, ...outputs];
  }

  #writeItems({ content, isOwn, isIncomplete, raw, index }: PlannedAnswer): OpenAIResponsesItem[] {
    const style = { isOwn: isOwn || this.#isPortable, getId: (id: string) => this.#plan.ids.of(id) };
    const isUsable = isItems(raw) && raw.every((item) => !isHostCall(item) || this.#isAnswered(item));
    const hasItemIds = isOwn && raw === undefined && !this.#isPortable;
    const items = isUsable ? raw : writeAnswer(content, { ...style, hasItemIds });
    const ids = items.flatMap((item) => getIds(item));
    const isRepeated = new Set(ids).size < ids.length || ids.some((id) => this.#usedIds.has(id));
    if (!isIncomplete && !isRepeated) {
      for (const id of ids) this.#usedIds.add(id);
      for (const id of items.flatMap(getPairIds)) this.#called.add(id);
      if (raw !== undefined && !isUsable)
        this.#plan.issues.report("DETAILS_DROPPED", index, "Dropped a call whose output is missing.");
      return items;
    }
    if (raw !== undefined)
      this.#plan.issues.report("DETAILS_DROPPED", index, "Dropped items that the request already contains.");
    else if (items.some((item) => toRecord(item)["type"] === "reasoning")) {
      this.#plan.issues.report(
        "THINKING_DROPPED",
        index,
        "Dropped reasoning that the request already contains.",
      );
    }
    return writeAnswer(content, { ...style, hasItemIds: false });
  }

  #isAnswered(item: OpenAIResponsesItem): boolean {
    return getPairIds(item).some((id) => this.#answered.has(id));
  }
}

function isCustomCall(item: OpenAIResponsesItem): item is OpenAICustomToolCall {
  return toRecord(item)["type"] === "custom_tool_call";
}

function getItems(raw: unknown): readonly unknown[] {
  return Array.isArray(raw) ? raw : [raw];
}

/** Returns the ids that pair a call with the host's result. */
function getPairIds(item: unknown): string[] {
  const { id, call_id, approval_request_id } = toRecord(item);
  return [id, call_id, approval_request_id].filter((one) => typeof one === "string");
}

function getIds(item: OpenAIResponsesItem): string[] {
  const { id } = toRecord(item);
  return typeof id === "string" ? [id] : [];
}

/** Returns whether a value is an array of kept items. Unknown types are sent unchanged. */
function isItems(raw: unknown): raw is OpenAIResponsesItem[] {
  return readAnswer(raw) !== undefined;
}

function isInstructions(raw: unknown): raw is OpenAIInputMessage {
  return readSystem(raw) !== undefined;
}

function isMessage(raw: unknown): raw is OpenAIInputMessage {
  return readUser(raw) !== undefined;
}

function isOutput(raw: unknown, type: OpenAICallOutput["type"]): raw is OpenAICallOutput {
  return toRecord(raw)["type"] === type;
}
