import { foldSystemMessages } from "../context/system-message.ts";
import type { ImageContent, TextContent, Usage } from "../schema/content.ts";
import {
  type AnySessionEntry,
  asSessionEntry,
  type ContextEditableContent,
  LEAF_CUSTOM_TYPE,
  type UsageEntry,
} from "../schema/entry.ts";
import { isJsonRecord } from "../schema/json.ts";
import type { AgentMessage, BranchSummaryMessage, CompactionSummaryMessage } from "../schema/message.ts";
import { NONE } from "../tree/entry-tree.ts";
import { assertDraft, assertMessage, assertReplacement } from "./append-checks.ts";
import { assertEditable, editableContent } from "./context-edits.ts";
import type { DraftMaker, EntryDraft } from "./entry-draft.ts";
import { staleLeaf } from "./expected-leaf.ts";
import { SessionReader } from "./session-reader.ts";

/** A message that can be appended: every role but the two that are made while projecting. */
export type AppendableMessage = Exclude<AgentMessage, BranchSummaryMessage | CompactionSummaryMessage>;

/** Where and on what condition an entry is appended. */
export interface AppendOptions {
  /** The entry to hang on; null for a new root. Default: the leaf. */
  readonly parentId?: string | null;
  /** The leaf that the caller has seen; if it is another one by now, nothing is appended. */
  readonly expectedLeafId?: string | null;
}

/**
 * All that can be appended to a session, and where its leaf can go.
 *
 * Every append is in the file before it is in the tree, hangs on the leaf and becomes the leaf. One that fails with
 * `WRITE_FAILED` has changed nothing.
 */
export class SessionAppender extends SessionReader {
  /**
   * Appends a message.
   *
   * @returns Id of the new entry.
   * @throws {TypeError} If it is no message of this format, or of a role that is made while projecting; it names the
   *   fields, and the function of `sessiontree/convert` that makes such messages of it.
   * @throws {SessionError} `WRITE_FAILED`, and then nothing has changed.
   */
  appendMessage(message: AppendableMessage): string {
    assertMessage(message);
    return this.core.appendMessage(message).id;
  }

  /** Appends the thinking level that holds from here on. */
  appendThinkingLevelChange(thinkingLevel: string): string {
    return this.core.append({ type: "thinking_level_change", thinkingLevel }).id;
  }

  /** Appends the model that is used from here on. */
  appendModelChange(provider: string, modelId: string): string {
    return this.core.append({ type: "model_change", provider, modelId }).id;
  }

  /** Appends tokens spent beside the conversation, and gives the entry. */
  appendUsage(kind: string, provider: string, model: string, usage: Usage, note?: string): UsageEntry {
    const entry = this.core.append({ type: "usage", kind, provider, model, usage, ...optional({ note }) });
    if (!isUsageEntry(entry)) throw new TypeError("beforePersist took the usage out of a usage entry");
    return entry;
  }

  /**
   * Appends a compaction: from here on the summary stands for what is before the first kept entry.
   *
   * @param firstKeptEntryId - Null keeps nothing.
   * @param tokensBefore - Size of the context before, in tokens.
   */
  appendCompaction<T = unknown>(
    summary: string,
    firstKeptEntryId: string | null,
    tokensBefore: number,
    details?: T,
    fromHook?: boolean,
    usage?: Usage,
  ): string {
    const { messages } = this.buildSessionContext();
    return this.core.append((id, timestampMs) => ({
      type: "compaction",
      summary,
      firstKeptEntryId: firstKeptEntryId ?? id,
      tokensBefore,
      ...optional({ details, fromHook, usage, systemMessage: foldSystemMessages(messages, timestampMs) }),
    })).id;
  }

  /** Appends state of an extension, which is never in the context. */
  appendCustomEntry(customType: string, data?: unknown): string {
    return this.core.append({ type: "custom", customType, ...optional({ data }) }).id;
  }

  /** Appends a message of an extension, which is in the context. */
  appendCustomMessageEntry<T = unknown>(
    customType: string,
    content: string | (TextContent | ImageContent)[],
    display: boolean,
    details?: T,
  ): string {
    return this.core.append({
      type: "custom_message",
      customType,
      content,
      display,
      ...optional({ details }),
    }).id;
  }

  /** Sets the display name; an empty one clears it. Line breaks become spaces. */
  appendSessionInfo(name: string): string {
    return this.core.append({ type: "session_info", name: name.replace(/[\r\n]+/g, " ").trim() }).id;
  }

  /**
   * Sets the label of an entry; empty or undefined clears it.
   *
   * @throws {SessionError} `ENTRY_NOT_FOUND`
   */
  appendLabelChange(targetId: string, label: string | undefined): string {
    this.core.require(targetId);
    return this.core.append({ type: "label", targetId, ...optional({ label: label || undefined }) }).id;
  }

