import { getTexts } from "../../../core/context/content-text.ts";
import { toRecord } from "../../../core/context/entry-fields.ts";
import { isJsonRecord, type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { CONTINUED_SESSION_TYPE, parseContinuedSession } from "../continued-session.ts";
import { makeSubagentLink } from "../entry-bodies.ts";
import { THREAD_START, type ThreadState } from "../entry-thread.ts";
import type { ImportedSession } from "../imported-session.ts";
import { SessionBuilder } from "../session-builder.ts";
import { getMember, joinContentText, makeIssue, type SourceRecord, toNonemptyText } from "../source-text.ts";
import {
  classifyItem,
  collectOutcomes,
  convertInput,
  getCallId,
  getItemType,
  type ItemRole,
  readProgramText,
} from "./response-items.ts";
import {
  type CodexRolloutText,
  countCopiedRecords,
  findOrdinal,
  type Rollout,
  readRollout,
} from "./rollout.ts";
import { type SessionContext, ThreadWriter } from "./thread-writer.ts";

/** A Codex thread: its files, and the files that they continue. */
export interface CodexInput {
  /** All files of the thread, in any order. */
  readonly rollouts: readonly CodexRolloutText[];
  /** Files of other threads: files that contain the start of this thread's history, and the parent thread's files. */
  readonly others?: readonly CodexRolloutText[];
  /** Thread name from Codex's own list. */
  readonly title?: string;
  /** ISO 8601. */
  readonly importedAt: string;
}

/**
 * Converts a Codex thread to a session.
 *
 * After a rollback, the old turns remain as a branch, whether Codex records the rollback or begins another file. If a fork does
 * not contain the history that it shares with its parent, that history is read from the parent's file.
 *
 * @returns The session; undefined if the files contain no conversation.
 * @remarks Cost: O(records). Source: docs/import-records.md#codex
 */
export function importCodex(input: CodexInput): ImportedSession | undefined {
  const own = input.rollouts.map(readRollout).sort(byBeginning);
  const [first] = own;
  if (first === undefined || !own.some(hasConversation)) return undefined;
  return new ThreadImport(input, own, first).run();
}

function byBeginning(one: Rollout, other: Rollout): number {
  const time = ({ meta, text }: Rollout) => `${toNonemptyText(meta["timestamp"]) ?? ""} ${text.path ?? ""}`;
  return time(one) < time(other) ? -1 : 1;
}

const SPOKEN: ReadonlySet<unknown> = new Set(["response_item", "compacted"]);

function hasConversation({ records }: Rollout): boolean {
  return records.some(({ value }) => {
    const { type } = value;
    return SPOKEN.has(type) || getMember(value, "payload")["type"] === "user_message";
  });
}

class ThreadImport {
  readonly #own: readonly Rollout[];
  readonly #others: readonly Rollout[];
  readonly #builder: SessionBuilder;
  readonly #context: SessionContext;
  readonly #readers = new Map<Rollout, RolloutReader>();
  readonly #open = new Set<Rollout>();

  constructor(input: CodexInput, own: readonly Rollout[], first: Rollout) {
    this.#own = own;
    this.#others = (input.others ?? []).map(readRollout);
    const { meta, text } = first;
    const id = first.threadId ?? first.rolloutId ?? "unknown";
    const spawn = getMember(getMember(getMember(meta, "source"), "subagent"), "thread_spawn");
    const builder = new SessionBuilder(input, {
      source: "codex",
      sourceId: id,
      sourcePath: text.path,
      sourceVersion: toNonemptyText(meta["cli_version"]),
      folders: [meta["cwd"], ...first.records.map(({ value }) => getMember(value, "payload")["cwd"])],
      startedAt: toNonemptyText(meta["timestamp"]) ?? first.records[0]?.value["timestamp"],
      startedBy: toNonemptyText(meta["parent_thread_id"]) ?? toNonemptyText(spawn["parent_thread_id"]),
      forkOf: toNonemptyText(meta["forked_from_id"]),
    });
    this.#builder = builder;
    this.#context = {
      builder,
      provider: toNonemptyText(meta["model_provider"]),
      outcomes: collectOutcomes([...own, ...this.#others].flatMap(({ records }) => records)),
      calls: new Map(),
    };
    if (input.title !== undefined && input.title !== "")
      builder.addName(`codex name ${input.title}`, input.title);
    this.#linkParent(first);
  }

  run(): ImportedSession {
    const builder = this.#builder;
    let state: ThreadState = THREAD_START;
    for (const rollout of this.#own) {
      for (const issue of rollout.text.issues) builder.issues.push(issue);
      builder.drop("repeated", rollout.repeated);
      builder.counts.records += rollout.repeated;
      state = this.#read(rollout);
    }
    builder.markLeaf(state.tip);
    return builder.finish();
  }

  #read(rollout: Rollout, end?: number): ThreadState {
    this.#open.add(rollout);
    let reader = this.#readers.get(rollout);
    if (reader === undefined) {
      const parentId = toNonemptyText(rollout.meta["forked_from_id"]);
      const parent = this.#others.find(({ threadId }) => threadId === parentId);
      const copied = countCopiedRecords(rollout, parent);
      reader = new RolloutReader(rollout, this.#context, this.#stateAtBase(rollout), copied);
      this.#readers.set(rollout, reader);
    }
    reader.readTo(end);
    this.#open.delete(rollout);
    return end === undefined ? reader.state : (reader.stateBefore(end) ?? reader.state);
  }

  /** Returns the state at the start of a file's history, from another file that it refers to, or an empty state. */
  #stateAtBase(rollout: Rollout): ThreadState {
    const base = rollout.meta["history_base"];
    if (base === undefined || base === null) return THREAD_START;
    const { thread_id: id, end_ordinal_exclusive: end } = getMember(rollout.meta, "history_base");
    const all = [...this.#own, ...this.#others];
    const found =
      all.find(({ rolloutId }) => rolloutId === id) ?? all.find(({ threadId }) => threadId === id);
    if (found === undefined || found === rollout || this.#open.has(found) || typeof end !== "number") {
      const [record] = rollout.records;
      const message = `The history continues the file of ${toSafeString(id)}, which is missing: it begins here.`;
      if (record !== undefined) this.#builder.issues.push(makeIssue("PARENT_MISSING", message, record));
      return THREAD_START;
    }
    return this.#read(found, end);
  }

  /** Adds a link to the call in the parent that started this thread, if there is a parent. */
  #linkParent({ meta, threadId }: Rollout): void {
    const parentId = toNonemptyText(meta["parent_thread_id"]);
    if (parentId === undefined || threadId === undefined) return;
    const role = toNonemptyText(meta["agent_role"]);
    const nickname = toNonemptyText(meta["agent_nickname"]);
    const toolCallId = this.#callThatStarted(threadId);
    const link = makeSubagentLink({ agentId: threadId, toolCallId, role, nickname });
    this.#builder.addBehind(`codex agent ${threadId}`, undefined, link);
  }

  #callThatStarted(threadId: string): string | undefined {
    for (const { records } of this.#others) {
      const items = records.map(({ value }) => getMember(value, "payload"));
      const result = items.find(({ type, output }) => {
        const isText = type === "function_call_output" && typeof output === "string";
        return isText && output.includes(`"agent_id":"${threadId}"`);
      });
      const { call_id: named } = result ?? {};
      if (toNonemptyText(named) === undefined) continue;
      const call = items.find((item) => item["call_id"] === named && item !== result);
      return call === undefined ? toNonemptyText(named) : getCallId(call);
    }
    return undefined;
  }
}

