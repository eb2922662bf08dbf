import { addTo } from "../../../core/format/group-by.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { toNonemptyText } from "../source-text.ts";
import {
  classifyRecord,
  findBlocksOfType,
  findMessageKey,
  findResultBlocks,
  getUserText,
  isAborted,
  type RecordRole,
} from "./message-parts.ts";
import { isBelow, type RecordNode, walkUpward } from "./record-graph.ts";

/** Records that are converted together: the parts of a message, a command and its output, or a boundary and its summary. */
export interface Unit {
  readonly role: Exclude<RecordRole, "progress">;
  /** Records in conversation order. The first record determines the unit's key and position. */
  readonly nodes: RecordNode[];
  parent: Unit | undefined;
}

/** Units of one agent's conversation. */
export interface ThreadUnits {
  /** In file order. */
  readonly units: readonly Unit[];
  readonly unitByNode: ReadonlyMap<RecordNode, Unit>;
  /** Tool names by call id. */
  readonly toolNames: ReadonlyMap<string, string>;
  /** Returns the unit, or, for a result that was moved before other units, the unit that now ends the conversation. */
  readonly getEnd: (unit: Unit) => Unit;
}

/** Roles of units without content. The next unit in the file may be a sibling of such a unit rather than its child. */
const PASSIVE: ReadonlySet<RecordRole> = new Set(["aside", "progress"]);

/**
 * Groups one agent's records into units and determines each unit's parent.
 *
 * Claude Code writes a record for each block of a message and attaches each tool result to the record of its call. In contrast, a
 * message is a single unit here, and the results of its calls follow it one after another. A second result for the same call, or
 * a prompt next to the results, remains a branch.
 *
 * @param nodes - In file order, with all parents from the same agent.
 * @remarks Cost: O(records), if few records without content occur between the records of a message.
 */
export function groupRecords(nodes: readonly RecordNode[]): ThreadUnits {
  return new Grouping(nodes).group();
}

class Grouping {
  readonly #nodes: readonly RecordNode[];
  readonly #own: ReadonlySet<RecordNode>;
  readonly #roles = new Map<RecordNode, RecordRole>();
  readonly #unitByNode = new Map<RecordNode, Unit>();
  readonly #units: Unit[] = [];
  readonly #seen = new Set<RecordNode>();
  readonly #toolNames = new Map<string, string>();
  /** Messages by call id. */
  readonly #callers = new Map<string, Unit[]>();
  /** Results of a message's calls, in order. */
  readonly #results = new Map<Unit, Unit[]>();
  /** Parents of units, based only on the records. */
  readonly #raw = new Map<Unit, Unit | undefined>();
  /** Message with the calls that a result unit answers, by result unit. */
  readonly #callerByUnit = new Map<Unit, Unit>();

  constructor(nodes: readonly RecordNode[]) {
    this.#nodes = nodes;
    this.#own = new Set(nodes);
  }

