import type { ContextEditableContent, SessionEntry } from "../schema/entry.ts";
import { SessionError } from "../schema/errors.ts";

const EDITABLE_ROLES: ReadonlySet<string> = new Set(["user", "assistant", "toolResult"]);

/**
 * Refuses a target whose contribution to the context cannot be edited.
 *
 * @param isOnPath - Whether the target is on the active branch.
 * @throws {SessionError} `ENTRY_INVALID`
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
export function editableContent(
  target: SessionEntry,
  content: ContextEditableContent,
): ContextEditableContent {
  const role = target.type === "message" ? target.message.role : undefined;
  const isBlocksOnly = role === "assistant" || role === "toolResult";
  return typeof content === "string" && isBlocksOnly ? [{ type: "text", text: content }] : content;
}
