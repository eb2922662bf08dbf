import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import type { UnknownEntry } from "../../../core/format/entry.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { type AssistantMessage, UNKNOWN_NAME } from "../../../core/format/message.ts";
import { toUsage } from "../../convert/answer.ts";
import {
  addBlocks,
  type EntryBody,
  makeCustom,
  makeCustomMessage,
  makeSubagentLink,
  makeThinkingChange,
  makeToolResult,
  makeUsageEntry,
} from "../entry-bodies.ts";
import type { ImportedSession } from "../imported-session.ts";
import { type Draft, makeEntryId, type SessionBuilder, type UntimedMessage } from "../session-builder.ts";
import { getMember, joinContentText, type SourceRecord, toIsoTime, toNonemptyText } from "../source-text.ts";
import {
  type Answer,
  type CallResult,
  type CountedTokens,
  convertTokens,
  getApi,
  getAttachedImages,
  getProvider,
  type NamedModels,
  toAnswer,
  toResult,
} from "./content.ts";
import type { StoredTurn } from "./stored-turns.ts";

/** State shared by the agents of a session. */
export interface SharedState {
  /** Base64 data by asset id. */
  readonly assets: Map<string, string>;
  /** Id of the subagent that made a call, by call id. The main agent's calls are not included. */
  readonly callers: Map<string, string>;
  /** Subagent started by a call, keyed by call id. */
  readonly agents: Map<string, { readonly agentId: string; readonly sessionId: string }>;
  readonly counted: CountedTokens;
  readonly models: NamedModels;
}

/** Sources of events that Copilot has deleted. */
export interface Past {
  /** Entries from an earlier import. */
  readonly known: readonly UnknownEntry[];
  /** Turns in Copilot's database. */
  readonly turns: readonly StoredTurn[];
}

/** Types of events that repeat other events, and the reason why each is omitted. */
const LEFT_OUT: ReadonlyMap<string, string> = new Map([
  ["assistant.turn_start", "beginning or end of a turn or run"],
  ["assistant.turn_end", "beginning or end of a turn or run"],
  ["session.resume", "beginning or end of a turn or run"],
  ["session.compaction_start", "beginning or end of a turn or run"],
  ["hook.start", "beginning or end of a turn or run"],
  ["subagent.started", "beginning or end of a turn or run"],
  ["subagent.configured", "beginning or end of a turn or run"],
  ["subagent.completed", "beginning or end of a turn or run"],
  ["system.message", "system prompt"],
  ["tool.execution_start", "repeats a call of an answer"],
  ["session.usage_checkpoint", "totals of tokens that calls have"],
  ["session.usage_info", "totals of tokens that calls have"],
]);

/** Text that Copilot sends as the result of a call that the user interrupted. */
const INTERRUPTED = "The execution of this tool, or a previous tool was interrupted.";