  group(): ThreadUnits {
    for (const node of this.#nodes) this.#roles.set(node, classifyRecord(node));
    for (const node of this.#nodes) this.#assign(node);
    this.#units.sort((one, other) => getPosition(one) - getPosition(other));
    for (const unit of this.#units) this.#indexCalls(unit);
    for (const unit of this.#units) if (unit.role === "results") this.#joinResults(unit);
    for (const unit of this.#units) {
      unit.parent = this.#rawParent(unit);
      this.#raw.set(unit, unit.parent);
    }
    for (const unit of this.#units) this.#chain(unit);
    for (const unit of this.#units) this.#moveBehindResults(unit);
    const getEnd = (unit: Unit) => this.#findEnd(unit) ?? unit;
    return { units: this.#units, unitByNode: this.#unitByNode, toolNames: this.#toolNames, getEnd };
  }

  /** Returns the parent of a node, if it belongs to the same agent. */
  #above(node: RecordNode): RecordNode | undefined {
    return node.parent !== undefined && this.#own.has(node.parent) ? node.parent : undefined;
  }

  #ancestors(node: RecordNode): Generator<RecordNode, void> {
    return walkUpward(this.#above(node), (at) => this.#above(at));
  }

  /** Assigns a unit to a node, and to its ancestors without a unit. */
  #assign(start: RecordNode): void {
    const waiting: RecordNode[] = [];
    let node: RecordNode | undefined = start;
    while (node !== undefined && !this.#seen.has(node)) {
      this.#seen.add(node);
      waiting.push(node);
      node = this.#above(node);
    }
    for (const one of waiting.reverse()) this.#assignOne(one);
  }

  #assignOne(node: RecordNode): void {
    const role = this.#roles.get(node);
    if (role === undefined || role === "progress") return;
    const joined = this.#unitToJoin(node, role);
    if (joined !== undefined) {
      joined.nodes.push(node);
      this.#unitByNode.set(node, joined);
      return;
    }
    const unit: Unit = { role, nodes: [node], parent: undefined };
    this.#unitByNode.set(node, unit);
    this.#units.push(unit);
  }

  #unitToJoin(node: RecordNode, role: RecordRole): Unit | undefined {
    const above = this.#above(node);
    const unit = above && this.#unitByNode.get(above);
    if (role === "assistant") return this.#messageToJoin(node);
    if (unit === undefined) return undefined;
    if (role === "summary" && unit.role === "boundary" && unit.nodes.length === 1) return unit;
    if (role === "bash-output" && unit.role === "bash-input" && unit.nodes.length === 1) return unit;
    return undefined;
  }

  /** Finds the message that a record continues: an ancestor, with no part of another message in between. */
  #messageToJoin(node: RecordNode): Unit | undefined {
    const key = findMessageKey(node);
    if (key === undefined) return undefined;
    for (const at of this.#ancestors(node)) {
      const role = this.#roles.get(at);
      if (role === "assistant") {
        const unit = findMessageKey(at) === key ? this.#unitByNode.get(at) : undefined;
        return unit !== undefined && !this.#hasPrompt(at, node) ? unit : undefined;
      }
      if (role === undefined || !(PASSIVE.has(role) || role === "results")) return undefined;
    }
    return undefined;
  }

  /** Returns whether a prompt follows part of a message, which means that the message was abandoned there and started again. */
  #hasPrompt(part: RecordNode, next: RecordNode): boolean {
    return part.children.some((child) => child !== next && this.#isTyped(child));
  }

  #isTyped(node: RecordNode): boolean {
    return this.#roles.get(node) === "prompt" && !isInterruption(node);
  }

  #indexCalls(unit: Unit): void {
    if (unit.role !== "assistant") return;
    for (const block of getCallBlocks(unit)) {
      const id = toNonemptyText(block["id"]);
      if (id === undefined) continue;
      this.#toolNames.set(id, toNonemptyText(block["name"]) ?? "unknown");
      if (this.#callers.get(id)?.includes(unit) !== true) addTo(this.#callers, id, unit);
    }
  }

  /** Appends results to the other results after the message that contains their calls, unless the calls already have results. */
  #joinResults(unit: Unit): void {
    const caller = this.#callerFor(unit);
    if (caller === undefined) return;
    this.#callerByUnit.set(unit, caller);
    const answered = new Set(this.#results.get(caller)?.flatMap(getResultIds));
    const isSecond = getResultIds(unit).some((id) => answered.has(id));
    if (!isSecond) addTo(this.#results, caller, unit);
  }

  #callerFor(unit: Unit): Unit | undefined {
    const [node] = unit.nodes;
    if (node === undefined) return undefined;
    const candidates = new Set(getResultIds(unit).flatMap((id) => this.#callers.get(id) ?? []));
    if (candidates.size < 2) return [...candidates][0];
    const source = node.value["sourceToolAssistantUUID"];
    for (const one of candidates) if (one.nodes.some(({ uuid }) => uuid === source)) return one;
    for (const at of this.#ancestors(node)) {
      const above = this.#unitByNode.get(at);
      if (above !== undefined && candidates.has(above)) return above;
    }
    return [...candidates].findLast((one) => getPosition(one) < node.position) ?? [...candidates][0];
  }

  /** Returns a unit's parent, based only on the records. */
  #rawParent(unit: Unit): Unit | undefined {
    const [first] = unit.nodes;
    for (const at of first === undefined ? [] : this.#ancestors(first)) {
      const above = this.#unitByNode.get(at);
      if (above !== undefined && above !== unit) return above;
    }
    return undefined;
  }

  /** Attaches results to their message, or to the results before them. */
  #chain(unit: Unit): void {
    const caller = this.#callerByUnit.get(unit);
    if (caller === undefined) return;
    const row = this.#results.get(caller) ?? [];
    const rival = row.includes(unit) ? unit : row.find((one) => hasSharedResult(one, unit));
    if (rival !== undefined) unit.parent = this.#parentInRow(row, caller, rival);
  }

  #parentInRow(row: readonly Unit[], caller: Unit, unit: Unit): Unit {
    let last = row[row.indexOf(unit) - 1] ?? caller;
    // A unit without content that was written between two results remains between them.
    for (let next = this.#findAside(last, unit); next !== undefined; next = this.#findAside(last, unit))
      last = next;
    return last;
  }

  #findAside(unit: Unit, before: Unit): Unit | undefined {
    for (const node of unit.nodes) {
      for (const child of node.children) {
        const aside = this.#unitByNode.get(child);
        const isBetween = aside !== undefined && getPosition(aside) < getPosition(before);
        if (isBetween && aside.role === "aside" && aside.parent === unit) return aside;
      }
    }
    return undefined;
  }

