import { convertToLlm } from "../../core/context/convert-to-llm.ts";
import { toArray, toRecord } from "../../core/context/entry-fields.ts";
import { foldSystemMessages, joinSystemText } from "../../core/context/system-message.ts";
import { repairToolPairs, type ToolPairRepair } from "../../core/context/tool-pairs.ts";
import { isUnfinished } from "../../core/context/unfinished-answer.ts";
import type { ImageContent } from "../../core/format/content.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import type {
  AgentMessage,
  AssistantMessage,
  Message,
  SystemMessage,
  ToolResultMessage,
  UserMessage,
} from "../../core/format/message.ts";
import { ConversionIssues } from "./conversion-issue.ts";
import type { RequestOptions } from "./conversion-options.ts";
import { type AnswerBlock, type Dialect, findTarget, isWrittenBy, type ModelIdentity } from "./dialect.ts";
import {
  type FormName,
  findRaw,
  isOriginalForModel,
  isSameJson,
  listKeptForms,
  withoutBlankTexts,
} from "./raw-form.ts";
import { RequestContent } from "./request-content.ts";
import { bindsThinking } from "./session/claude-model.ts";
import { isSummaryBlock } from "./session/provider-summary.ts";
import type { ToolIds } from "./tool-ids.ts";
import { toWellFormedMessage } from "./well-formed-message.ts";

/** Instructions between messages. */
export interface PlannedSystem {
  readonly kind: "system";
  readonly index: number;
  readonly text: string;
  readonly message: SystemMessage;
  /** Kept original in this form, if the text is unchanged. */
  readonly raw: unknown;
}

/** User message. */
export interface PlannedUser {
  readonly kind: "user";
  readonly index: number;
  readonly content: UserMessage["content"];
  /** Kept original in this form, if the content is unchanged. */
  readonly raw: unknown;
  /** `details` of the message; absent for a message that the request adds. */
  readonly details?: unknown;
}

/** Tool result. */
export interface PlannedResult {
  readonly index: number;
  /** Whether the result is synthetic, that is, added for a call without a result. */
  readonly isMade: boolean;
  readonly message: ToolResultMessage;
  readonly raw: unknown;
}

/** Answer to send, with the results of its calls in order. */
export interface PlannedAnswer {
  readonly kind: "answer";
  readonly index: number;
  readonly content: readonly AnswerBlock[];
  readonly api: string;
  /** Whether the target model wrote the answer and can use its ids and signatures. */
  readonly isOwn: boolean;
  /** Whether the answer lost thinking or data kept in `details`. */
  readonly isIncomplete: boolean;
  readonly results: readonly PlannedResult[];
  readonly raw: unknown;
  /** `details` of the message. */
  readonly details: unknown;
}

/** Part of a request. */
export type PlannedItem = PlannedSystem | PlannedUser | PlannedAnswer;

/** Request before conversion to a provider's form. */
export interface RequestPlan {
  /** System text before the conversation, which may be empty. */
  readonly system: string;
  readonly items: PlannedItem[];
  readonly target: ModelIdentity | undefined;
  readonly ids: ToolIds;
  readonly issues: ConversionIssues;
}

/** Text of the user message added for providers that require a user message first. */
const FIRST_WORDS = "(The conversation starts with an answer.)";

/** Text of a result that contains only images, which are moved after it. */
const IMAGES_FOLLOW = "(see the image that follows)";

const REPAIRS: Readonly<Record<Exclude<ToolPairRepair["kind"], "messageDropped">, string>> = {
  resultMade: "has no result; a result that states this was added",
  resultMoved: "has its result later in the conversation; the result was moved to its call",
  resultQuoted:
    "has a late result after an answer that is bound to the synthetic result; it is sent there as user text",
  resultDropped: "has a result but no call; the result was dropped",
  callDropped: "cannot be paired; the call was dropped",
  callRenamed: "reuses an id; it was assigned a new one",
};

/** Returns whether the model that wrote an answer rejects the answer's thinking if preceding content changes. */
export function isBoundAnswer({ model, responseModel = model }: AssistantMessage): boolean {
  return bindsThinking(responseModel);
}

interface Indexed<M = Message> {
  readonly message: M;
  readonly index: number;
}

