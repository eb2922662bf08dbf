import { toArray } from "../../../core/context/entry-fields.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { getMember, makeIssue, type SourceRecord, toNonemptyText } from "../source-text.ts";

/** A record that is part of the conversation, identified by its `uuid`. */
export class RecordNode {
  readonly uuid: string;
  readonly type: string;
  /** Last record with this `uuid`. Its position is that of the first. */
  record: SourceRecord;
  /** Index of the first record with this `uuid` in the file. */
  readonly position: number;
  /** Preceding node; undefined if this node begins a conversation. */
  parent: RecordNode | undefined;
  readonly children: RecordNode[] = [];

  constructor(record: SourceRecord, position: number) {
    this.uuid = toNonemptyText(record.value["uuid"]) ?? "";
    this.type = toNonemptyText(record.value["type"]) ?? "";
    this.record = record;
    this.position = position;
  }

  get value(): JsonRecord {
    return this.record.value;
  }

  /** Fields of the record's message; empty if the record has no message. */
  get message(): JsonRecord {
    return getMember(this.value, "message");
  }
}

/** Result of `linkRecords`. */
export interface RecordGraph {
  /** In file order. */
  readonly nodes: readonly RecordNode[];
  readonly byUuid: ReadonlyMap<string, RecordNode>;
  /** Number of records that repeat an earlier `uuid`. */
  readonly repeated: number;
  readonly issues: readonly SessionIssue[];
}

/** Types of records whose `uuid` or `messageId` refers to another record. They look like nodes, but are not. */
const NO_NODES: ReadonlySet<string> = new Set(["file-history-snapshot", "summary", "last-prompt"]);

/** Returns whether a record is part of the conversation. */
export function isNode({ value: { type, uuid } }: SourceRecord): boolean {
  return typeof uuid === "string" && uuid !== "" && typeof type === "string" && !NO_NODES.has(type);
}

/** Returns whether a record belongs to a subagent. */
export function isSidechain({ value }: RecordNode): boolean {
  return value["isSidechain"] === true;
}

/** Messages that remain in the context after a compaction, according to its boundary. */
export interface PreservedMessages {
  readonly head: string | undefined;
  readonly tail: string | undefined;
  /** Whether the messages come before the summary. The summary then covers the messages after them. */
  readonly isPrefix: boolean;
}

/**
 * Determines which messages a compaction's boundary preserves. Newer versions list them; older versions specify only the first
 * and last message.
 */
export function readPreserved(boundary: JsonRecord): PreservedMessages {
  const metadata = getMember(boundary, "compactMetadata");
  const listed = getMember(metadata, "preservedMessages");
  const segment = getMember(metadata, "preservedSegment");
  const uuids = toArray(listed["uuids"]);
  const anchor = toNonemptyText(listed["anchorUuid"]) ?? toNonemptyText(segment["anchorUuid"]);
  return {
    head: toNonemptyText(uuids[0]) ?? toNonemptyText(segment["headUuid"]),
    tail: toNonemptyText(uuids.at(-1)) ?? toNonemptyText(segment["tailUuid"]),
    isPrefix: anchor !== undefined && anchor === boundary["uuid"],
  };
}

/**
 * Finds the parent of each record.
 *
 * A compaction's boundary follows the record that it identifies as its logical parent. If a parent is missing or would create a
 * cycle, it is replaced with the nearest earlier record of the same agent.
 */
export function linkRecords(records: readonly SourceRecord[]): RecordGraph {
  const byUuid = new Map<string, RecordNode>();
  const issues: SessionIssue[] = [];
  let repeated = 0;
  for (const [position, record] of records.entries()) {
    if (!isNode(record)) continue;
    const node = new RecordNode(record, position);
    const known = byUuid.get(node.uuid);
    if (known === undefined) byUuid.set(node.uuid, node);
    else {
      known.record = record;
      repeated++;
    }
  }
  const nodes = [...byUuid.values()];
  const latest = new Map<string, RecordNode>();
  for (const node of nodes) {
    const lane = getLane(node);
    node.parent = findParent(node, byUuid, latest.get(lane), issues);
    latest.set(lane, node);
  }
  breakCircles(nodes, issues);
  for (const node of nodes) node.parent?.children.push(node);
  return { nodes, byUuid, repeated, issues };
}

/** Returns a key for the agent that a record belongs to. */
function getLane({ value }: RecordNode): string {
  return `${value["isSidechain"] === true} ${toNonemptyText(value["agentId"]) ?? ""}`;
}

