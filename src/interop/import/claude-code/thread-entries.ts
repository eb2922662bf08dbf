import { CONTINUED_SESSION_TYPE, findContinuedSession } from "../continued-session.ts";
import type { Draft, SessionBuilder } from "../session-builder.ts";
import { type SourceRecord, toNonemptyText } from "../source-text.ts";
import type { Continuation } from "./continuation.ts";
import { type CopyCosts, CostState, SubagentTokens } from "./cost-state.ts";
import { getMessageUsage } from "./message-parts.ts";
import { findLeaf, isNode, type RecordNode } from "./record-graph.ts";
import type { Subagent } from "./subagents.ts";
import {
  getModel,
  getPosition,
  getUnitCallIds,
  groupRecords,
  isBrokenOff,
  type ThreadUnits,
  type Unit,
} from "./thread-units.ts";
import {
  type EmittedUnit,
  emitUnit,
  findCountingKey,
  keepRecordData,
  type UnitContext,
} from "./unit-entries.ts";

/** One agent's conversation, and the builder that receives its entries. */
export interface Thread {
  readonly builder: SessionBuilder;
  /** Records of the conversation, in file order. */
  readonly nodes: readonly RecordNode[];
  /** All records in the agent's file; undefined if the file, and therefore its notes, belong to another agent. */
  readonly records: readonly SourceRecord[] | undefined;
  /** Ids of messages whose tokens are counted in another session. */
  readonly counted: ReadonlySet<string>;
  readonly findSubagent: UnitContext["findSubagent"];
  /** Dollars already included in the file's totals at its start; undefined if the session is not known to be a copy. */
  readonly copy?: CopyCosts | undefined;
  /** Position of the first new record; undefined if the session does not continue a sessiontree session. */
  readonly continuation?: Continuation | undefined;
  /** Subagents whose tokens are included in the totals in the agent's file. */
  readonly subagents: readonly Subagent[];
}

/**
 * Adds the entries of one agent's conversation, in file order except where a record precedes its parent.
 *
 * If the program would not continue at the last entry, an additional entry marks the leaf.
 */
export function emitThread(thread: Thread): void {
  new ThreadEmitter(thread).emit();
}

class ThreadEmitter {
  readonly #thread: Thread;
  readonly #units: ThreadUnits;
  readonly #emitted = new Map<Unit, EmittedUnit>();
  readonly #open = new Set<Unit>();
  readonly #context: UnitContext;
  readonly #costs: CostState;
  readonly #others: SubagentTokens;

  constructor(thread: Thread) {
    const { builder, nodes, records = [], counted, findSubagent, subagents, copy } = thread;
    this.#thread = thread;
    this.#units = groupRecords(nodes);
    const counting = chooseCounted(this.#units.units);
    this.#others = new SubagentTokens(records, subagents, new Set(counting.keys()));
    this.#costs = new CostState(builder, this.#others, copy);
    const byUuid = new Map(nodes.map((node) => [node.uuid, node]));
    this.#context = {
      builder,
      thread: this.#units,
      isCounted: (unit) => {
        const key = findCountingKey(unit);
        if (key !== undefined && (counted.has(key) || counting.get(key) !== unit)) return true;
        return isBrokenOff(unit);
      },
      findSubagent,
      findEntry: (uuid) => {
        const node = byUuid.get(uuid);
        const unit = node && this.#units.unitByNode.get(node);
        return unit && this.#emitted.get(unit)?.first;
      },
    };
  }

