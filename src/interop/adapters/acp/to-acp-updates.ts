import { estimateProjectedContextTokens } from "../../../core/compaction/tokens.ts";
import { toArray, toContentBlocks, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { buildSessionProjection } from "../../../core/context/session-context.ts";
import { formatOutputTitle, getEntryContent, getMessageContent } from "../../../core/facts/entry-content.ts";
import { toShortLine } from "../../../core/facts/plain-text.ts";
import { sumStatedCost } from "../../../core/facts/usage.ts";
import { assertSession } from "../../../core/format/arguments.ts";
import type { SessionEntry, SessionMessageEntry } from "../../../core/format/entry.ts";
import { makeEntryNotFoundError } from "../../../core/format/errors.ts";
import { assertOptions, makeNumberRule, OBJECT } from "../../../core/format/options.ts";
import { toWellFormedText } from "../../../core/format/well-formed-text.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import { toWellFormedMessage } from "../../convert/well-formed-message.ts";
import {
  type AcpPlanEntry,
  type AcpToolCall,
  type AcpToolContent,
  type AcpUpdate,
  ENTRY_META,
} from "./acp-types.ts";
import { getAcpDetails, LONGEST_TITLE, makeCallDiffs, makeCallFacts, readFacts } from "./call-facts.ts";
import { readBlock, toBlock } from "./content-blocks.ts";

/** `customType` of an entry for an update that is not a message. */
export const UPDATE_CUSTOM_TYPE = "acp.update";

/** Options for replaying a session. */
export interface AcpReplayOptions {
  /** Size of the model's context window for a `usage_update`, in tokens. By default, no such update is sent. */
  readonly contextWindow?: number;
  /** Capabilities from the client's `initialize` request. Compactions are sent only to clients that can display them. */
  readonly clientCapabilities?: object;
}

/**
 * Returns the updates that replay a session in an Agent Client Protocol client, for `session/load`.
 *
 * Replays the whole branch, including compacted messages, but without instructions or branch summaries. Every update is valid,
 * whatever the session contains: content that the protocol cannot represent is omitted or replaced with text. Calls without a
 * result are shown as failed, and duplicate call ids are made unique.
 *
 * @param leafId - Id of the last entry on the branch. Default: the leaf.
 * @returns A new array. A chunk's `messageId` is the id of its entry. Every update also has that id in `_meta`.
 * @throws {SessionError} `ENTRY_NOT_FOUND` if the session has no such leaf.
 * @remarks Cost: O(branch); with `contextWindow`, O(session). Source: docs/adapters.md#agent-client-protocol
 */
export function toAcpUpdates(
  session: SessionManager,
  leafId?: string,
  options: AcpReplayOptions = {},
): AcpUpdate[] {
  assertSession(session);
  assertOptions(options, { contextWindow: makeNumberRule(0, "tokens"), clientCapabilities: OBJECT });
  if (leafId !== undefined && session.getEntry(leafId) === undefined) throw makeEntryNotFoundError(leafId);
  const branch = session.getBranch(leafId);
  const replay = new Replay(session.getCwd(), options);
  for (const entry of branch) replay.add(entry);
  const last = branch.at(-1);
  if (last !== undefined) replay.push(last, makeInfoUpdate(session, last));
  if (last !== undefined && options.contextWindow !== undefined)
    replay.push(last, makeUsageUpdate(session, branch, options.contextWindow));
  return replay.updates;
}

function makeInfoUpdate(session: SessionManager, { timestamp }: SessionEntry): AcpUpdate {
  const title = session.getSessionName();
  return {
    sessionUpdate: "session_info_update",
    ...(title !== undefined && { title: toWellFormedText(title) }),
    updatedAt: timestamp,
  };
}

function makeUsageUpdate(session: SessionManager, branch: readonly SessionEntry[], size: number): AcpUpdate {
  const { tokens } = estimateProjectedContextTokens(buildSessionProjection(branch), branch);
  const cost = sumStatedCost(session.getEntries());
  return {
    sessionUpdate: "usage_update",
    used: Math.round(tokens),
    size: Math.round(Math.min(size, Number.MAX_SAFE_INTEGER)),
    ...(cost !== null && { cost: { amount: cost, currency: "USD" } }),
  };
}

type ChunkKind = "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk";

/** A displayed call, and the diffs to display with its output. */
interface ShownCall {
  readonly update: AcpToolCall;
  readonly diffs: readonly AcpToolContent[];
}

/** Creates updates from entries, in order. */
class Replay {
  readonly updates: AcpUpdate[] = [];
  readonly #cwd: string;
  readonly #showsCompactions: boolean;
  /** Latest call without a result, by the call's id in the session. */
  readonly #open = new Map<string, ShownCall>();
  readonly #callIds = new Set<string>();
  readonly #timesOfId = new Map<string, number>();

  constructor(cwd: string, { clientCapabilities }: AcpReplayOptions) {
    this.#cwd = cwd;
    const { compaction } = toRecord(toRecord(clientCapabilities)["session"]);
    this.#showsCompactions = compaction !== undefined && compaction !== null;
  }

  push({ id }: SessionEntry, update: AcpUpdate): void {
    this.updates.push(Object.assign(update, { _meta: { [ENTRY_META]: toWellFormedText(id) } }));
  }

  add(entry: SessionEntry): void {
    const { content, summary, customType, data } = toRecord(entry);
    if (entry.type === "message") this.#addMessage(entry, toWellFormedMessage(entry.message));
    else if (entry.type === "custom_message" && entry.display !== false)
      this.#chunks(entry, "agent_message_chunk", content);
    else if (entry.type === "compaction" && this.#showsCompactions)
      this.push(entry, makeCompactionUpdate(entry.id, summary));
    const isUpdate = entry.type === "custom" && customType === UPDATE_CUSTOM_TYPE;
    const plan = isUpdate ? readPlan(data) : undefined;
    if (plan !== undefined) this.push(entry, { sessionUpdate: "plan", entries: plan });
  }

  #addMessage(entry: SessionMessageEntry, message: unknown): void {
    const { role, content, display } = toRecord(message);
    if (role === "user")
      this.#chunks(entry, "user_message_chunk", content, getAcpDetails(message)["content"]);
    else if (role === "assistant") this.#addAnswer(entry, message);
    else if (role === "toolResult") this.#addResult(entry, message);
    else if (role === "bashExecution") this.#addCommand(entry);
    else if (role === "custom" && display !== false) this.#chunks(entry, "agent_message_chunk", content);
  }

  #chunks(entry: SessionEntry, sessionUpdate: ChunkKind, content: unknown, kept?: unknown): void {
    const original = toArray(kept).flatMap((block) => readBlock(block) ?? []);
    const blocks =
      original.length > 0 ? original : toContentBlocks(content).flatMap((block) => toBlock(block) ?? []);
    for (const block of blocks)
      this.push(entry, { sessionUpdate, content: block, messageId: toWellFormedText(entry.id) });
  }

  #addAnswer(entry: SessionEntry, message: unknown): void {
    for (const block of toContentBlocks(toRecord(message)["content"])) {
      const { type, thinking, id, name, arguments: input } = toRecord(block);
      if (type === "toolCall") this.#addCall(entry, toText(id), toText(name), input);
      else if (type === "thinking") this.#chunks(entry, "agent_thought_chunk", toText(thinking));
      else this.#chunks(entry, "agent_message_chunk", [block]);
    }
    for (const part of getMessageContent(message))
      if (part.kind === "failure" && part.of === "failed")
        this.#chunks(entry, "agent_message_chunk", part.text);
  }

  #addCall(entry: SessionEntry, id: string, name: string, input: unknown): ShownCall {
    const diffs = makeCallDiffs({ name, input }, this.#cwd);
    const update: AcpToolCall = {
      sessionUpdate: "tool_call",
      toolCallId: this.#uniqueId(id, entry.id),
      ...makeCallFacts({ name, input }, this.#cwd),
      ...(name !== "" && { name }),
      // The call counts as failed until its result is found, because nothing runs during a replay.
      status: "failed",
      ...(diffs.length > 0 && { content: [...diffs] }),
      ...(input !== undefined && { rawInput: input }),
    };
    const call = { update, diffs };
    this.#open.set(id, call);
    this.push(entry, update);
    return call;
  }

  #addResult(entry: SessionEntry, message: unknown): void {
    const { toolCallId, toolName, content, isError } = toRecord(message);
    const id = toText(toolCallId);
    const { update, diffs } = this.#open.get(id) ?? this.#addCall(entry, id, toText(toolName), undefined);
    this.#open.delete(id);
    update.status = "pending";
    const output = toContentBlocks(content).flatMap((block) => toBlock(block) ?? []);
    const shown = isError === true ? [] : diffs;
    this.push(entry, {
      sessionUpdate: "tool_call_update",
      toolCallId: update.toolCallId,
      status: isError === true ? "failed" : "completed",
      content: [...shown, ...output.map((block) => ({ type: "content" as const, content: block }))],
      ...readFacts(getAcpDetails(message)),
    });
  }

  /** Shows a user's shell command as a completed call. */
  #addCommand(entry: SessionEntry): void {
    const output = getEntryContent(entry).parts.find((part) => part.kind === "output");
    if (output === undefined) return;
    const text = toBlock({ type: "text", text: toWellFormedText(output.text) });
    this.push(entry, {
      sessionUpdate: "tool_call",
      toolCallId: this.#uniqueId("", entry.id),
      title: toShortLine(formatOutputTitle(output), LONGEST_TITLE),
      kind: "execute",
      status: output.isError ? "failed" : "completed",
      content: text === undefined ? [] : [{ type: "content", content: text }],
    });
  }

  /** Makes a call id unique, because some providers restart their numbering with each answer. */
  #uniqueId(id: string, entryId: string): string {
    const wanted = toWellFormedText(id || entryId);
    let unique = wanted;
    while (this.#callIds.has(unique)) {
      const times = (this.#timesOfId.get(wanted) ?? 1) + 1;
      this.#timesOfId.set(wanted, times);
      unique = `${wanted}#${times}`;
    }
    this.#callIds.add(unique);
    return unique;
  }
}

function makeCompactionUpdate(id: string, summary: unknown): AcpUpdate {
  const text = toBlock({ type: "text", text: toWellFormedText(toText(summary)) });
  return {
    sessionUpdate: "compaction_update",
    compactionId: toWellFormedText(id),
    status: "completed",
    summary: text === undefined ? [] : [text],
  };
}

const PRIORITIES = ["high", "medium", "low"] as const;
const STATUSES = ["pending", "in_progress", "completed"] as const;

/** Reads the steps of a stored plan; undefined if the data is not a plan. */
function readPlan(data: unknown): AcpPlanEntry[] | undefined {
  const { sessionUpdate, entries } = toRecord(data);
  if (sessionUpdate !== "plan" || !Array.isArray(entries)) return undefined;
  return entries.map(toRecord).flatMap(({ content, priority, status }) => {
    if (typeof content !== "string") return [];
    return {
      content: toWellFormedText(content),
      priority: PRIORITIES.find((one) => one === priority) ?? "medium",
      status: STATUSES.find((one) => one === status) ?? "pending",
    };
  });
}
