import { addTo } from "../../../core/format/group-by.ts";
import { makeSubagentLink } from "../entry-bodies.ts";
import type { ImportedSession } from "../imported-session.ts";
import {
  type BuilderInput,
  makeSubagentSessionId,
  makeSubagentSourceId,
  SessionBuilder,
} from "../session-builder.ts";
import {
  findFirstText,
  getMember,
  pluckField,
  type SourceRecord,
  type SourceText,
  toNonemptyText,
} from "../source-text.ts";
import { findContinuation } from "./continuation.ts";
import type { Dollars } from "./cost-state.ts";
import { isSidechain, linkRecords, type RecordGraph, type RecordNode } from "./record-graph.ts";
import { type ClaudeSubagentText, findSubagents, type Subagent } from "./subagents.ts";
import { emitThread, type Thread } from "./thread-entries.ts";

/** A Claude Code session: its transcript and its subagents' transcripts. */
export interface ClaudeCodeInput extends BuilderInput {
  readonly main: SourceText;
  readonly subagents?: readonly ClaudeSubagentText[];
  /** Session id: the name of its file. Default: the id in the last record that contains an id. */
  readonly sessionId?: string;
  /** Id of the new session. The ids of subagents' sessions are derived from it. Default: `sessionId`. */
  readonly ownId?: string;
  /** Session that this session was forked from, if known. Records may also name it. */
  readonly forkedFrom?: string;
  /** Transcript of that session. It may contain the record that identifies the continued sessiontree session. */
  readonly original?: SourceText;
  /**
   * Dollars by model that were spent by the original session but are included in this session's totals; undefined if the session
   * is not a copy.
   */
  readonly inheritedDollars?: Dollars;
}

/**
 * Converts Claude Code records to sessions: one for the main conversation, and one for each subagent.
 *
 * A file that contains only a subagent's records yields only the subagent's session. A file without messages yields no sessions.
 *
 * @returns The main session first.
 * @remarks Cost: O(records). Source: docs/import-records.md#claude-code
 */
export function importClaudeCode(input: ClaudeCodeInput): ImportedSession[] {
  const { main } = input;
  const graph = linkRecords(main.records);
  const { own, lanes } = splitByAgent(graph);
  const id = input.sessionId ?? findLastText(main.records, "sessionId");
  if (id === undefined) return [];
  const { ownId = id } = input;
  const subagents = findSubagents(own, lanes, input.subagents ?? []);
  const links = new Map(
    subagents.flatMap(({ agentId, toolCallId }) =>
      toolCallId === undefined
        ? []
        : [[toolCallId, { agentId, sessionId: makeSubagentSessionId(ownId, agentId) }]],
    ),
  );
  const findSubagent = (call: string) => links.get(call);
  const sessions: ImportedSession[] = [];
  if (own.some(isTurn)) sessions.push(importMain(input, id, graph, { nodes: own, subagents, findSubagent }));
  const counted = new Set(own.flatMap((node) => findMessageId(node) ?? []));
  for (const subagent of subagents) {
    if (!subagent.nodes.some(isTurn)) continue;
    sessions.push(importSubagent(input, id, subagent, { counted, findSubagent }));
    // A subagent session that continues another one repeats its records.
    for (const node of subagent.nodes) counted.add(findMessageId(node) ?? "");
  }
  return sessions;
}

function importMain(
  input: ClaudeCodeInput,
  id: string,
  graph: RecordGraph,
  thread: Pick<Thread, "nodes" | "subagents" | "findSubagent">,
): ImportedSession {
  const { records, issues } = input.main;
  const builder = new SessionBuilder(input, {
    source: "claude-code",
    sourceId: id,
    sourceVersion: findFirstText(records, "version"),
    id: input.ownId ?? id,
    folders: pluckField(records, "cwd"),
    startedAt: findFirstText(records, "timestamp"),
    forkOf: findOriginal(input, id, thread.nodes),
    issues: [...issues, ...graph.issues],
  });
  builder.drop("repeated", graph.repeated);
  const { inheritedDollars: inherited } = input;
  const copy = inherited && { sessionId: id, inherited };
  const continuation = findContinuation(records, input.original?.records);
  emitThread({ builder, records, counted: new Set(), copy, continuation, ...thread });
  return builder.finish();
}

function importSubagent(
  input: ClaudeCodeInput,
  parentId: string,
  subagent: Subagent,
  thread: Pick<Thread, "counted" | "findSubagent">,
): ImportedSession {
  const { agentId, toolCallId, callerId, nodes, text } = subagent;
  const own = nodes.map(({ record }) => record);
  const records = text?.records ?? own;
  const id = makeSubagentSessionId(input.ownId ?? parentId, agentId);
  const builder = new SessionBuilder(input, {
    source: "claude-code",
    sourceId: makeSubagentSourceId(parentId, agentId),
    sourcePath: text?.path ?? input.path,
    sourceVersion: findFirstText(records, "version"),
    id,
    folders: pluckField([...records, ...input.main.records], "cwd"),
    startedAt: findFirstText(records, "timestamp"),
    startedBy: callerId === undefined ? parentId : makeSubagentSourceId(parentId, callerId),
    issues: [...(text?.issues ?? []), ...subagent.issues],
  });
  builder.addBehind(`${id} link`, undefined, makeSubagentLink({ agentId, toolCallId, ...subagent.details }));
  emitThread({ builder, nodes, records: text?.records, subagents: [], ...thread });
  return builder.finish();
}

/** Returns whether a record is part of the conversation, rather than a note from the program. */
function isTurn({ type, message }: RecordNode): boolean {
  return (type === "user" || type === "assistant") && message["content"] !== undefined;
}

function findMessageId({ type, message }: RecordNode): string | undefined {
  return type === "assistant" ? toNonemptyText(message["id"]) : undefined;
}

/** Separates the main agent's records from subagents' records in the same file. */
function splitByAgent({ nodes }: RecordGraph): {
  own: RecordNode[];
  lanes: ReadonlyMap<string, RecordNode[]>;
} {
  const own: RecordNode[] = [];
  const lanes = new Map<string, RecordNode[]>();
  const names = new Map<RecordNode, string>();
  for (const start of nodes) {
    if (!isSidechain(start)) {
      own.push(start);
      continue;
    }
    const path: RecordNode[] = [];
    let node: RecordNode = start;
    let name = names.get(node);
    while (name === undefined) {
      path.push(node);
      const { parent } = node;
      if (parent !== undefined && isSidechain(parent)) {
        node = parent;
        name = names.get(node);
      } else {
        name = toNonemptyText(node.value["agentId"]) ?? node.uuid.slice(0, 8);
      }
    }
    for (const one of path) names.set(one, name);
    addTo(lanes, name, start);
  }
  return { own, lanes };
}

/**
 * Finds the session that this session was copied from: the session that the records identify as the original, or whose id they
 * contain.
 */
function findOriginal(
  { forkedFrom }: ClaudeCodeInput,
  id: string,
  [first]: readonly RecordNode[],
): string | undefined {
  if (first === undefined) return undefined;
  const { value } = first;
  const named =
    toNonemptyText(getMember(value, "forkedFrom")["sessionId"]) ?? toNonemptyText(value["sessionId"]);
  return named !== undefined && named !== id ? named : forkedFrom;
}

function findLastText(records: readonly SourceRecord[], name: string): string | undefined {
  return toNonemptyText(
    records.findLast(({ value }) => toNonemptyText(value[name]) !== undefined)?.value[name],
  );
}
