import { converterFor } from "../schema/foreign-message.ts";
import { isJsonRecord } from "../schema/json.ts";
import { messageProblems, storedMessageProblems } from "../schema/message-shape.ts";

const PROJECTED_ROLES: ReadonlySet<unknown> = new Set(["branchSummary", "compactionSummary"]);

/**
 * Refuses what cannot be stored as a message, or what no reader of the session would find in it.
 *
 * @param problemsOf - Says what is wrong with a message that has a role.
 * @throws {TypeError} If it has no role, one whose messages are made from entries, or the shape of an SDK's messages.
 * @remarks Cost: O(content blocks). Source: docs/guide.md#append
 */
export function assertMessage(message: unknown, problemsOf = messageProblems): void {
  const role = isJsonRecord(message) ? message["role"] : undefined;
  if (!isJsonRecord(message) || typeof role !== "string") {
    throw new TypeError(
      `A message needs a role; give an object such as { role: "user", … }.${adviceFor(message)}`,
    );
  }
  if (PROJECTED_ROLES.has(role)) {
    throw new TypeError(
      `Messages of role ${role} are made from entries; use branchWithSummary or appendCompaction.`,
    );
  }
  const problems = problemsOf(message);
  if (problems.length === 0) return;
  throw new TypeError(`This is no message of a session: ${problems.join("; ")}.${adviceFor(message)}`);
}

/** What to do with a message of another shape. */
function adviceFor(message: unknown): string {
  const converter = converterFor(message);
  return converter === undefined
    ? " The fields of a message are in docs/format.md; messages of an SDK are turned into such by sessiontree/convert."
    : ` Turn it into messages of a session with ${converter} from sessiontree/convert.`;
}

/** Types that mean something to a reader of the file and are no drafts of a caller. */
const RESERVED_TYPES: ReadonlySet<unknown> = new Set(["", "session", "leaf"]);

/**
 * Refuses what is no draft of an entry.
 *
 * @throws {TypeError} If it has no type, a reserved one, or is a message entry without a message.
 */
export function assertDraft(draft: unknown): void {
  const type = isJsonRecord(draft) ? draft["type"] : undefined;
  if (typeof type !== "string" || RESERVED_TYPES.has(type)) {
    throw new TypeError('An entry needs a type of its own; "session" and "leaf" are taken by the format.');
  }
  // An entry of another session may be odd, and is taken as it is.
  if (type === "message" && isJsonRecord(draft)) assertMessage(draft["message"], storedMessageProblems);
}

/**
 * Refuses what cannot replace a message's content.
 *
 * @throws {TypeError} Unless it is null, or holds a text or a list of blocks.
 */
export function assertReplacement(replacement: unknown): void {
  if (replacement === null) return;
  const content = isJsonRecord(replacement) ? replacement["content"] : undefined;
  const isBlock = (block: unknown) => isJsonRecord(block) && typeof block["type"] === "string";
  if (typeof content === "string" || (Array.isArray(content) && content.every(isBlock))) return;
  throw new TypeError("A replacement is null or { content }, with a text or a list of content blocks.");
}
