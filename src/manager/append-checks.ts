import { isJsonRecord } from "../schema/json.ts";

const PROJECTED_ROLES: ReadonlySet<unknown> = new Set(["branchSummary", "compactionSummary"]);

/**
 * Refuses what cannot be stored as a message.
 *
 * @throws {TypeError} If it has no role, or one whose messages are made from entries.
 */
export function assertMessage(message: unknown): void {
  const role = isJsonRecord(message) ? message["role"] : undefined;
  if (typeof role !== "string") {
    throw new TypeError('A message needs a role; give an object such as { role: "user", … }.');
  }
  if (PROJECTED_ROLES.has(role)) {
    throw new TypeError(
      `Messages of role ${role} are made from entries; use branchWithSummary or appendCompaction.`,
    );
  }
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
  if (type === "message" && isJsonRecord(draft)) assertMessage(draft["message"]);
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
