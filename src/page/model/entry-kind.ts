import type { AnySessionEntry } from "../../core.ts";
import { fieldsOf } from "./fields.ts";

/** How an entry is drawn. */
export type Tone = "user" | "assistant" | "tool" | "command" | "summary" | "quiet" | "damaged";

/** What an entry is to a person. */
export interface EntryKind {
  readonly word: string;
  readonly tone: Tone;
}

const kind = (tone: Tone, word: string): EntryKind => ({ tone, word });

const DAMAGED = kind("damaged", "damaged");

const BY_ROLE: ReadonlyMap<unknown, EntryKind> = new Map([
  ["user", kind("user", "user")],
  ["assistant", kind("assistant", "assistant")],
  ["toolResult", kind("tool", "tool result")],
  ["bashExecution", kind("command", "command")],
  ["system", kind("quiet", "system")],
  ["custom", kind("assistant", "custom message")],
  ["branchSummary", kind("summary", "branch summary")],
  ["compactionSummary", kind("summary", "compaction")],
]);

const BY_TYPE: ReadonlyMap<string, EntryKind> = new Map([
  ["custom_message", kind("assistant", "custom message")],
  ["compaction", kind("summary", "compaction")],
  ["branch_summary", kind("summary", "branch summary")],
  ["model_change", kind("quiet", "model")],
  ["thinking_level_change", kind("quiet", "thinking level")],
  ["context_edit", kind("quiet", "context edit")],
  ["label", kind("quiet", "label")],
  ["session_info", kind("quiet", "name")],
  ["usage", kind("quiet", "usage")],
  ["custom", kind("quiet", "state")],
  ["damaged", DAMAGED],
]);

/** Returns what a person calls the role of a message; the role itself if it is a stranger. */
export function wordOfRole(role: string): string {
  return BY_ROLE.get(role)?.word ?? role;
}

/** Tells what an entry is. */
export function kindOf(entry: AnySessionEntry): EntryKind {
  if (entry.type !== "message") return BY_TYPE.get(entry.type) ?? kind("quiet", entry.type.slice(0, 40));
  const role = fieldsOf(fieldsOf(entry)["message"])["role"];
  return typeof role === "string" ? (BY_ROLE.get(role) ?? kind("quiet", role.slice(0, 40))) : DAMAGED;
}