/** Adds the entries of one agent, event by event. */
export class ThreadWriter {
  readonly #builder: SessionBuilder;
  readonly #shared: SharedState;
  readonly #past: Past;
  readonly #agentId: string | undefined;
  #tip: Draft | undefined;
  #model: string | undefined;
  #provider = "github-copilot";
  #effort: string | undefined;
  /** The last answer, which a later event may extend. */
  #answer: { readonly message: AssistantMessage; readonly callId: string | undefined } | undefined;
  /** Token record whose answer has not arrived yet. */
  #pending: { readonly record: SourceRecord; readonly tokens: JsonRecord } | undefined;
  /** Names and arguments of the calls that do not have results yet, by call id. */
  readonly #openCalls = new Map<string, { readonly name: string; readonly args: unknown }>();
  /** First message since the current compaction started; undefined if no compaction is in progress. */
  #firstKept: { draft: Draft | undefined } | undefined;
  /** Time of the previous event. */
  #time = "";
  /** Event handlers by type. Events of other types are kept. */
  readonly #takers = new Map<string, (data: JsonRecord, record: SourceRecord) => void>([
    ["session.start", (data, record) => this.#changeSettings(data, record)],
    ["session.model_change", (data, record) => this.#changeSettings(data, record)],
    ["session.title_changed", ({ title }, record) => this.#addName(title, record)],
    ["session.binary_asset", () => undefined],
    ["user.message", (data, record) => this.#addPrompt(data, record)],
    ["system.notification", ({ content }, record) => this.#notify(content, record)],
    ["session.usage_record", (data, record) => this.#expectAnswer(data, record)],
    ["assistant.message", (data, record) => this.#addAnswer(data, record)],
    ["tool.user_requested", (data) => this.#beginCall(data)],
    ["tool.execution_complete", (data, record) => this.#addResult(data, record)],
    ["session.compaction_complete", (data, record) => this.#compact(data, record)],
    ["session.context_cleared", (data, record) => this.#clear(data, record)],
    ["session.info", (data, record) => this.#addInfo(data, record)],
    ["session.error", (data, record) => this.#addError(data, record)],
    ["abort", (_, record) => this.#abort(record)],
    ["session.shutdown", (data, record) => this.#addTotals(data, record)],
  ]);

  constructor(
    builder: SessionBuilder,
    shared: SharedState,
    past: Past = { known: [], turns: [] },
    agentId?: string,
  ) {
    this.#builder = builder;
    this.#shared = shared;
    this.#past = past;
    this.#agentId = agentId;
  }

  /** Counts an omitted event. */
  drop(reason: string): void {
    this.#builder.counts.records++;
    this.#builder.drop(reason);
  }

  take(record: SourceRecord): void {
    const type = toNonemptyText(record.value["type"]) ?? "";
    const data = getMember(record.value, "data");
    const isOfSummary = this.#firstKept !== undefined && type.startsWith("model.");
    const reason = isOfSummary ? "report of a call that a summary has" : LEFT_OUT.get(type);
    if (type === "session.compaction_start") this.#firstKept = { draft: undefined };
    if (type === "tool.execution_start") this.#beginCall(data);
    // Calls that were running when Copilot was killed have ended.
    if (type === "session.resume") this.#openCalls.clear();
    if (reason !== undefined) this.drop(reason);
    else {
      this.#builder.counts.records++;
      const taker = this.#takers.get(type);
      if (taker === undefined) this.#keep(type, data, record);
      else taker(data, record);
    }
    this.#time = toIsoTime(record.value["timestamp"]) ?? this.#time;
  }

  /** Finishes the session. No events may be added afterward. */
  finish(): ImportedSession {
    this.#flushTokens();
    this.#builder.markLeaf(this.#tip);
    return this.#builder.finish();
  }

  #add(key: string, { value }: Pick<SourceRecord, "value">, body: EntryBody): void {
    this.#tip = this.#builder.add(key, this.#tip, value["timestamp"], body);
  }

  #addMessage(key: string, { value }: Pick<SourceRecord, "value">, message: UntimedMessage): void {
    const { role } = message;
    this.#tip = this.#builder.addMessage(key, this.#tip, value["timestamp"], message);
    if (this.#firstKept !== undefined && (role === "user" || role === "assistant"))
      this.#firstKept.draft ??= this.#tip;
  }

  #keep(type: string, data: JsonRecord, record: SourceRecord): void {
    const { timestamp } = record.value;
    this.#tip = this.#builder.keep(makeRecordKey(record), this.#tip, timestamp, type || "event", data);
  }

  /** Adds text that the user did not type. The model sees it. */
  #notify(content: unknown, record: SourceRecord): void {
    this.#add(
      makeRecordKey(record),
      record,
      makeCustomMessage("copilot.notification", toNonemptyText(content) ?? "", true),
    );
  }

  #clear(data: JsonRecord, record: SourceRecord): void {
    this.#tip = undefined;
    this.#keep("session.context_cleared", data, record);
  }

  #addInfo(data: JsonRecord, record: SourceRecord): void {
    if (data["infoType"] === "rewind") this.#keepRewound(record);
    this.#keep("session.info", data, record);
  }

  #addName(title: unknown, record: SourceRecord): void {
    const name = toNonemptyText(title);
    if (name !== undefined) this.#builder.addName(makeRecordKey(record), name);
  }

  #expectAnswer(data: JsonRecord, record: SourceRecord): void {
    this.#flushTokens();
    this.#pending = { record, tokens: getMember(data, "usage") };
  }

  #changeSettings({ selectedModel, newModel, reasoningEffort }: JsonRecord, record: SourceRecord): void {
    const [model, effort] = [
      toNonemptyText(newModel) ?? toNonemptyText(selectedModel),
      toNonemptyText(reasoningEffort),
    ];
    if (model !== undefined && model !== this.#model && this.#model !== undefined) {
      const body = { type: "model_change", provider: this.#provider, modelId: model };
      this.#add(makeRecordKey(record), record, body);
    }
    this.#model = model ?? this.#model;
    if (effort === undefined || effort === this.#effort) return;
    this.#effort = effort;
    this.#add(`${makeRecordKey(record)} effort`, record, makeThinkingChange(effort));
  }

  #addPrompt(data: JsonRecord, record: SourceRecord): void {
    const { content, transformedContent, source } = data;
    const text = toNonemptyText(content) ?? "";
    // Skills and other parts of Copilot write prompts on the user's behalf.
    if (toNonemptyText(source) !== undefined && !/^(?:user$|agent-)/.test(toSafeString(source))) {
      this.#keep("injected", { content: toNonemptyText(transformedContent) ?? text }, record);
      return;
    }
    const images = getAttachedImages(data["attachments"], this.#shared.assets);
    const said = images.length === 0 ? text : [{ type: "text" as const, text }, ...images];
    this.#addMessage(makeRecordKey(record), record, { role: "user", content: said });
    const attachments = toArray(data["attachments"]);
    if (attachments.length > images.length)
      this.#add(
        `${makeRecordKey(record)} attachments`,
        record,
        makeCustom("copilot.attachments", { attachments }),
      );
  }

  #addAnswer(data: JsonRecord, record: SourceRecord): void {
    const answer = toAnswer(data);
    const callId = toNonemptyText(data["apiCallId"]);
    for (const { id, name } of answer.calls) {
      this.#openCalls.set(id, { name, args: undefined });
      if (this.#agentId !== undefined) this.#shared.callers.set(id, this.#agentId);
    }
    // One response may be split across several events.
    const open = this.#answer;
    if (open !== undefined && callId !== undefined && open.callId === callId) {
      addBlocks(open.message, answer.content);
    } else this.#beginAnswer(data, answer, record);
    if (answer.others !== undefined)
      this.#add(`${makeRecordKey(record)} parts`, record, makeCustom("copilot.parts", answer.others));
  }

  #beginAnswer(data: JsonRecord, { content, calls }: Answer, record: SourceRecord): void {
    const callId = toNonemptyText(data["apiCallId"]);
    const tokens = this.#takeTokens(callId);
    const usage = tokens === undefined ? toUsage({ output: data["outputTokens"] }) : convertTokens(tokens);
    const { models, counted } = this.#shared;
    this.#model =
      toNonemptyText(data["model"]) ??
      toNonemptyText(tokens?.["model"]) ??
      models.findCalled(calls) ??
      this.#model ??
      models.getFirst(this.#agentId);
    const stops = calls.length > 0 ? "toolUse" : tokens?.["finishReason"] === "length" ? "length" : "stop";
    const message: AssistantMessage = {
      role: "assistant",
      content,
      api: getApi(tokens),
      provider: this.#provider,
      model: this.#model ?? UNKNOWN_NAME,
      ...(callId !== undefined && { responseId: callId }),
      usage,
      stopReason: tokens?.["finishReason"] === "content_filter" ? "error" : stops,
      timestamp: 0,
    };
    counted.add(message.model, usage);
    this.#addMessage(makeRecordKey(record), record, message);
    this.#answer = { message, callId };
  }

  /** Returns the tokens that were reported before a call's answer. */
  #takeTokens(callId: string | undefined): JsonRecord | undefined {
    if (this.#pending === undefined) return undefined;
    const { record, tokens } = this.#pending;
    const named = toNonemptyText(tokens["apiCallId"]);
    if (named !== undefined && callId !== undefined && named !== callId) {
      this.#flushTokens();
      return undefined;
    }
    this.#pending = undefined;
    this.#provider = getProvider(tokens);
    // If the file was imported before this answer arrived, that import created an entry for the record.
    this.#builder.withdraw(makeEntryId(makeRecordKey(record)));
    return tokens;
  }

  /** Counts a call whose answer never arrived. */
  #flushTokens(): void {
    if (this.#pending === undefined) return;
    const { record, tokens } = this.#pending;
    this.#pending = undefined;
    this.#provider = getProvider(tokens);
    const model = toNonemptyText(tokens["model"]) ?? this.#model ?? UNKNOWN_NAME;
    const callId = toNonemptyText(tokens["apiCallId"]);
    this.#addUsage(makeRecordKey(record), "call", model, convertTokens(tokens), record, callId);
  }

  #addUsage(
    key: string,
    kind: string,
    model: string,
    usage: Usage,
    record: Pick<SourceRecord, "value">,
    note?: string,
  ): void {
    this.#add(key, record, makeUsageEntry(`copilot.${kind}`, this.#provider, model, usage, note));
    // Totals exclude the tokens of compactions that were not applied and of turns that were rewound.
    if (kind === "call") this.#shared.counted.add(model, usage);
  }

  #beginCall({ toolCallId, toolName, arguments: args }: JsonRecord): void {
    const id = toNonemptyText(toolCallId);
    if (id !== undefined) this.#openCalls.set(id, { name: toNonemptyText(toolName) ?? "unknown", args });
  }

  #addResult(data: JsonRecord, record: SourceRecord): void {
    const result = toResult(data, this.#shared.assets);
    const toolCallId = toNonemptyText(data["toolCallId"]) ?? "";
    const call = this.#openCalls.get(toolCallId);
    this.#openCalls.delete(toolCallId);
    if (data["isUserRequested"] === true) this.#addCommand(result, call?.args, record);
    else {
      const { content, details, isError } = result;
      const toolName = call?.name ?? "unknown";
      this.#addMessage(
        makeRecordKey(record),
        record,
        makeToolResult({ toolCallId, toolName, content, details, isError }),
      );
    }
    const agent = this.#shared.agents.get(toolCallId);
    if (agent !== undefined)
      this.#add(`${makeRecordKey(record)} subagent`, record, makeSubagentLink({ ...agent, toolCallId }));
  }

  /** Adds a command that the user ran. */
  #addCommand({ text, exitCode }: CallResult, args: unknown, record: SourceRecord): void {
    this.#addMessage(makeRecordKey(record), record, {
      role: "bashExecution",
      command: toNonemptyText(getMember({ args }, "args")["command"]) ?? "",
      output: text,
      exitCode,
      cancelled: false,
      truncated: false,
    });
  }

  #compact(data: JsonRecord, record: SourceRecord): void {
    const tokens = getMember(data, "compactionTokensUsed");
    const usage = convertTokens(tokens);
    const kept = this.#firstKept?.draft;
    this.#firstKept = undefined;
    const summary = toNonemptyText(data["summaryContent"]);
    const {
      outcome = "applied",
      success,
      trigger,
      preCompactionTokens,
      checkpointNumber,
      checkpointPath,
    } = data;
    if (success !== true || outcome !== "applied" || summary === undefined) {
      const model = toNonemptyText(tokens["model"]) ?? this.#model ?? UNKNOWN_NAME;
      if (usage.totalTokens > 0)
        this.#addUsage(`${makeRecordKey(record)} tokens`, "compaction", model, usage, record);
      this.#keep("session.compaction_complete", data, record);
      return;
    }
    this.#add(makeRecordKey(record), record, {
      type: "compaction",
      summary,
      firstKeptEntryId: kept?.id,
      tokensBefore: typeof preCompactionTokens === "number" ? preCompactionTokens : 0,
      details: { source: "copilot", trigger, checkpointNumber, checkpointPath },
      ...(usage.totalTokens > 0 && { usage }),
    });
  }

  #addError({ message, errorType, statusCode, errorCode }: JsonRecord, record: SourceRecord): void {
    this.#flushTokens();
    const told = [statusCode, errorCode ?? errorType]
      .filter((one) => one !== undefined && one !== null)
      .map(toSafeString)
      .join(" ");
    this.#addMessage(makeRecordKey(record), record, {
      role: "assistant",
      content: [],
      api: getApi(undefined),
      provider: this.#provider,
      model: this.#model ?? UNKNOWN_NAME,
      usage: toUsage(),
      stopReason: "error",
      errorMessage: [told, toNonemptyText(message)].filter(Boolean).join(": "),
    });
  }

  /** Ends a turn that the user interrupted. Adds the results that Copilot sends for the interrupted calls. */
  #abort(record: SourceRecord): void {
    this.#flushTokens();
    const answer = this.#answer?.message;
    if (answer !== undefined && this.#tip?.["message"] === answer && answer.stopReason === "stop")
      answer.stopReason = "aborted";
    for (const [toolCallId, { name: toolName }] of this.#openCalls) {
      const content = [{ type: "text" as const, text: INTERRUPTED }];
      const told = { details: { interrupted: true }, isError: true };
      const result = makeToolResult({ toolCallId, toolName, content, ...told });
      this.#addMessage(`${makeRecordKey(record)} ${toolCallId}`, record, result);
    }
    this.#openCalls.clear();
  }

  /** Counts the part of the totals that was not reported by calls. Versions before 1.0.102 report only output tokens. */
  #addTotals(data: JsonRecord, record: SourceRecord): void {
    this.#flushTokens();
    const models = getMember(data, "modelMetrics");
    for (const model of Object.keys(models)) {
      const total = convertTokens(getMember(getMember(models, model), "usage"));
      const rest = this.#shared.counted.takeRest(model, total);
      if (rest.totalTokens > 0)
        this.#addUsage(`${makeRecordKey(record)} ${model}`, "shutdown", model, rest, record);
    }
    this.#builder.drop("totals of tokens that calls have");
  }

  /** Keeps rewound turns, from an earlier import or otherwise from the database, because Copilot deletes their events. */
  #keepRewound(record: SourceRecord): void {
    const rewoundAt = toIsoTime(record.value["timestamp"]) ?? "";
    const isRewound = (time: string) => time > this.#time && time < rewoundAt;
    const back = this.#tip;
    const known = this.#past.known.filter(
      ({ id, timestamp }) => isRewound(timestamp) && this.#builder.findDraft(id) === undefined,
    );
    for (const { type, id, parentId, timestamp, ...fields } of known) {
      const parent = (parentId === null ? undefined : this.#builder.findDraft(parentId)) ?? this.#tip;
      this.#tip = this.#builder.add(id, parent, timestamp, { type, ...fields }, id);
    }
    const prompts = known.filter(({ message }) => toRecord(message)["role"] === "user");
    // A redacted prompt can be matched only by its time.
    const isKnown = ({ prompt, since, until }: StoredTurn) =>
      prompts.some(({ message, timestamp }) => {
        const isMeanwhile = timestamp > since && timestamp <= until;
        return isMeanwhile || joinContentText(toRecord(message)["content"]) === prompt;
      });
    for (const turn of this.#past.turns) if (isRewound(turn.begun) && !isKnown(turn)) this.#addTurn(turn);
    this.#tip = back;
  }

  /** Adds a turn for which only the prompt, the last answer, and the tokens of its calls are known. */
  #addTurn({ prompt, answer, calls, begun }: StoredTurn): void {
    const key = `copilot turn ${begun} ${prompt}`;
    const at = (timestamp = begun) => ({ value: { timestamp } });
    this.#addMessage(key, at(), { role: "user", content: prompt });
    this.#add(`${key} note`, at(), makeCustom("copilot.stored-turn", { calls: calls.length }));
    const last = answer === undefined ? undefined : calls.at(-1);
    for (const [i, call] of calls.entries()) {
      if (call === last) continue;
      const model = toNonemptyText(call.tokens["model"]) ?? UNKNOWN_NAME;
      this.#addUsage(`${key} ${i}`, "stored-turn", model, convertTokens(call.tokens), at(call.time));
    }
    if (answer === undefined) return;
    this.#addMessage(`${key} answer`, at(last?.time), {
      role: "assistant",
      content: [{ type: "text", text: answer }],
      api: getApi(last?.tokens),
      provider: this.#provider,
      model: toNonemptyText(last?.tokens["model"]) ?? UNKNOWN_NAME,
      usage: convertTokens(last?.tokens ?? {}),
      stopReason: "stop",
    });
  }
}

function makeRecordKey({ value, line }: SourceRecord): string {
  return toNonemptyText(value["id"]) ?? `copilot line ${line}`;
}