  /** Moves units that follow one of several results so that they follow the last result. */
  #moveBehindResults(unit: Unit): void {
    if (PASSIVE.has(unit.role) || this.#callerByUnit.has(unit)) return;
    let base = unit.parent;
    while (base !== undefined && PASSIVE.has(base.role)) base = base.parent;
    if (base === undefined) return;
    const end = this.#findEnd(base);
    if (end !== undefined && end !== unit) {
      unit.parent = end;
      return;
    }
    const caller = base.role === "assistant" ? base : this.#callerByUnit.get(base);
    const row = caller && this.#results.get(caller);
    const last = row?.at(-1);
    if (row === undefined || last === undefined || last === base) return;
    const isBranch = base === caller ? this.#isBeside(unit, row) : !row.includes(base);
    if (!isBranch) unit.parent = last;
  }

  /** Returns whether a prompt was typed next to a call's results, rather than before one of them. */
  #isBeside(unit: Unit, row: readonly Unit[]): boolean {
    if (!unit.nodes.some((node) => this.#isTyped(node))) return false;
    return !row.some((result) => {
      for (const at of walkUpward(this.#raw.get(result), (one) => this.#raw.get(one))) {
        if (at === unit) return true;
        if (getPosition(at) < getPosition(unit)) return false;
      }
      return false;
    });
  }

  /** Returns the last of the units that follow a result, including units written between the result and its call. */
  #findEnd(unit: Unit): Unit | undefined {
    const caller = this.#callerByUnit.get(unit);
    if (caller === undefined) return undefined;
    for (const at of walkUpward(unit, (one) => this.#raw.get(one))) {
      // The message and its ancestors are ancestors of its results, so there is no need to climb to the root for each of them.
      if (at === caller) return undefined;
      if (PASSIVE.has(at.role) || this.#callerByUnit.has(at)) continue;
      const above = (one: Unit) => (one === caller ? undefined : one.parent);
      return isBelow(at.parent, unit, above) ? (this.#results.get(at)?.at(-1) ?? at) : undefined;
    }
    return undefined;
  }
}

/** Returns a unit's position in the file. */
export function getPosition({ nodes }: Unit): number {
  return nodes[0]?.position ?? 0;
}

function getCallBlocks({ nodes }: Unit): JsonRecord[] {
  return nodes.flatMap((node) => findBlocksOfType(node, "tool_use"));
}

/** Returns a message's model; empty if the message does not specify one. */
export function getModel({ nodes: [node] }: Unit): string {
  return toNonemptyText(node?.message["model"]) ?? "";
}

/** Returns the call ids in a message. */
export function getUnitCallIds(unit: Unit): string[] {
  return getCallBlocks(unit).flatMap(({ id }) => toNonemptyText(id) ?? []);
}

const INTERRUPTION = "[Request interrupted by user";

/** Returns whether a record is the program's own notice of an interruption rather than text typed by the user. */
function isInterruption(node: RecordNode): boolean {
  return getUserText(node).startsWith(INTERRUPTION);
}

/**
 * Returns whether the user interrupted an answer while it was arriving, in a version that does not count its tokens.
 *
 * The reported tokens are then the count from the start of the answer. Versions that count the tokens mark the answer as aborted.
 */
export function isBrokenOff(unit: Unit): boolean {
  const isOpen = unit.nodes.every(({ message }) => toNonemptyText(message["stop_reason"]) === undefined);
  if (unit.role !== "assistant" || !isOpen || getCallBlocks(unit).length > 0) return false;
  if (unit.nodes.some(isAborted)) return false;
  return unit.nodes.some(({ children }) =>
    children.some((child) => child.type === "user" && getUserText(child).startsWith(`${INTERRUPTION}]`)),
  );
}

function getResultIds(unit: Unit): string[] {
  return unit.nodes.flatMap(findResultBlocks).flatMap(({ tool_use_id }) => toNonemptyText(tool_use_id) ?? []);
}

function hasSharedResult(one: Unit, other: Unit): boolean {
  const ids = new Set(getResultIds(one));
  return getResultIds(other).some((id) => ids.has(id));
}

/** Extracts a bash command and its output from the program's tags. */
export function getBashParts({ nodes }: Unit): { command: string; output: string } {
  const text = nodes.map(getUserText).join("\n");
  const inside = (tag: string) => new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(text)?.[1] ?? "";
  const output = [inside("bash-stdout"), inside("bash-stderr")].filter((part) => part !== "").join("\n");
  return { command: inside("bash-input"), output };
}
