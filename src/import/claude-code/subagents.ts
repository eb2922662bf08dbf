import { fieldsOf, listOf } from "../../context/entry-fields.ts";
import type { SessionIssue } from "../../schema/issue.ts";
import type { JsonRecord } from "../../schema/json.ts";
import type { SourceText } from "../source-text.ts";
import { member, textOf } from "../source-values.ts";
import { blockField, resultBlocks, userText } from "./message-parts.ts";
import { linkRecords, type RecordNode } from "./record-graph.ts";

/** The transcript of a subagent that has a file of its own. */
export interface ClaudeSubagentText extends SourceText {
  /** As in the file's name. */
  readonly agentId: string;
  /** Parsed content of the `.meta.json` beside the file. */
  readonly meta?: unknown;
  /** Path of the file. */
  readonly path?: string;
}

/** A subagent of a session. */
export interface Subagent {
  readonly agentId: string;
  /** The call that started it, if that is known. */
  readonly toolCallId: string | undefined;
  /** The subagent that made that call; undefined if the main agent did. */
  readonly callerId: string | undefined;
  readonly nodes: readonly RecordNode[];
  /** Its own file; undefined if its records stand in that of the main agent. */
  readonly text: ClaudeSubagentText | undefined;
  readonly issues: readonly SessionIssue[];
  /** What else is known of it. */
  readonly details: JsonRecord;
}

/**
 * Finds the subagents of a session, and the call that started each, of the main agent or of another subagent.
 *
 * The call is named by the file beside the transcript, by the result of the call, by what was told of the agent's work,
 * or by the prompt: that of the call is the first that the subagent saw.
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
    const toolCallId = textOf(meta["toolUseId"]) ?? calls.of(agentId) ?? calls.withPrompt(firstPrompt(nodes));
    const named = textOf(meta["parentAgentId"]);
    const callerId =
      calls.callerOf(toolCallId) ?? (named !== undefined && ids.has(named) ? named : undefined);
    const details = Object.fromEntries(
      DETAILS.flatMap((name) => (textOf(meta[name]) === undefined ? [] : [[name, meta[name]]])),
    );
    // One that started itself: its file, or what is told of it, is damaged.
    return { ...transcript, toolCallId, callerId: callerId === agentId ? undefined : callerId, details };
  });
}

/** What is known of a subagent that is worth keeping. */
const DETAILS = ["agentType", "description", "parentAgentId", "worktreePath"] as const;

interface Transcript extends Pick<Subagent, "agentId" | "nodes" | "text" | "issues"> {
  readonly meta: JsonRecord;
}

function readTranscript(text: ClaudeSubagentText): Transcript {
  const { nodes, issues } = linkRecords(text.records);
  const told = text.records.find(({ value }) => value["type"] === "agent_metadata")?.value;
  return { agentId: text.agentId, nodes, text, issues, meta: { ...fieldsOf(told), ...fieldsOf(text.meta) } };
}

function firstPrompt(nodes: readonly RecordNode[]): string {
  const prompt = nodes.find(({ type }) => type === "user");
  return prompt === undefined ? "" : userText(prompt);
}

/** What the main agent is told when a subagent is done. */
const NOTIFICATION =
  /^<task-notification>\s*<task-id>([^<]+)<\/task-id>\s*<tool-use-id>([^<]+)<\/tool-use-id>/;

/** What transcripts say of the calls that started subagents. */
class SubagentCalls {
  readonly #byAgent = new Map<string, string>();
  readonly #byPrompt = new Map<string, string[]>();
  /** By the ids of calls, the agent that made each first: others repeat what they go on from. */
  readonly #callers = new Map<string, string | undefined>();

  /** @param agentId - Whose transcript it is; undefined for the main agent's. */
  addThread(nodes: readonly RecordNode[], agentId: string | undefined): void {
    for (const node of nodes) {
      if (node.type === "assistant") this.#addCalls(node, agentId);
      else if (node.type === "user") this.#addResult(node);
      else if (node.type === "progress") this.#addProgress(node);
    }
  }

  of(agentId: string): string | undefined {
    return this.#byAgent.get(agentId);
  }

  /** Gives each call once: the same prompt may start several subagents. */
  withPrompt(prompt: string): string | undefined {
    return prompt === "" ? undefined : this.#byPrompt.get(prompt)?.shift();
  }

  callerOf(toolCallId: string | undefined): string | undefined {
    return toolCallId === undefined ? undefined : this.#callers.get(toolCallId);
  }

  #addCalls({ record: { value } }: RecordNode, agentId: string | undefined): void {
    for (const block of listOf(member(value, "message")["content"])) {
      const id = textOf(blockField(block, "id"));
      const prompt = textOf(blockField(blockField(block, "input"), "prompt"));
      if (blockField(block, "type") !== "tool_use" || id === undefined || this.#callers.has(id)) continue;
      this.#callers.set(id, agentId);
      if (prompt === undefined) continue;
      this.#byPrompt.set(prompt, [...(this.#byPrompt.get(prompt) ?? []), id]);
    }
  }

  #addResult(node: RecordNode): void {
    const [result] = resultBlocks(node);
    const told = result === undefined ? NOTIFICATION.exec(userText(node)) : null;
    const agentId = told?.[1] ?? textOf(member(node.record.value, "toolUseResult")["agentId"]);
    const toolCallId = told?.[2] ?? textOf(blockField(result, "tool_use_id"));
    if (agentId !== undefined && toolCallId !== undefined) this.#byAgent.set(agentId, toolCallId);
  }

  #addProgress({ record: { value } }: RecordNode): void {
    const agentId = textOf(member(value, "data")["agentId"]);
    const toolCallId = textOf(value["parentToolUseID"]);
    if (agentId !== undefined && toolCallId !== undefined) this.#byAgent.set(agentId, toolCallId);
  }
}