  emit(): void {
    const { builder, nodes, records } = this.#thread;
    builder.counts.records += nodes.length + builder.counts.dropped;
    if (records === undefined) for (const unit of this.#units.units) this.#emit(unit);
    else this.#emitWithNotes(records);
    builder.drop("progress", nodes.filter(({ type }) => type === "progress").length);
    this.#markLeaf();
  }

  #emitWithNotes(records: readonly SourceRecord[]): void {
    const { builder, continuation } = this.#thread;
    const notes = new SessionNotes(builder, this.#units, this.#costs);
    const byPosition = new Map(this.#units.units.map((unit) => [getPosition(unit), unit]));
    for (const [position, record] of records.entries()) {
      if (position === continuation?.position) builder.continueSession(continuation.session);
      const unit = byPosition.get(position);
      if (unit !== undefined) this.#emit(unit);
      if (isNode(record)) continue;
      builder.counts.records++;
      notes.take(record);
    }
    if (continuation?.position === records.length) builder.continueSession(continuation.session);
  }

  /** Adds the entries for a unit, after the entries for its ancestors. */
  #emit(unit: Unit): void {
    const waiting: Unit[] = [];
    for (let at: Unit | undefined = unit; at !== undefined && !this.#emitted.has(at); at = at.parent) {
      // If damage that links alone do not reveal makes a unit its own ancestor, it becomes a root.
      if (this.#open.has(at)) break;
      this.#open.add(at);
      waiting.push(at);
    }
    for (const one of waiting.reverse()) {
      const above = one.parent && this.#emitted.get(one.parent);
      const emitted = emitUnit(one, above, this.#context);
      this.#emitted.set(one, emitted);
      this.#countCosts(one, emitted.first);
    }
  }

  #countCosts(unit: Unit, draft: Draft): void {
    const isExported = getPosition(unit) < (this.#thread.continuation?.position ?? 0);
    if (isExported) return;
    if (draft.type === "compaction" && unit.parent === undefined) this.#costs.inherit();
    if (draft.type === "compaction" || draft.type === "branch_summary") this.#costs.addSummary(draft);
    if (unit.role !== "assistant") return;
    if (!this.#context.isCounted(unit)) this.#costs.addAnswer(getModel(unit), getMessageUsage(unit.nodes));
    for (const id of getUnitCallIds(unit)) this.#others.addCall(id, this.#units.toolNames.get(id));
  }

  #markLeaf(): void {
    const { builder, nodes } = this.#thread;
    let leaf = findLeaf(nodes);
    while (leaf !== undefined && !this.#units.unitByNode.has(leaf)) leaf = leaf.parent;
    const unit = leaf && this.#units.unitByNode.get(leaf);
    const draft = unit && this.#emitted.get(this.#units.getEnd(unit))?.last;
    if (draft !== undefined) builder.markLeaf(draft);
  }
}

/** Chooses the copy of a message on several branches that counts the message's tokens: the copy with the most output tokens. */
function chooseCounted(units: readonly Unit[]): Map<string, Unit> {
  const chosen = new Map<string, Unit>();
  for (const unit of units) {
    const key = unit.role === "assistant" ? findCountingKey(unit) : undefined;
    if (key === undefined) continue;
    const rival = chosen.get(key);
    const isMore =
      rival === undefined || getMessageUsage(unit.nodes).output > getMessageUsage(rival.nodes).output;
    if (isMore) chosen.set(key, unit);
  }
  return chosen;
}

/** Types of records that are irrelevant to the conversation. */
const DROPPED: ReadonlySet<string> = new Set([
  "agent-name",
  "agent-setting",
  "agent_metadata",
  "api-request",
  "api-request-blob",
  "api-request-shape",
  "atis-latch",
  "bridge-session",
  "file-history-snapshot",
  "host-row",
  "last-prompt",
  "mode",
  "permission-mode",
  "queue-operation",
  "tools-used",
]);

/** Returns whether a record is irrelevant to every conversation. */
export function isDroppedNote({ value }: SourceRecord): boolean {
  return DROPPED.has(toNonemptyText(value["type"]) ?? "");
}

/** Ranks of name sources: a user's title overrides a generated title, which overrides the name in an old summary. */
const NAME_RANKS = { summary: 1, "ai-title": 2, "custom-title": 3 } as const;

/** Reads the records in a transcript that are not part of the conversation: names, costs, and unknown records. */
class SessionNotes {
  readonly #builder: SessionBuilder;
  readonly #uuids: ReadonlySet<string>;
  #name = "";
  #nameRank = 0;
  readonly #costs: CostState;
  #number = 0;

  constructor(builder: SessionBuilder, { unitByNode }: ThreadUnits, costs: CostState) {
    this.#costs = costs;
    this.#builder = builder;
    this.#uuids = new Set(Array.from(unitByNode.keys(), ({ uuid }) => uuid));
  }

  /** Reads the next record of the file. */
  take(record: SourceRecord): void {
    const { value } = record;
    const type = toNonemptyText(value["type"]) ?? "";
    switch (type) {
      case "custom-title":
        this.#takeName(toNonemptyText(value["customTitle"]) ?? "", type);
        break;
      case "ai-title":
        this.#takeName(toNonemptyText(value["aiTitle"]) ?? "", type);
        break;
      case "summary":
        // Most summaries belong to other sessions, because the first lines of a file used to serve as a list of all sessions.
        if (this.#uuids.has(toNonemptyText(value["leafUuid"]) ?? "")) {
          this.#takeName(toNonemptyText(value["summary"]) ?? "", type);
        } else this.#builder.drop("summary of another session");
        break;
      case "cost-state":
        if (!this.#costs.take(record)) this.#builder.drop("cost unchanged");
        break;
      default:
        if (findContinuedSession(value) !== undefined) this.#builder.drop(CONTINUED_SESSION_TYPE);
        else if (DROPPED.has(type)) this.#builder.drop(type);
        else this.#keep(record, type);
    }
  }

  #takeName(name: string, type: keyof typeof NAME_RANKS): void {
    const rank = NAME_RANKS[type];
    if (rank < this.#nameRank) {
      this.#builder.drop("name that another one outranks");
      return;
    }
    this.#nameRank = rank;
    if (name === this.#name) {
      this.#builder.drop("name repeated");
      return;
    }
    this.#name = name;
    this.#builder.addName(`name ${this.#number++} ${name}`, name, type === "custom-title");
  }

  #keep(record: SourceRecord, type: string): void {
    const key = `note ${this.#number++} ${type}`;
    this.#builder.keepBehind(key, record.value["timestamp"], type || "record", keepRecordData(record.value));
  }
}