/** Types of records that are irrelevant to the conversation. */
const DROPPED: ReadonlySet<string> = new Set([
  "dynamic_tools_updated",
  "inter_agent_communication_metadata",
  "realtime_item",
  "retained_context",
  "security_risk_score",
  "session_meta",
  "state",
  "world_state",
]);

/** Types of items that are irrelevant to the conversation. */
const DROPPED_ITEMS: ReadonlySet<string> = new Set([
  "additional_tools",
  "compaction_trigger",
  "configuration_update",
  "other",
]);

/** Handles a record's content. */
type Taker = (payload: JsonRecord, record: SourceRecord) => void;

/** Creates entries from the records of one file, in order. */
class RolloutReader {
  readonly #writer: ThreadWriter;
  readonly #rollout: Rollout;
  readonly #builder: SessionBuilder;
  /** Number of records copied from a parent, in whose session their tokens are already counted. */
  readonly #copied: number;
  /** Thread states after each record, with the record's ordinal. */
  readonly #states: { ordinal: number; state: ThreadState }[] = [];
  readonly #confirmed: ReadonlySet<string>;
  readonly #hasItems: boolean;
  readonly #hasRecordsOfUsage: boolean;
  #next = 0;
  #total = -1;
  /** Record handlers by type. Records of other types are kept, as are items with other roles. */
  readonly #takers = new Map<string, Taker>([
    ["response_item", (item, record) => this.#takeItem(item, record)],
    ["event_msg", (event, record) => this.#takeEvent(event, record)],
    ["turn_context", (settings, record) => this.#writer.changeSettings(record, settings)],
    ["compacted", (payload, record) => this.#writer.compact(record, payload)],
    [
      "token_usage_record",
      ({ usage, response_id: id }, record) => this.#count(record, usage, toNonemptyText(id)),
    ],
    [
      "inter_agent_communication",
      (said, record) => this.#writer.note(record, said, "inter_agent_communication"),
    ],
    [CONTINUED_SESSION_TYPE, (payload, record) => this.#takeContinued(record, payload)],
  ]);
  readonly #itemTakers = new Map<ItemRole, Taker>([
    ["answer", (item, record) => this.#writer.addToAnswer(record, item)],
    ["result", (item, record) => this.#writer.addResult(record, item)],
    ["user", (item, record) => this.#addUser(record, item)],
    ["instructions", (item, record) => this.#writer.keepText(record, item, "instructions")],
    ["agent", (item, record) => this.#writer.note(record, item, "agent_message")],
    ["image", (item, record) => this.#writer.addImage(record, item)],
  ]);
  /** Event handlers by type. Other events are omitted. */
  readonly #eventTakers = new Map<string, Taker>([
    ["task_started", () => this.#writer.startTurn()],
    ["turn_started", () => this.#writer.startTurn()],
    ["thread_rolled_back", ({ num_turns: turns }) => this.#writer.rollBack(turns)],
    ["turn_aborted", () => this.#writer.endTurn("aborted")],
    ["task_complete", ({ error }) => this.#writer.endTurn("error", error)],
    ["turn_complete", ({ error }) => this.#writer.endTurn("error", error)],
    ["token_count", (event, record) => this.#takeTotals(record, getMember(event, "info"))],
  ]);

  constructor(rollout: Rollout, context: SessionContext, start: ThreadState, copied: number) {
    this.#rollout = rollout;
    this.#builder = context.builder;
    this.#writer = new ThreadWriter(context, start);
    this.#copied = copied;
    const { records } = rollout;
    this.#hasItems = records.some(({ value }) => getItemType(toItem(value)) === "message");
    this.#hasRecordsOfUsage = records.some(({ value }) => value["type"] === "token_usage_record");
    this.#confirmed = new Set(records.flatMap(({ value }) => findTypedText(value) ?? []));
  }

  get state(): ThreadState {
    return this.#writer.state;
  }

  /** Continues reading, up to but not including the record with the given ordinal. */
  readTo(end = Number.POSITIVE_INFINITY): void {
    const { records } = this.#rollout;
    for (let record = records[this.#next]; record !== undefined; record = records[this.#next]) {
      const ordinal = findOrdinal(record) ?? this.#next;
      if (ordinal >= end) return;
      this.#builder.counts.records++;
      this.#take(record);
      this.#next++;
      this.#states.push({ ordinal, state: this.state });
    }
  }

  /** Returns the thread's state before a record; undefined if no record precedes it. */
  stateBefore(ordinal: number): ThreadState | undefined {
    return this.#states.findLast((one) => one.ordinal < ordinal)?.state;
  }

  #take(record: SourceRecord): void {
    const { value } = record;
    const type = toNonemptyText(value["type"]) ?? toNonemptyText(value["record_type"]) ?? "";
    const taker = this.#takers.get(type);
    if (taker !== undefined) taker(getMember(value, "payload"), record);
    else if (DROPPED.has(type) || (type === "" && this.#next === 0))
      this.#builder.drop(type || "session_meta");
    else this.#writer.keepItem(record, type, getData(value));
  }

  /** Counts a call's tokens, unless the record was copied from a parent, where they are already counted. */
  #count(record: SourceRecord, tokens: unknown, responseId?: string): void {
    this.#writer.count(record, toRecord(tokens), responseId, this.#next < this.#copied);
  }

  /** Reads the record that marks everything before it as copied from a sessiontree session. */
  #takeContinued(record: SourceRecord, payload: JsonRecord): void {
    const continued = parseContinuedSession(payload);
    if (continued === undefined) {
      this.#writer.keepItem(record, CONTINUED_SESSION_TYPE, payload);
      return;
    }
    this.#builder.drop(CONTINUED_SESSION_TYPE);
    this.#builder.continueSession(continued);
    this.#writer.closeAnswer();
  }

  #takeItem(item: JsonRecord, record: SourceRecord): void {
    const type = getItemType(item);
    const taker = this.#itemTakers.get(classifyItem(item));
    if (taker !== undefined) taker(item, record);
    else if (DROPPED_ITEMS.has(type)) this.#builder.drop(type);
    else this.#writer.keepItem(record, type, item);
  }

  #takeEvent(event: JsonRecord, record: SourceRecord): void {
    const type = toNonemptyText(event["type"]) ?? "";
    const isSpoken = type === "user_message" || type === "agent_message" || type === "agent_reasoning";
    const taker = this.#eventTakers.get(type);
    if (taker !== undefined) taker(event, record);
    else if (isSpoken && !this.#hasItems) this.#takeSpoken(record, type, event);
    else this.#builder.drop(`event ${type}`);
  }

  #addUser(record: SourceRecord, item: JsonRecord): void {
    const content = convertInput(item["content"]);
    const text = getTexts(content).join("");
    const own = this.#confirmed.has(text) ? undefined : readProgramText(text);
    if (own === undefined) this.#writer.addPrompt(record, this.#writer.makeKey(item), content);
    else if (own.isReport) this.#writer.note(record, item, own.kind);
    else this.#writer.keepText(record, item, own.kind);
  }

  /** Reads messages from an old file that contains only events. */
  #takeSpoken(record: SourceRecord, type: string, event: JsonRecord): void {
    if (type === "user_message") {
      this.#writer.addPrompt(record, this.#writer.makeKey(event), toNonemptyText(event["message"]) ?? "");
    } else if (type === "agent_message") {
      const content = [{ type: "output_text", text: event["message"] }];
      this.#writer.addToAnswer(record, { type: "message", role: "assistant", content });
    } else {
      const summary = [{ type: "summary_text", text: event["text"] }];
      this.#writer.addToAnswer(record, { type: "reasoning", summary });
    }
  }

  /** Reads running totals. If no other record reports calls, an increase indicates that a call was made. */
  #takeTotals(record: SourceRecord, info: JsonRecord): void {
    const total = getMember(info, "total_token_usage")["total_tokens"];
    const isNews = typeof total === "number" && total !== this.#total;
    if (typeof total === "number") this.#total = total;
    if (!isNews || this.#hasRecordsOfUsage) this.#builder.drop("event token_count");
    else this.#count(record, info["last_token_usage"]);
  }
}

/** Returns the content of an unknown record, with or without an envelope. */
function getData({ type: _type, timestamp: _time, ...rest }: JsonRecord): JsonRecord {
  const { payload } = rest;
  return isJsonRecord(payload) ? payload : rest;
}

function toItem(value: JsonRecord): JsonRecord {
  return value["type"] === "response_item" ? getMember(value, "payload") : {};
}

/** Returns the user's text from an event; undefined for all other events. */
function findTypedText(value: JsonRecord): string | undefined {
  const payload = getMember(value, "payload");
  if (payload["type"] === "user_message") return toNonemptyText(payload["message"]);
  const item = getMember(payload, "item");
  if (payload["type"] !== "item_completed" || item["type"] !== "UserMessage") return undefined;
  return joinContentText(item["content"]);
}
