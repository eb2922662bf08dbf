import { fieldsOf } from "../../context/entry-fields.ts";
import type { SessionIssue } from "../../schema/issue.ts";
import type { JsonRecord } from "../../schema/json.ts";
import type { SourceText } from "../source-text.ts";
import { listOf, member, textOf } from "../source-values.ts";
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
  readonly nodes: readonly RecordNode[];
  /** Its own file; undefined if its records stand in that of the main agent. */
  readonly text: ClaudeSubagentText | undefined;
  readonly issues: readonly SessionIssue[];
  /** What else is known of it. */
  readonly details: JsonRecord;
}

/**
 * Finds the subagents of a session, and the call that started each.
 *
 * The call is named by the file beside the transcript, by the result of the call, by what was told of the agent's work,
 * or by the prompt: that of the call is the first that the subagent saw.
 */
export function findSubagents(
  main: readonly RecordNode[],
  lanes: ReadonlyMap<string, readonly RecordNode[]>,
  texts: readonly ClaudeSubagentText[],
): Subagent[] {
  if (lanes.size === 0 && texts.length === 0) return [];
  const calls = new SubagentCalls(main);
  const inFile = Array.from(lanes, ([agentId, nodes]): Subagent => {
    const toolCallId = calls.of(agentId) ?? calls.withPrompt(firstPrompt(nodes));
    return { agentId, toolCallId, nodes, text: undefined, issues: [], details: {} };
  });
  const inOwnFiles = texts.map((text): Subagent => {
    const { agentId } = text;
    const { nodes, issues } = linkRecords(text.records);
    const told = text.records.find(({ value }) => value["type"] === "agent_metadata")?.value;
    const meta = { ...fieldsOf(told), ...fieldsOf(text.meta) };
    const toolCallId = textOf(meta["toolUseId"]) ?? calls.of(agentId) ?? calls.withPrompt(firstPrompt(nodes));
    const names = ["agentType", "description", "parentAgentId", "worktreePath"];
    const details = Object.fromEntries(
      names.flatMap((name) => (textOf(meta[name]) === undefined ? [] : [[name, meta[name]]])),
    );
    return { agentId, toolCallId, nodes, text, issues, details };
  });
  return [...inFile, ...inOwnFiles];
}

function firstPrompt(nodes: readonly RecordNode[]): string {
  const prompt = nodes.find(({ type }) => type === "user");
  return prompt === undefined ? "" : userText(prompt);
}

/** What a transcript says of the calls that started subagents. */
class SubagentCalls {
  readonly #byAgent = new Map<string, string>();
  readonly #byPrompt = new Map<string, string[]>();

  constructor(nodes: readonly RecordNode[]) {
    for (const node of nodes) {
      if (node.type === "assistant") this.#addCalls(node);
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

  #addCalls({ record: { value } }: RecordNode): void {
    for (const block of listOf(member(value, "message")["content"])) {
      const id = textOf(blockField(block, "id"));
      const prompt = textOf(blockField(blockField(block, "input"), "prompt"));
      if (blockField(block, "type") !== "tool_use" || id === undefined || prompt === undefined) continue;
      this.#byPrompt.set(prompt, [...(this.#byPrompt.get(prompt) ?? []), id]);
    }
  }

  #addResult(node: RecordNode): void {
    const agentId = textOf(member(node.record.value, "toolUseResult")["agentId"]);
    const toolCallId = textOf(blockField(resultBlocks(node)[0], "tool_use_id"));
    if (agentId !== undefined && toolCallId !== undefined) this.#byAgent.set(agentId, toolCallId);
  }

  #addProgress({ record: { value } }: RecordNode): void {
    const agentId = textOf(member(value, "data")["agentId"]);
    const toolCallId = textOf(value["parentToolUseID"]);
    if (agentId !== undefined && toolCallId !== undefined) this.#byAgent.set(agentId, toolCallId);
  }
}