  /**
   * Changes what an entry of the active branch contributes to the context from here on.
   *
   * @param replacement - Null removes its messages.
   * @throws {TypeError} If it is neither null nor has content.
   * @throws {SessionError} `ENTRY_NOT_FOUND`, or `ENTRY_INVALID` if the entry cannot be edited.
   */
  appendContextEdit(targetId: string, replacement: null | { content: ContextEditableContent }): string {
    assertReplacement(replacement);
    const target = asSessionEntry(this.core.cache.entryAt(this.core.require(targetId)));
    assertEditable(target, this.core.isOnPath(targetId));
    const edit = replacement === null ? null : { content: editableContent(target, replacement.content) };
    return this.core.append({ type: "context_edit", targetId, replacement: edit }).id;
  }

  /**
   * Appends an entry of any type, at any place, on the condition that the leaf has not moved.
   *
   * @param draft - Its fields; a head among them does not count: the parent is chosen by the options.
   * @throws {TypeError} If it is no draft of an entry.
   * @throws {SessionError} `STALE_LEAF` or `ENTRY_NOT_FOUND`, and then nothing was written.
   */
  append(draft: EntryDraft, options: AppendOptions = {}): string {
    assertDraft(draft);
    return this.core.append(draft, this.#parentFor(options)).id;
  }

  /**
   * Appends several entries in one write, each the parent of the next: either all of them are there or none.
   *
   * @param drafts - As for `append`; a function is given the id and the time (Unix milliseconds) of its entry.
   * @returns Ids of the new entries; empty if there is no draft, and then nothing is written.
   * @throws {TypeError} If one of them is no draft of an entry.
   * @throws {SessionError} `STALE_LEAF`, `ENTRY_NOT_FOUND` or `WRITE_FAILED`, and then nothing was written.
   */
  appendAll(drafts: readonly (EntryDraft | DraftMaker)[], options: AppendOptions = {}): string[] {
    for (const draft of drafts) if (typeof draft !== "function") assertDraft(draft);
    const parent = this.#parentFor(options);
    return drafts.length === 0 ? [] : this.core.appendAll(drafts, parent).map(({ id }) => id);
  }

  /** @throws {SessionError} `STALE_LEAF` or `ENTRY_NOT_FOUND` */
  #parentFor({ expectedLeafId, parentId }: AppendOptions): number {
    if (expectedLeafId !== undefined && expectedLeafId !== this.getLeafId()) {
      throw staleLeaf(expectedLeafId, this.getLeafId());
    }
    if (parentId === undefined) return this.core.leaf;
    return parentId === null ? NONE : this.core.require(parentId);
  }

  /**
   * Appends an entry under the leaf on the condition that nobody has gone on with the session elsewhere, either: a
   * compare-and-swap in the place where the session lives.
   *
   * Waits until everything before it and the entry itself are there. Labels, names and usage of others do not count. In
   * a file the comparison and the append are two steps; a store says in `supports.conditionalAppend` that they are one.
   *
   * @param expectedLeafId - The leaf that the caller has seen; null for a session without a conversation. Default: the
   *   present one.
   * @returns Id of the new entry.
   * @throws {TypeError} If it is no draft of an entry.
   * @throws {SessionError} `STALE_LEAF`: nothing was added, and what others wrote is in the tree now; `WRITE_FAILED`.
   */
  async appendIfLeaf(draft: EntryDraft, expectedLeafId?: string | null): Promise<string> {
    assertDraft(draft);
    const expected = expectedLeafId === undefined ? this.getLeafId() : expectedLeafId;
    return (await this.core.appendIfLeaf(draft, expected)).id;
  }

  /**
   * Throws what an append would throw, for whoever wants to know before the work and not after it.
   *
   * @throws {SessionError} `SESSION_CLOSED`, `READ_ONLY` or `VERSION_TOO_NEW`; `LEASE_HELD` if another process has taken
   *   the lease from this one.
   */
  assertWritable(): void {
    this.core.assertWritable();
  }

  /**
   * Moves the leaf to an entry: the next append begins a branch there.
   *
   * @throws {SessionError} `ENTRY_NOT_FOUND`
   */
  branch(branchFromId: string): void {
    this.core.moveLeaf(this.core.require(branchFromId));
  }

  /** Moves the leaf before the first entry: the next append is a new root. */
  resetLeaf(): void {
    this.core.moveLeaf(NONE);
  }

  /**
   * Moves the leaf and appends there a summary of the branch that was left.
   *
   * @param branchFromId - Null is the place before the first entry.
   * @returns Id of the summary's entry.
   * @throws {SessionError} `ENTRY_NOT_FOUND`
   */
  branchWithSummary(
    branchFromId: string | null,
    summary: string,
    details?: unknown,
    fromHook?: boolean,
    usage?: Usage,
  ): string {
    const place = branchFromId === null ? NONE : this.core.require(branchFromId);
    const fromId = this.getLeafId() ?? "root";
    return this.core.append(
      { type: "branch_summary", fromId, summary, ...optional({ details, fromHook, usage }) },
      place,
    ).id;
  }

  /** Makes the present leaf the leaf of the next open, by an entry that any reader of the format follows. */
  persistLeaf(): string {
    return this.appendCustomEntry(LEAF_CUSTOM_TYPE);
  }
}

/** The fields that are not undefined. */
function optional(fields: { readonly [name: string]: unknown }): { [name: string]: unknown } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function isUsageEntry(entry: AnySessionEntry): entry is UsageEntry {
  return entry.type === "usage" && "usage" in entry && isJsonRecord(entry.usage);
}