/**
 * Prepares a conversation in the form that all providers require: only finished answers, each followed by its results,
 * without thinking from other models and without empty content.
 *
 * @param messages - Messages of a context. Not modified.
 */
export function planMessages(
  messages: readonly AgentMessage[],
  dialect: Dialect,
  options: RequestOptions,
): RequestPlan {
  return new Planner(dialect, options).plan(messages);
}

class Planner {
  readonly #dialect: Dialect;
  readonly #options: RequestOptions;
  readonly #issues = new ConversionIssues();
  readonly #ids: ToolIds;
  readonly #content: RequestContent;
  /** Ids of calls with synthetic results. */
  readonly #made = new Set<string>();
  /** Names of called tools by call id. Results use the same names. */
  readonly #callNames = new Map<string, string>();
  #target: ModelIdentity | undefined;

  constructor(dialect: Dialect, options: RequestOptions) {
    this.#dialect = dialect;
    this.#options = options;
    this.#ids = dialect.newIds();
    this.#content = new RequestContent(dialect, this.#issues);
  }

  plan(messages: readonly AgentMessage[]): RequestPlan {
    const paired = this.#pair(this.#finished(messages));
    const all = paired.map(({ message }) => message);
    this.#target = findTarget(all, this.#dialect.apis, this.#dialect.provider, this.#options);
    for (const message of all) this.#keepIds(message);
    const items = this.#items(paired).flatMap((item) => this.#moveImages(item));
    const front = new Set(this.#systemInFront(items));
    const system = this.#systemText(Array.from(front, ({ message }) => message));
    const declaring =
      this.#dialect.systemInFront === "unanswered" ? [...front].map(({ message }) => message) : all;
    this.#reportTools(declaring);
    const isUnsaid = ({ text, raw, message }: PlannedSystem) =>
      raw === undefined && this.#dialect.isBlank(text) && (declaring === all || !changesTools(message));
    const rest = items.filter((item) => item.kind !== "system" || !(front.has(item) || isUnsaid(item)));
    this.#startWithUser(rest);
    return { system, items: rest, target: this.#target, ids: this.#ids, issues: this.#issues };
  }

  /** Reserves valid ids, so that changed ids cannot use them. */
  #keepIds(message: Message): void {
    if (message.role !== "assistant") return;
    const isOwn = isWrittenBy(this.#target, message);
    for (const { type, id } of toArray(message.content).map(toRecord)) {
      if (type === "toolCall" && typeof id === "string") this.#ids.keep(id, isOwn);
    }
  }

  #startWithUser(items: PlannedItem[]): void {
    const first = items.find((item) => item.kind !== "system");
    if (!this.#dialect.startsWithUser || first?.kind !== "answer" || isSummaryBlock(first.raw)) return;
    const { index } = first;
    this.#issues.report(
      "CONTENT_ADDED",
      index,
      "Added a user message because the conversation starts with an answer.",
    );
    items.unshift({ kind: "user", index, content: FIRST_WORDS, raw: undefined });
  }

  /** Returns the messages that providers support, without unfinished answers. */
  #finished(messages: readonly AgentMessage[]): Indexed[] {
    return messages.flatMap((input, index) => {
      const message = toWellFormedMessage(input);
      const converted = convertToLlm([message]);
      if (message !== input && converted.length > 0) {
        this.#issues.report(
          "CONTENT_REPLACED",
          index,
          "Replaced halves of characters, which providers reject, with U+FFFD.",
        );
      }
      if (converted.length === 0 && toRecord(message)["excludeFromContext"] !== true) {
        this.#issues.report(
          "MESSAGE_DROPPED",
          index,
          `Dropped a message of role ${getRole(message)}, which no provider supports.`,
        );
      }
      return converted.flatMap((one) => {
        if (one.role !== "assistant" || this.#dialect.isForDisplay || !isUnfinished(one))
          return [{ message: one, index }];
        this.#issues.report("MESSAGE_DROPPED", index, `Dropped an answer that ended with ${one.stopReason}.`);
        return [];
      });
    });
  }

  #pair(input: readonly Indexed[]): Indexed[] {
    const { messages, repairs } = repairToolPairs(
      input.map(({ message }) => message),
      // For display, each result is shown with its call.
      this.#dialect.isForDisplay ? {} : { bindsThinking: isBoundAnswer },
    );
    const dropped = new Set<number>();
    const quoted = new Set<number>();
    for (const { kind, index, toolCallId, newToolCallId = toolCallId } of repairs) {
      if (kind === "messageDropped") dropped.add(index);
      if (kind === "resultQuoted") quoted.add(index);
      if (kind === "resultMade") this.#made.add(newToolCallId);
      const text =
        kind === "messageDropped"
          ? "Dropped a message that contained only dropped calls."
          : `Tool call ${JSON.stringify(toolCallId)} ${REPAIRS[kind]}.`;
      this.#issues.report("PAIR_REPAIRED", input[index]?.index ?? -1, text);
    }
    // A result has its own index or, if it is synthetic, that of its answer. All other messages are still in order.
    const isOther = (role: string, at: number) => role !== "toolResult" || quoted.has(at);
    const others = input.filter(({ message }, at) => isOther(message.role, at) && !dropped.has(at));
    const results = new Map(input.map(({ message, index }) => [message, index]));
    let at = -1;
    return messages.map((message) => {
      if (message.role !== "toolResult") at++;
      const index = others[at]?.index ?? -1;
      return { message, index: message.role === "toolResult" ? (results.get(message) ?? index) : index };
    });
  }

  #systemInFront(items: readonly PlannedItem[]): PlannedSystem[] {
    const { systemInFront } = this.#dialect;
    const systems = items.filter((item) => item.kind === "system");
    if (systemInFront === "unanswered") {
      const answer = items.find((item) => item.kind === "answer");
      return answer === undefined ? systems : systems.filter(({ index }) => index < answer.index);
    }
    // Data that only the original contains cannot be part of the instructions.
    const rest = items.findIndex((item) => item.kind !== "system" || item.raw !== undefined);
    const leading = rest === -1 ? systems : systems.slice(0, rest);
    // Sections replace each other by name, so they are meaningful only together.
    const hasSections = systems.some(({ message }) => isJsonRecord(toRecord(message)["sections"]));
    if (!hasSections && systemInFront === "none") return [];
    if (!hasSections && systemInFront === "leading") return leading;
    for (const { index, raw } of systems)
      if (raw !== undefined) this.#reportLost(index, [this.#dialect.form]);
    for (const { index } of systems.slice(leading.length)) {
      this.#issues.report("CONTENT_MOVED", index, "Moved a system message to the front of the request.");
    }
    return systems;
  }

  /** Returns the text at the front of the request; empty if the provider would reject it. */
  #systemText(messages: readonly SystemMessage[]): string {
    const text = joinSystemText(messages);
    if (text === "" || !this.#dialect.isBlank(text)) return text;
    this.#issues.report("BLOCK_DROPPED", -1, "Dropped instructions that are only white space.");
    return "";
  }

  #reportTools(messages: readonly Message[]): void {
    const tools = foldSystemMessages(messages, 0)?.toolsAdded ?? [];
    if (tools.length === 0) return;
    const names = tools.map(({ name }) => name).join(", ");
    this.#issues.report("TOOLS_DROPPED", -1, `Pass these tools with the request: ${names}.`);
  }

  #items(messages: readonly Indexed[]): PlannedItem[] {
    const items: PlannedItem[] = [];
    let results: PlannedResult[] = [];
    for (const { message, index } of messages) {
      if (message.role === "toolResult") {
        results.push(this.#result(message, index));
        continue;
      }
      results = [];
      const item =
        message.role === "assistant" ? this.#answer(message, index, results) : this.#other(message, index);
      if (item !== undefined) items.push(item);
      else
        this.#issues.report(
          "MESSAGE_DROPPED",
          index,
          `Dropped a message of role ${message.role} without content.`,
        );
    }
    return items;
  }

  #other(message: SystemMessage | UserMessage, index: number): PlannedItem | undefined {
    if (message.role === "system") {
      const text = joinSystemText([message]);
      const raw = this.#raw(message, index, this.#dialect.readSystem ?? (() => undefined), text);
      return { kind: "system", index, text, message, raw };
    }
    const content = this.#content.ofUser(message.content, index);
    const read = (raw: unknown) => toBlocks(this.#dialect.readUser(raw));
    const raw = this.#raw(message, index, read, toBlocks(content));
    const isNothing = content.length === 0 && (raw === undefined || !this.#dialect.isForDisplay);
    const { details } = message;
    return isNothing ? undefined : { kind: "user", index, content, raw, details };
  }

  #answer(
    message: AssistantMessage,
    index: number,
    results: readonly PlannedResult[],
  ): PlannedAnswer | undefined {
    const mayThink = this.#dialect.isForDisplay || isWrittenBy(this.#target, message);
    const isOwn = this.#options.dropThinking !== true && mayThink;
    const blocks = this.#content.ofAnswer(message, isOwn, index);
    const calls = blocks.filter((block) => block.type === "toolCall");
    for (const { id, name } of calls) this.#callNames.set(id, name);
    const changed = calls.filter(({ id }) => !this.#ids.isUnchanged(id));
    if (changed.length > 0)
      this.#issues.report("ID_CHANGED", index, "Changed ids that the provider would reject.");
    const read = changed.length > 0 ? () => undefined : this.#dialect.readAnswer;
    const raw = this.#raw(message, index, read, blocks);
    const { api, details } = message;
    // Thinking alone is not an answer, and providers reject it.
    const isNothing = this.#dialect.isForDisplay
      ? blocks.length === 0 && details === undefined
      : blocks.every(isThinking);
    if (isNothing && (raw === undefined || isEmpty(raw))) return undefined;
    const isIncomplete = raw === undefined && this.#hasLost(message, blocks);
    const content = isIncomplete ? this.#withoutThinking(blocks, index) : blocks;
    return { kind: "answer", index, content, api, isOwn, isIncomplete, results, raw, details };
  }

  /** Returns whether an answer lost thinking or content that its thinking belongs to. */
  #hasLost(message: AssistantMessage, blocks: readonly AnswerBlock[]): boolean {
    const thoughts = message.content.filter((block) => toRecord(block)["type"] === "thinking");
    const isPartial = blocks.filter(isThinking).length < thoughts.length;
    const isAtEnd = this.#dialect.wantsThinkingWhole && toRecord(blocks.at(-1))["type"] === "thinking";
    return isPartial || isAtEnd || this.#lostForms(message).length > 0;
  }

  #withoutThinking(blocks: AnswerBlock[], index: number): AnswerBlock[] {
    if (!this.#dialect.wantsThinkingWhole || !blocks.some(isThinking)) return blocks;
    this.#issues.report("THINKING_DROPPED", index, "Dropped thinking because part of its answer is missing.");
    return blocks.filter((block) => !isThinking(block));
  }

  #result(message: ToolResultMessage, index: number): PlannedResult {
    const { toolCallId } = message;
    const content = this.#content.ofTool(message.content, index);
    const isError = message.isError === true;
    const read = this.#ids.isUnchanged(toolCallId) ? this.#dialect.readResult : () => undefined;
    const raw = this.#raw(message, index, read, { toolCallId: this.#ids.of(toolCallId), content, isError });
    const toolName = this.#callNames.get(toolCallId) ?? this.#content.toolName(message.toolName, index);
    const isMade = this.#made.has(toolCallId);
    return { index, isMade, message: { ...message, toolName, content, isError }, raw };
  }

  /** Moves images that results cannot contain to a user message after the results. */
  #moveImages(item: PlannedItem): PlannedItem[] {
    if (item.kind !== "answer") return [item];
    const moved: ImageContent[] = [];
    const results = item.results.map((result) => {
      const { message, index } = result;
      const images = message.content.filter((block) => block.type === "image");
      if (images.length === 0 || this.#dialect.takesImages(message, this.#target)) return result;
      this.#issues.report("CONTENT_MOVED", index, "Moved the images of a result after the results.");
      moved.push(...images);
      const texts = message.content.filter((block) => block.type === "text");
      const content = texts.length > 0 ? texts : [{ type: "text" as const, text: IMAGES_FOLLOW }];
      return { ...result, message: { ...message, content }, raw: undefined };
    });
    if (moved.length === 0) return [item];
    const index = results.at(-1)?.index ?? item.index;
    return [
      { ...item, results },
      { kind: "user", index, content: moved, raw: undefined },
    ];
  }

  /** Returns the stored original of a message if its content is unchanged. Reports originals that cannot be sent. */
  #raw(message: object, index: number, read: (raw: unknown) => unknown, sent: unknown): unknown {
    const { form, isForDisplay, isBlank } = this.#dialect;
    const kept = findRaw(message, form);
    // Blank text is also dropped from the content, except for display.
    const raw = isForDisplay ? kept : withoutBlankTexts(kept, isBlank);
    if (raw !== undefined && isSameJson(read(raw), sent)) return raw;
    this.#reportLost(index, this.#lostForms(message));
    return undefined;
  }

  #reportLost(index: number, forms: readonly FormName[]): void {
    if (forms.length === 0) return;
    const what = forms.map((form) => `details.${form}`).join(" and ");
    this.#issues.report("DETAILS_DROPPED", index, `Dropped the data kept in ${what}.`);
  }

  /** Returns the forms of stored originals that contain data for a model. */
  #lostForms(message: object): FormName[] {
    // The form for display restores the details of all other messages.
    if (this.#dialect.isForDisplay && toRecord(message)["role"] !== "system") return [];
    return listKeptForms(message).filter((form) => isOriginalForModel(form, findRaw(message, form)));
  }
}

