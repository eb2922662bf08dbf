import type { EntryPath } from "../../../../src/core/context/entry-path.ts";
import type {
  AnySessionEntry,
  CompactionEntry,
  ContextEditEntry,
  SessionEntry,
  SessionMessageEntry,
} from "../../../../src/core/format/entry.ts";
import type {
  AgentMessage,
  AssistantMessage,
  SystemMessage,
  ToolResultMessage,
} from "../../../../src/core/format/message.ts";

/** Time of the entry made at `n`, for tests that compare times. */
export const timeMs = (n: number) => Date.UTC(2026, 0, 1) + n * 1000;
const iso = (n: number) => new Date(timeMs(n)).toISOString();

export function system(content: SystemMessage["content"], patch: Partial<SystemMessage> = {}): SystemMessage {
  return { role: "system", content, timestamp: 1, ...patch };
}

export function call(id: string, name = "read"): AssistantMessage["content"][number] {
  return { type: "toolCall", id, name, arguments: { path: "a.txt" } };
}

export function result(toolCallId: string, text = "done"): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content: [{ type: "text", text }],
    isError: false,
    timestamp: 8,
  };
}

type Base = "id" | "parentId" | "timestamp";
type Draft = { [T in SessionEntry as T["type"]]: Omit<T, Base> }[SessionEntry["type"]];

/** Creates a chain of entries with the ids e1, e2, … */
export class Line {
  readonly entries: AnySessionEntry[] = [];
  leaf: string | null = null;

  /** Adds any entry, even with a malformed body. */
  raw(type: string, body: object): AnySessionEntry {
    const n = this.entries.length + 1;
    const entry = { type, id: `e${n}`, parentId: this.leaf, timestamp: iso(n), ...body };
    this.entries.push(entry);
    this.leaf = entry.id;
    return entry;
  }

  add<D extends Draft>(draft: D): D & { id: string; parentId: string | null; timestamp: string } {
    const n = this.entries.length + 1;
    const entry = { ...draft, id: `e${n}`, parentId: this.leaf, timestamp: iso(n) };
    this.entries.push(entry);
    this.leaf = entry.id;
    return entry;
  }

  message(message: AgentMessage): SessionMessageEntry {
    return this.add({ type: "message", message });
  }

  compaction(firstKeptEntryId: string, more: Partial<CompactionEntry> = {}): CompactionEntry {
    return this.add({ type: "compaction", summary: "so far", tokensBefore: 9, ...more, firstKeptEntryId });
  }

  edit(targetId: string, replacement: ContextEditEntry["replacement"]): ContextEditEntry {
    return this.add({ type: "context_edit", targetId, replacement });
  }

  /** Sets the parent of the next entry. */
  at(leaf: string | null): this {
    this.leaf = leaf;
    return this;
  }
}

/** Creates a path that records which bodies are read; `damaged` bodies cannot be read. */
export function watchedPath(
  entries: readonly AnySessionEntry[],
  damaged: readonly string[] = [],
): EntryPath & { asked: string[] } {
  const asked: string[] = [];
  const entryAt = (index: number) => {
    const entry = entries[index];
    if (entry === undefined) throw new Error(`no entry at ${index}`);
    asked.push(entry.id);
    return damaged.includes(entry.id) ? undefined : entry;
  };
  return {
    asked,
    length: entries.length,
    mayHold: () => true,
    typeAt: (index) => entries[index]?.type ?? "",
    entryAt,
    entriesAt: (indices) => (indices ?? [...entries.keys()]).map(entryAt),
    indexOf: (id) => entries.findIndex((entry) => entry.id === id),
  };
}

/** Describes a message in a few words, for comparing lists at a glance. */
export function brief(message: AgentMessage): string {
  if (message.role === "compactionSummary" || message.role === "branchSummary")
    return `${message.role}:${message.summary}`;
  const content = "content" in message ? message.content : "";
  return `${message.role}:${typeof content === "string" ? content : content.map((b) => ("text" in b ? b.text : b.type)).join("|")}`;
}
