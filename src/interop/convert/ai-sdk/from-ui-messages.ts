import { toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { UNKNOWN_NAME } from "../../../core/format/message.ts";
import type { AnswerFields } from "../answer.ts";
import type { MessageImportOptions } from "../conversion-options.ts";
import {
  assertMessages,
  type ConvertedMessages,
  History,
  makeUnknownRoleError,
  type SdkForm,
  withDetails,
} from "../message-history.ts";
import { withoutFields } from "../raw-form.ts";
import { getCallId } from "../tool-ids.ts";
import { readUsage } from "./from-model-messages.ts";
import { type Family, findFamilyOfParts, getFamilyIdentity } from "./provider-state.ts";
import {
  isStepStart,
  normalizeUIPart,
  type PartResult,
  type ReadStep,
  readStep,
  readUserParts,
  splitSteps,
  type UIMessageLike,
  writeStep,
  writeUserParts,
} from "./ui-parts.ts";

const FORM: SdkForm = {
  name: "uiMessage",
  api: "ai-sdk",
  provider: UNKNOWN_NAME,
  writeUser: (content) => ({ role: "user", parts: writeUserParts(content) }),
  // A message may be converted to several answers and results, so it is stored as a whole.
  writeAnswer: () => undefined,
  writeResult: () => undefined,
  readUsage,
  plain: normalizeMessage,
};

/**
 * Converts AI SDK UI messages to session messages: one answer per step of an assistant message, each followed by
 * its tool results.
 *
 * Stores a whole message in `details` if part of it has no counterpart, such as data parts, sources, approvals, or
 * metadata; `toUIMessages` restores it. Structured output is stored with its result. The model and usage of an answer are
 * read from its metadata (`model`, `provider`, and `totalUsage` or `usage`).
 *
 * @param messages - Messages as returned by the SDK's hooks. Message ids are not preserved; use `saveChat` to preserve them.
 * @throws {TypeError} If a message has an unknown role or no parts, or the time is missing.
 * @remarks Cost: O(messages and parts). Source: docs/messages.md#ai-sdk
 */
export function fromUIMessages(
  messages: readonly UIMessageLike[],
  options: MessageImportOptions,
): ConvertedMessages {
  const { messages: converted, issues } = readUIMessages(messages, options);
  return { messages: converted, issues };
}

/**
 * Converts UI messages like `fromUIMessages`. For each message, `starts` contains the index of its first converted message or, if
 * it has none, the index of the next converted message.
 */
export function readUIMessages(
  messages: readonly UIMessageLike[],
  options: MessageImportOptions,
): ConvertedMessages & { readonly starts: readonly number[] } {
  assertMessages(messages);
  const reader = new UIMessageReader(options);
  const starts = messages.map((message, index) => {
    const start = reader.history.length;
    reader.read(message, index);
    return start;
  });
  return { ...reader.history.done(), starts };
}

class UIMessageReader {
  readonly history: History;
  readonly #options: MessageImportOptions;

  constructor(options: MessageImportOptions) {
    this.history = new History(options, FORM);
    this.#options = options;
  }

  read(message: UIMessageLike, index: number): void {
    const { role, parts } = message;
    if (!Array.isArray(parts)) {
      throw new TypeError(
        `Message ${index} has no parts, like messages before version 5 of the AI SDK; give it { parts: [{ type: "text", text }] }.`,
      );
    }
    switch (role) {
      case "system":
        this.#addSystem(message, index);
        return;
      case "user":
        this.history.user(index, readUserParts(parts), withoutFields(message, ["id"]));
        return;
      case "assistant":
        this.#addTurn(message, index);
        return;
      default:
        throw makeUnknownRoleError(index, role, ", which the AI SDK does not support");
    }
  }

  /** Adds the joined text, as the SDK does for models. */
  #addSystem({ id: _, role: __, parts, ...others }: UIMessageLike, index: number): void {
    const texts = parts.map(toRecord).filter(({ type }) => type === "text");
    this.history.system(index, texts.map(({ text }) => toText(text)).join(""));
    this.history.dropFields(index, others, "a system message");
    for (const text of texts)
      this.history.dropFields(index, withoutFields(text, ["type", "text", "state"]), "a system message");
    this.history.dropFromSystem(
      index,
      parts.map(({ type }) => type),
    );
  }

  #addTurn(message: UIMessageLike, index: number): void {
    const steps = splitSteps(message.parts);
    const read = steps.map(readStep);
    // Steps without state are attributed to the model of the other steps.
    const families = steps.map((step) => findFamilyOfParts(step) ?? findFamilyOfParts(message.parts));
    const again = read.flatMap((step, at) =>
      writeStep(step.content, getResults(step), families[at], getCallId),
    );
    const original = withoutFields(message, ["id"]);
    let details = this.history.keep(index, original, { role: message.role, parts: again }, "a UI message");
    if (read.length === 0 && details === undefined)
      this.history.report("MESSAGE_DROPPED", index, "Dropped an answer without parts.");
    else if (read.length === 0) this.history.answer(index, [], withDetails(details));
    const said = readMetadataFacts(message);
    const { usage: _, ...identity } = said;
    read.forEach((step, at) => {
      // For the SDK, a message's usage is the sum of its steps.
      const facts = at === read.length - 1 ? said : identity;
      this.#addStep(step, families[at], index, { ...facts, ...withDetails(details) });
      details = undefined;
    });
  }

  #addStep(
    { content, results }: ReadStep,
    family: Family | undefined,
    index: number,
    facts: Partial<AnswerFields>,
  ): void {
    this.history.answer(index, content, { ...getFamilyIdentity(family, this.#options), ...facts });
    for (const { result, toolName, details: kept } of results)
      this.history.result(index, result, { toolName, ...withDetails(kept) });
  }
}

/**
 * Returns facts about an answer that hosts store in its metadata: the model, and `totalUsage` or `usage` as counted by
 * the SDK.
 */
export function readMetadataFacts(message: UIMessageLike): Partial<AnswerFields> {
  const {
    totalUsage,
    usage: single,
    model,
    modelId = model,
    provider,
  } = toRecord(toRecord(message)["metadata"]);
  // If there are several steps, `usage` may be that of the last step only.
  const usage = toRecord(totalUsage ?? single);
  const { inputTokens, outputTokens } = usage;
  const isCounted = typeof inputTokens === "number" || typeof outputTokens === "number";
  return {
    ...(typeof provider === "string" && { provider }),
    ...(typeof modelId === "string" && { model: modelId }),
    ...(isCounted && { usage: readUsage(usage) }),
  };
}

/** Returns the results of a step by call id. */
function getResults({ content, results }: ReadStep): Map<string, PartResult> {
  const calls = new Map(
    content.flatMap((block) => (block.type === "toolCall" ? [[getCallId(block.id), block.id]] : [])),
  );
  return new Map(
    results.map(({ result, details }) => {
      const message = { content: result.content, isError: result.isError, ...withDetails(details) };
      return [calls.get(result.toolCallId) ?? result.toolCallId, { message, isOpen: false }];
    }),
  );
}

function normalizeMessage(message: object): object {
  const { parts, ...rest } = toRecord(message);
  const list: readonly object[] = Array.isArray(parts) ? parts : [];
  const steps = splitSteps(list);
  // The steps imply step starts, but not their other fields.
  const starts = list.filter((part) => isStepStart(part) && Object.keys(part).length > 1);
  return { ...rest, starts, steps: steps.map((step) => step.map(normalizeUIPart)) };
}