function findParent(
  node: RecordNode,
  byUuid: ReadonlyMap<string, RecordNode>,
  before: RecordNode | undefined,
  issues: SessionIssue[],
): RecordNode | undefined {
  const { value } = node;
  const { parentUuid } = value;
  const isBoundary = value["subtype"] === "compact_boundary";
  const named = isBoundary ? findBoundaryParent(value, byUuid) : toNonemptyText(parentUuid);
  const parent = named === undefined ? undefined : byUuid.get(named);
  // In a fork, preserved messages follow the summary, but the boundary still names one of them as its parent.
  const namedBy = ({ value }: RecordNode) => byUuid.get(toNonemptyText(value["parentUuid"]) ?? "");
  const isRelinked = isBoundary && isBelow(parent, node, namedBy);
  if (parent !== undefined && parent !== node && !isRelinked) return parent;
  if (isBoundary || (named === undefined && parentUuid === undefined)) return before;
  if (named === undefined) return undefined;
  const message = before
    ? `The record refers to a missing parent; it was attached to the record on line ${before.record.line}.`
    : "The record refers to a missing parent, and no record precedes it, so it begins the conversation.";
  issues.push(makeIssue("PARENT_BRIDGED", message, node.record));
  return before;
}

/** Returns the uuid of a boundary's parent: the last message that the boundary preserves, or its logical parent. */
function findBoundaryParent(value: JsonRecord, byUuid: ReadonlyMap<string, RecordNode>): string | undefined {
  const { tail } = readPreserved(value);
  if (tail !== undefined && byUuid.has(tail)) return tail;
  return toNonemptyText(value["logicalParentUuid"]) ?? toNonemptyText(value["parentUuid"]);
}

/** Yields an element and its ancestors. Each element is yielded only once, because damaged files may contain cycles. */
export function* walkUpward<T>(start: T | undefined, above: (one: T) => T | undefined): Generator<T, void> {
  const seen = new Set<T>();
  for (let at = start; at !== undefined && !seen.has(at); at = above(at)) {
    seen.add(at);
    yield at;
  }
}

/** Returns whether an element is the given ancestor or a descendant of it. */
export function isBelow<T>(one: T | undefined, ancestor: T, above: (one: T) => T | undefined): boolean {
  // Called for every result, along the whole conversation. A generator would take half as long again.
  const seen = new Set<T>();
  for (let at = one; at !== undefined && !seen.has(at); at = above(at)) {
    if (at === ancestor) return true;
    seen.add(at);
  }
  return false;
}

/** Returns the parent of an element. */
function getParent<T>({ parent }: { readonly parent: T | undefined }): T | undefined {
  return parent;
}

/** Breaks cycles. In a cycle, the record that comes first in the file is attached to the record before it. */
function breakCircles(nodes: readonly RecordNode[], issues: SessionIssue[]): void {
  const checked = new Set<RecordNode>();
  for (const start of nodes) {
    const path = new Set<RecordNode>();
    let node: RecordNode | undefined = start;
    while (node !== undefined && !checked.has(node) && !path.has(node)) {
      path.add(node);
      node = node.parent;
    }
    if (node !== undefined && path.has(node)) {
      const first = findFirstOfCircle(node);
      const before = nodes[nodes.indexOf(first) - 1];
      // Records that were checked earlier have no ancestor in this path.
      const isLoose = before !== undefined && (checked.has(before) || !isBelow(before, first, getParent));
      first.parent = isLoose ? before : undefined;
      const message = "The record is its own ancestor; it was attached to the record before it.";
      issues.push(makeIssue("PARENT_CYCLE", message, first.record));
    }
    for (const one of path) checked.add(one);
  }
}

function findFirstOfCircle(node: RecordNode): RecordNode {
  let first = node;
  for (let next = node.parent; next !== undefined && next !== node; next = next.parent) {
    if (next.position < first.position) first = next;
  }
  return first;
}

/**
 * Finds the leaf at which the program would continue: the end of one agent's most recently written branch.
 */
export function findLeaf(nodes: readonly RecordNode[]): RecordNode | undefined {
  const own = new Set(nodes);
  const isMain = (node: RecordNode) =>
    own.has(node) &&
    node.value["teamName"] === undefined &&
    node.type !== "progress" &&
    getMember(node.value, "attachment")["type"] !== "fork_briefing";
  for (let i = nodes.length - 1; i >= 0; i--) {
    const tip = nodes[i];
    if (tip === undefined || !isMain(tip) || tip.children.some(isMain)) continue;
    for (const { type } of walkUpward(tip, getParent))
      if (type === "user" || type === "assistant") return tip;
  }
  return nodes.at(-1);
}
