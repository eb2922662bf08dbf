import { textsOf } from "../../../core/context/content-text.ts";
import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import type { ThreadState } from "../entry-thread.ts";
import type { SessionBuilder } from "../session-builder.ts";
import type { SourceRecord } from "../source-text.ts";
import { member, textIn, textOf } from "../source-values.ts";
import { type ItemRole, inputBlocks, isHarnessText, itemRole, itemType } from "./response-items.ts";
import { ordinalOf, type Rollout } from "./rollout.ts";
import { type SessionContext, ThreadWriter } from "./thread-writer.ts";

/** Record types that do not matter to the conversation. */
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

/** Item types that do not matter to the conversation. */
const DROPPED_ITEMS: ReadonlySet<string> = new Set([
  "additional_tools",
  "compaction_trigger",
  "configuration_update",
  "other",
]);

/** Takes what a record holds. */
type Taker = (payload: JsonRecord, record: SourceRecord) => void;

/** Makes entries from the records of one file, in order. */
export class RolloutReader {
  readonly #writer: ThreadWriter;
  readonly #rollout: Rollout;
  readonly #builder: SessionBuilder;
  /** Number of records copied from a parent, which counts their tokens. */
  readonly #copied: number;
  /** State of the thread after a record, by the record's number. */
  readonly #states: { ordinal: number; state: ThreadState }[] = [];
  readonly #confirmed: ReadonlySet<string>;
  readonly #hasItems: boolean;
  readonly #hasRecordsOfUsage: boolean;
  #next = 0;
  #total = -1;
  /** What becomes of records, by their type; others are kept, as are items of other roles. */
  readonly #takers = new Map<string, Taker>([
    ["response_item", (item, record) => this.#takeItem(item, record)],
    ["event_msg", (event, record) => this.#takeEvent(event, record)],
    ["turn_context", (settings, record) => this.#writer.changeSettings(record, settings)],
    ["compacted", (payload, record) => this.#writer.compact(record, payload)],
    ["token_usage_record", ({ usage, response_id: id }, record) => this.#count(record, usage, textOf(id))],
    ["inter_agent_communication", (said, record) => this.#note("inter_agent_communication", said, record)],
  ]);
  readonly #itemTakers = new Map<ItemRole, Taker>([
    ["answer", (item, record) => this.#writer.addToAnswer(record, item)],
    ["result", (item, record) => this.#writer.addResult(record, item)],
    ["user", (item, record) => this.#addUser(record, item)],
    ["instructions", (item, record) => this.#writer.note(record, item, "codex.instructions", false)],
    ["agent", (item, record) => this.#note("agent_message", item, record)],
    ["image", (item, record) => this.#writer.addImage(record, item)],
  ]);
  /** What becomes of events; others are left out. */
  readonly #eventTakers = new Map<string, Taker>([
    ["task_started", () => this.#writer.startTurn()],
    ["turn_started", () => this.#writer.startTurn()],
    ["thread_rolled_back", ({ num_turns: turns }) => this.#writer.rollBack(turns)],
    ["turn_aborted", () => this.#writer.endTurn("aborted")],
    ["task_complete", ({ error }) => this.#writer.endTurn("error", error)],
    ["turn_complete", ({ error }) => this.#writer.endTurn("error", error)],
    ["token_count", (event, record) => this.#takeTotals(record, member(event, "info"))],
  ]);

  constructor(rollout: Rollout, context: SessionContext, start: ThreadState, copied: number) {
    this.#rollout = rollout;
    this.#builder = context.builder;
    this.#writer = new ThreadWriter(context, start);
    this.#copied = copied;
    const { records } = rollout;
    this.#hasItems = records.some(({ value }) => itemType(itemOf(value)) === "message");
    this.#hasRecordsOfUsage = records.some(({ value }) => value["type"] === "token_usage_record");
    this.#confirmed = new Set(records.flatMap(({ value }) => typedText(value) ?? []));
  }

  get state(): ThreadState {
    return this.#writer.state;
  }

  /** Continues reading, up to the record of a number. */
  readTo(end = Number.POSITIVE_INFINITY): void {
    const { records } = this.#rollout;
    for (let record = records[this.#next]; record !== undefined; record = records[this.#next]) {
      const ordinal = ordinalOf(record) ?? this.#next;
      if (ordinal >= end) return;
      this.#builder.counts.records++;
      this.#take(record);
      this.#next++;
      this.#states.push({ ordinal, state: this.state });
    }
  }

  /** Returns the state of the thread before a record; undefined if nothing was read before it. */
  stateBefore(ordinal: number): ThreadState | undefined {
    return this.#states.findLast((one) => one.ordinal < ordinal)?.state;
  }

  #take(record: SourceRecord): void {
    const { value } = record;
    const type = textOf(value["type"]) ?? textOf(value["record_type"]) ?? "";
    const taker = this.#takers.get(type);
    if (taker !== undefined) taker(member(value, "payload"), record);
    else if (DROPPED.has(type) || (type === "" && this.#next === 0))
      this.#builder.drop(type || "session_meta");
    else this.#writer.keepItem(record, type, dataOf(value));
  }

  /** Counts the tokens of a call, unless the record was copied from a parent, which counts them. */
  #count(record: SourceRecord, tokens: unknown, responseId?: string): void {
    this.#writer.count(record, fieldsOf(tokens), responseId, this.#next < this.#copied);
  }

  /** Adds what another agent said. */
  #note(kind: string, item: JsonRecord, record: SourceRecord): void {
    this.#writer.note(record, item, `codex.${kind}`, true);
  }

  #takeItem(item: JsonRecord, record: SourceRecord): void {
    const type = itemType(item);
    const taker = this.#itemTakers.get(itemRole(item));
    if (taker !== undefined) taker(item, record);
    else if (DROPPED_ITEMS.has(type)) this.#builder.drop(type);
    else this.#writer.keepItem(record, type, item);
  }

  #takeEvent(event: JsonRecord, record: SourceRecord): void {
    const type = textOf(event["type"]) ?? "";
    const isSpoken = type === "user_message" || type === "agent_message" || type === "agent_reasoning";
    const taker = this.#eventTakers.get(type);
    if (taker !== undefined) taker(event, record);
    else if (isSpoken && !this.#hasItems) this.#takeSpoken(record, type, event);
    else this.#builder.drop(`event ${type}`);
  }

  #addUser(record: SourceRecord, item: JsonRecord): void {
    const content = inputBlocks(item["content"]);
    const text = textsOf(content).join("");
    if (isHarnessText(text) && !this.#confirmed.has(text)) {
      this.#writer.note(record, item, "codex.context", false);
      return;
    }
    this.#writer.addPrompt(record, this.#writer.keyOf(item), content);
  }

  /** Reads messages from files so old that they contain only events. */
  #takeSpoken(record: SourceRecord, type: string, event: JsonRecord): void {
    if (type === "user_message") {
      this.#writer.addPrompt(record, this.#writer.keyOf(event), textOf(event["message"]) ?? "");
    } else if (type === "agent_message") {
      const content = [{ type: "output_text", text: event["message"] }];
      this.#writer.addToAnswer(record, { type: "message", role: "assistant", content });
    } else {
      const summary = [{ type: "summary_text", text: event["text"] }];
      this.#writer.addToAnswer(record, { type: "reasoning", summary });
    }
  }

  /** Reads running totals: if nothing else reports calls, their growth reveals one. */
  #takeTotals(record: SourceRecord, info: JsonRecord): void {
    const total = member(info, "total_token_usage")["total_tokens"];
    const isNews = typeof total === "number" && total !== this.#total;
    if (typeof total === "number") this.#total = total;
    if (!isNews || this.#hasRecordsOfUsage) this.#builder.drop("event token_count");
    else this.#count(record, info["last_token_usage"]);
  }
}

/** Returns what an unknown record says: in its envelope, or without one. */
function dataOf({ type: _type, timestamp: _time, ...rest }: JsonRecord): JsonRecord {
  const { payload } = rest;
  return isJsonRecord(payload) ? payload : rest;
}

function itemOf(value: JsonRecord): JsonRecord {
  return value["type"] === "response_item" ? member(value, "payload") : {};
}

/** Returns what the user typed, according to an event; undefined if it is another event. */
function typedText(value: JsonRecord): string | undefined {
  const payload = member(value, "payload");
  if (payload["type"] === "user_message") return textOf(payload["message"]);
  const item = member(payload, "item");
  if (payload["type"] !== "item_completed" || item["type"] !== "UserMessage") return undefined;
  return textIn(item["content"]);
}
