import { toRecord } from "../../../core/context/entry-fields.ts";
import { addTo } from "../../../core/format/group-by.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { getMember, type SourceText, toNonemptyText } from "../source-text.ts";
import { findBlocksOfType, findResultBlocks, getUserText } from "./message-parts.ts";
import { linkRecords, type RecordNode } from "./record-graph.ts";

/** Transcript of a subagent that has its own file. */
export interface ClaudeSubagentText extends SourceText {
  /** Agent id from the file's name. */
  readonly agentId: string;
  /** Parsed content of the `.meta.json` file next to the transcript. */
  readonly meta?: unknown;
  /** Path of the file. */
  readonly path?: string;
}

/** A subagent of a session. */
export interface Subagent {
  readonly agentId: string;
  /** Id of the call that started the subagent, if known. */
  readonly toolCallId: string | undefined;
  /** Id of the subagent that made the call; undefined if the main agent made it. */
  readonly callerId: string | undefined;
  readonly nodes: readonly RecordNode[];
  /** File of the subagent; undefined if its records are in the main agent's file. */
  readonly text: ClaudeSubagentText | undefined;
  readonly issues: readonly SessionIssue[];
  /** Other known facts about the subagent. */
  readonly details: JsonRecord;
}

/**
 * Finds a session's subagents, and the call by the main agent or another subagent that started each of them.
 *
 * The call id is in the metadata file next to the transcript, in the call's result, or in a notification about the agent's work.
 * Otherwise, a subagent belongs to the call whose prompt equals its first prompt.
 */
export function findSubagents(
  main: readonly RecordNode[],
  lanes: ReadonlyMap<string, readonly RecordNode[]>,
  texts: readonly ClaudeSubagentText[],
): Subagent[] {
  const transcripts: Transcript[] = [
    ...Array.from(lanes, ([agentId, nodes]) => ({ agentId, nodes, text: undefined, issues: [], meta: {} })),
    ...texts.map(readTranscript),
  ];
  if (transcripts.length === 0) return [];
  const calls = new SubagentCalls();
  calls.addThread(main, undefined);
  for (const { agentId, nodes } of transcripts) calls.addThread(nodes, agentId);
  const ids = new Set(transcripts.map(({ agentId }) => agentId));
  return transcripts.map(({ meta, ...transcript }): Subagent => {
    const { agentId, nodes } = transcript;
    const toolCallId =
      toNonemptyText(meta["toolUseId"]) ?? calls.of(agentId) ?? calls.withPrompt(getFirstPrompt(nodes));
    const named = toNonemptyText(meta["parentAgentId"]);
    const callerId =
      calls.findCaller(toolCallId) ?? (named !== undefined && ids.has(named) ? named : undefined);
    const details = Object.fromEntries(
      DETAILS.flatMap((name) => (toNonemptyText(meta[name]) === undefined ? [] : [[name, meta[name]]])),
    );
    // If a subagent seems to have started itself, its file or a record about it is damaged.
    return { ...transcript, toolCallId, callerId: callerId === agentId ? undefined : callerId, details };
  });
}

/** Names of the subagent metadata fields to keep. */
const DETAILS = ["agentType", "description", "parentAgentId", "worktreePath"] as const;

interface Transcript extends Pick<Subagent, "agentId" | "nodes" | "text" | "issues"> {
  readonly meta: JsonRecord;
}

function readTranscript(text: ClaudeSubagentText): Transcript {
  const { nodes, issues } = linkRecords(text.records);
  const told = text.records.find(({ value }) => value["type"] === "agent_metadata")?.value;
  return { agentId: text.agentId, nodes, text, issues, meta: { ...toRecord(told), ...toRecord(text.meta) } };
}

function getFirstPrompt(nodes: readonly RecordNode[]): string {
  const prompt = nodes.find(({ type }) => type === "user");
  return prompt === undefined ? "" : getUserText(prompt);
}

/** Pattern for the message that notifies the main agent that a subagent has finished. */
const NOTIFICATION =
  /^<task-notification>\s*<task-id>([^<]+)<\/task-id>\s*<tool-use-id>([^<]+)<\/tool-use-id>/;

/** Calls that started subagents, collected from transcripts. */
class SubagentCalls {
  readonly #byAgent = new Map<string, string>();
  readonly #byPrompt = new Map<string, string[]>();
  /** First agent that made each call, by call id. Agents that continue another agent's conversation repeat its calls. */
  readonly #callers = new Map<string, string | undefined>();

  /** @param agentId - Agent that the transcript belongs to; undefined for the main agent. */
  addThread(nodes: readonly RecordNode[], agentId: string | undefined): void {
    for (const node of nodes) {
      if (node.type === "assistant") this.#addCalls(node, agentId);
      else if (node.type === "user") this.#addResult(node);
      else if (node.type === "progress") {
        const { value } = node;
        this.#link(
          toNonemptyText(getMember(value, "data")["agentId"]),
          toNonemptyText(value["parentToolUseID"]),
        );
      }
    }
  }

  of(agentId: string): string | undefined {
    return this.#byAgent.get(agentId);
  }

  /** Returns each call only once, because the same prompt may start several subagents. */
  withPrompt(prompt: string): string | undefined {
    return prompt === "" ? undefined : this.#byPrompt.get(prompt)?.shift();
  }

  findCaller(toolCallId: string | undefined): string | undefined {
    return toolCallId === undefined ? undefined : this.#callers.get(toolCallId);
  }

  #addCalls(node: RecordNode, agentId: string | undefined): void {
    for (const block of findBlocksOfType(node, "tool_use")) {
      const id = toNonemptyText(block["id"]);
      const prompt = toNonemptyText(getMember(block, "input")["prompt"]);
      if (id === undefined || this.#callers.has(id)) continue;
      this.#callers.set(id, agentId);
      if (prompt !== undefined) addTo(this.#byPrompt, prompt, id);
    }
  }

  #addResult(node: RecordNode): void {
    const [result] = findResultBlocks(node);
    const told = result === undefined ? NOTIFICATION.exec(getUserText(node)) : null;
    const agentId = told?.[1] ?? toNonemptyText(getMember(node.value, "toolUseResult")["agentId"]);
    this.#link(agentId, told?.[2] ?? toNonemptyText(result?.["tool_use_id"]));
  }

  #link(agentId: string | undefined, toolCallId: string | undefined): void {
    if (agentId !== undefined && toolCallId !== undefined) this.#byAgent.set(agentId, toolCallId);
  }
}