function changesTools({ toolsAdded, toolsRemoved }: SystemMessage): boolean {
  return toArray(toolsAdded).length > 0 || toArray(toolsRemoved).length > 0;
}

/** Converts a string to a block. */
function toBlocks(content: UserMessage["content"] | undefined): unknown {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** Returns whether an original has an empty list of parts. */
function isEmpty(raw: unknown): boolean {
  const parts = Array.isArray(raw) ? raw : toRecord(raw)["content"];
  return Array.isArray(parts) && parts.length === 0;
}

function isThinking({ type }: AnswerBlock): boolean {
  return type === "thinking";
}

function getRole(message: unknown): string {
  return JSON.stringify(toRecord(message)["role"]) ?? "undefined";
}

/**
 * Reports that a provider's results cannot mark calls as failed. Reports this only in the request that first sends a
 * failed result, not in later requests that contain an answer to it.
 */
export function reportFailedResult({ items, issues }: RequestPlan): void {
  const answers = items.filter((item) => item.kind === "answer");
  const failed = answers.flatMap(({ results }) => results.filter(({ message }) => message.isError));
  const [first] = failed;
  if (first === undefined || answers.at(-1)?.results.includes(first) !== true) return;
  issues.report("FLAG_DROPPED", first.index, "Dropped isError: a result cannot state that its call failed.");
}

/** Consecutive content with the same role, in a form's representation. */
interface Turn<Content> {
  readonly by: "user" | "model";
  readonly content: Content;
  /** Index of the first message. */
  readonly index: number;
}

/** Functions that write planned items in a form: unchanged originals as stored, and all other items from their blocks. */
interface TurnWriters<Content> {
  user(item: PlannedUser): Content;
  answer(item: PlannedAnswer): Content;
  results(results: readonly PlannedResult[], answer: PlannedAnswer): Content;
}

/**
 * Writes turns. The results for an answer form a user turn directly after it. Instructions are omitted.
 */
export function writeTurns<Content>(
  items: readonly PlannedItem[],
  write: TurnWriters<Content>,
): Turn<Content>[] {
  return items.flatMap((item): Turn<Content>[] => {
    if (item.kind === "system") return [];
    const { index } = item;
    if (item.kind === "user") return [{ by: "user", content: write.user(item), index }];
    const answer: Turn<Content> = { by: "model", content: write.answer(item), index };
    if (item.results.length === 0) return [answer];
    return [answer, { by: "user", content: write.results(item.results, item), index }];
  });
}

/** Joins consecutive turns with the same role, for providers whose roles must alternate. */
export function joinTurns<Part>(turns: readonly Turn<readonly Part[]>[]): Turn<Part[]>[] {
  const joined: Turn<Part[]>[] = [];
  for (const { by, content, index } of turns) {
    const last = joined.at(-1);
    if (last?.by === by) last.content.push(...content);
    else joined.push({ by, content: [...content], index });
  }
  return joined;
}
