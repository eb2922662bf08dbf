import { textsOf } from "../../context/content-text.ts";
import { isJsonRecord, type JsonRecord } from "../../schema/json.ts";
import type { ThreadState } from "../entry-thread.ts";
import type { SessionBuilder } from "../session-builder.ts";
import type { SourceRecord } from "../source-text.ts";
import { member, textIn, textOf } from "../source-values.ts";
import { inputBlocks, isHarnessText, itemRole, itemType } from "./response-items.ts";
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

  /** Current state of the thread. */
  get state(): ThreadState {
    return this.#writer.state;
  }

  /**
   * Continues reading.
   *
   * @param end - Number of the first record not to read. Default: reads all records.
   */
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
    const payload = member(value, "payload");
    switch (type) {
      case "response_item":
        this.#takeItem(record, payload);
        break;
      case "event_msg":
        this.#takeEvent(record, payload);
        break;
      case "turn_context":
        this.#writer.changeSettings(record, payload);
        break;
      case "compacted":
        this.#writer.compact(record, payload);
        break;
      case "token_usage_record":
        this.#writer.count(record, member(payload, "usage"), textOf(payload["response_id"]), this.#isCopied);
        break;
      case "inter_agent_communication":
        this.#writer.note(record, payload, "codex.inter_agent_communication", true);
        break;
      default:
        if (DROPPED.has(type) || (type === "" && this.#next === 0))
          this.#builder.drop(type || "session_meta");
        else this.#writer.keepItem(record, type, dataOf(value));
    }
  }

  /** Tells whether the record was copied from a parent, which counts its tokens. */
  get #isCopied(): boolean {
    return this.#next < this.#copied;
  }

  #takeItem(record: SourceRecord, item: JsonRecord): void {
    const type = itemType(item);
    switch (itemRole(item)) {
      case "answer":
        this.#writer.addToAnswer(record, item);
        break;
      case "result":
        this.#writer.addResult(record, item);
        break;
      case "user":
        this.#addUser(record, item);
        break;
      case "instructions":
        this.#writer.note(record, item, "codex.instructions", false);
        break;
      case "agent":
        this.#writer.note(record, item, "codex.agent_message", true);
        break;
      case "image":
        this.#writer.addImage(record, item);
        break;
      default:
        if (DROPPED_ITEMS.has(type)) this.#builder.drop(type);
        else this.#writer.keepItem(record, type, item);
    }
  }

  #takeEvent(record: SourceRecord, event: JsonRecord): void {
    const type = textOf(event["type"]) ?? "";
    switch (type) {
      case "task_started":
      case "turn_started":
        this.#writer.startTurn();
        break;
      case "thread_rolled_back":
        this.#writer.rollBack(event["num_turns"]);
        break;
      case "turn_aborted":
        this.#writer.endTurn("aborted");
        break;
      case "task_complete":
      case "turn_complete":
        this.#writer.endTurn("error", event["error"]);
        break;
      case "token_count":
        this.#takeTotals(record, member(event, "info"));
        break;
      case "user_message":
      case "agent_message":
      case "agent_reasoning":
        if (!this.#hasItems) this.#takeSpoken(record, type, event);
        else this.#builder.drop(`event ${type}`);
        break;
      default:
        this.#builder.drop(`event ${type}`);
    }
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
    else this.#writer.count(record, member(info, "last_token_usage"), undefined, this.#isCopied);
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
