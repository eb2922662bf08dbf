import { buildSessionContext } from "../../../../src/core/context/session-context.ts";
import { repairToolPairs } from "../../../../src/core/context/tool-pairs.ts";
import { isKnownEntry, type SessionEntry } from "../../../../src/core/format/entry.ts";
import { validateEntry } from "../../../../src/core/format/validate.ts";
import { encodeRecord } from "../../../../src/core/jsonl/encode.ts";
import { readSession } from "../../../../src/core/jsonl/read-session.ts";
import type { ImportedSession } from "../../../../src/interop/import/imported-session.ts";

/** Reads an imported session back from the bytes that would be written. */
export function readView(session: ImportedSession) {
  const text = [session.header, ...session.entries].map((one) => `${encodeRecord(one)}\n`).join("");
  const read = readSession(text);
  const entries = read.entries.filter(isKnownEntry);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const path: SessionEntry[] = [];
  for (let at = byId.get(read.leafId ?? ""); at !== undefined; at = byId.get(at.parentId ?? ""))
    path.unshift(at);
  const { messages, model, thinkingLevel } = buildSessionContext(entries, read.leafId);
  const problems = read.entries.flatMap((entry) => {
    const found = validateEntry(entry);
    return found.ok ? [] : [`${entry.id} ${JSON.stringify(found)}`];
  });
  return {
    session,
    text,
    read,
    entries,
    path,
    messages,
    model,
    thinkingLevel,
    problems,
    repairs: repairToolPairs(messages).repairs,
  };
}

/** Returns an entry's short form: one or two words. */
export function brief(entry: SessionEntry): string {
  switch (entry.type) {
    case "message":
      return briefMessage(entry.message);
    case "custom":
    case "custom_message":
      return entry.customType;
    case "session_info":
      return `name ${entry.name}`;
    case "compaction":
      return `compaction ${entry.summary}`;
    default:
      return entry.type;
  }
}

/** Returns a message's short form: `user hello`, `assistant hi+c1`, `result c1`. */
export function briefMessage(message: { role: string; content?: unknown; toolCallId?: string }): string {
  if (message.role === "toolResult") return `result ${message.toolCallId}`;
  const { content } = message;
  const parts =
    typeof content === "string" ? [content] : Array.isArray(content) ? content.map(briefBlock) : [];
  return `${message.role} ${parts.join("+")}`.trim();
}

function briefBlock(block: { type: string; text?: string; thinking?: string; id?: string }): string {
  return block.text ?? block.thinking ?? block.id ?? block.type;
}

/** Returns the sorted short forms of each text, call, and result in an imported session. */
export function partsMade(view: ReturnType<typeof readView>): string[] {
  return view.entries
    .flatMap((entry) => {
      if (entry.type === "compaction" || entry.type === "branch_summary") return [entry.summary];
      if (entry.type !== "message") return [];
      const { message } = entry;
      if (message.role === "toolResult") return [`of ${message.toolCallId}`];
      const { content } = message as { content: string | { text?: string; id?: string }[] };
      return typeof content === "string" ? [content] : content.map((block) => block.text ?? block.id ?? "");
    })
    .sort();
}

/** Returns the provenance in an imported session's first entry. */
export function getImportProvenance([first]: readonly object[]): unknown {
  return Object(first).data;
}
