import type { ContextEditableContent, SessionEntry } from "../../core/format/entry.ts";
import { SessionError } from "../../core/format/errors.ts";
import { findConverter } from "../../core/format/foreign-form.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { findMessageProblems, findStoredMessageProblems } from "../../core/format/message-check.ts";

const PROJECTED_ROLES: ReadonlySet<unknown> = new Set(["branchSummary", "compactionSummary"]);

/**
 * Refuses what cannot be stored as a message, or what readers of the session could not use.
 *
 * @param findProblems - Lists what is wrong with a message that has a role.
 * @throws {TypeError} If it has no role, a role whose messages are made from entries, or the shape of an SDK's
 *   messages.
 * @remarks Cost: O(content blocks). Source: docs/guide.md#append
 */
export function assertMessage(message: unknown, findProblems = findMessageProblems): void {
  const role = isJsonRecord(message) ? message["role"] : undefined;
  if (!isJsonRecord(message) || typeof role !== "string") {
    throw new TypeError(
      `A message needs a role; pass an object such as { role: "user", … }.${getAdvice(message)}`,
    );
  }
  if (PROJECTED_ROLES.has(role)) {
    throw new TypeError(
      `Messages of role ${role} are made from entries; use branchWithSummary or appendCompaction.`,
    );
  }
  const problems = findProblems(message);
  if (problems.length === 0) return;
  throw new TypeError(`This is not a message of a session: ${problems.join("; ")}.${getAdvice(message)}`);
}

/** Returns what to do with a message of another shape. */
function getAdvice(message: unknown): string {
  const converter = findConverter(message);
  return converter === undefined
    ? " docs/format.md lists the fields of a message; sessiontree/convert converts messages of an SDK."
    : ` Convert it with ${converter} from sessiontree/convert.`;
}

/** Types with a meaning of their own in a file, which callers must not use. */
const RESERVED_TYPES: ReadonlySet<unknown> = new Set(["", "session", "leaf"]);

/** Refuses what is not a draft of an entry: without a type, of a reserved one, or a message entry without a message. */
export function assertDraft(draft: unknown): void {
  const type = isJsonRecord(draft) ? draft["type"] : undefined;
  if (typeof type !== "string" || RESERVED_TYPES.has(type)) {
    throw new TypeError('An entry needs a type of its own; "session" and "leaf" are taken by the format.');
  }
  // An entry of another session may be malformed, and is copied unchanged.
  if (type === "message" && isJsonRecord(draft)) assertMessage(draft["message"], findStoredMessageProblems);
}

/** Refuses what cannot replace a message's content: all but null and what has a text or a list of blocks. */
export function assertReplacement(replacement: unknown): void {
  if (replacement === null) return;
  const content = isJsonRecord(replacement) ? replacement["content"] : undefined;
  const isBlock = (block: unknown) => isJsonRecord(block) && typeof block["type"] === "string";
  if (typeof content === "string" || (Array.isArray(content) && content.every(isBlock))) return;
  throw new TypeError("A replacement is null or { content }, with a text or a list of content blocks.");
}

const EDITABLE_ROLES: ReadonlySet<string> = new Set(["user", "assistant", "toolResult"]);

/**
 * Refuses a target whose contribution to the context cannot be edited.
 *
 * @param isOnPath - Whether the target is on the active branch.
 */
export function assertEditable(target: SessionEntry, isOnPath: boolean): void {
  const isEditable =
    target.type === "custom_message" ||
    (target.type === "message" && EDITABLE_ROLES.has(target.message.role));
  if (isEditable && isOnPath) return;
  const reason = isOnPath
    ? "it is not a user, assistant, toolResult or custom message"
    : "it is not on the active branch";
  throw new SessionError(
    "ENTRY_INVALID",
    `Entry ${target.id} cannot be edited: ${reason}. Choose another target.`,
    { details: { entryId: target.id } },
  );
}

/** Returns the content in the form of the target's role: assistants and tool results hold only blocks. */
export function toEditableContent(
  target: SessionEntry,
  content: ContextEditableContent,
): ContextEditableContent {
  const role = target.type === "message" ? target.message.role : undefined;
  const isBlocksOnly = role === "assistant" || role === "toolResult";
  return typeof content === "string" && isBlocksOnly ? [{ type: "text", text: content }] : content;
}
