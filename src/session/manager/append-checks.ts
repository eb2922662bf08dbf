import { getMessageFields } from "../../core/context/entry-fields.ts";
import { assertArgument } from "../../core/format/arguments.ts";
import { type ContextEditableContent, isKnownEntryType, type SessionEntry } from "../../core/format/entry.ts";
import { SessionError } from "../../core/format/errors.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import {
  assertMessage,
  findMessageProblems,
  findStoredMessageProblems,
} from "../../core/format/message-check.ts";
import { OBJECT, type OptionRule, TEXT } from "../../core/format/options.ts";
import { COMMUTING_TYPES } from "../log/expected-leaf.ts";
import type { EntryFields } from "./entry-draft.ts";

/** Types with a special meaning in session files. Callers must not use them. */
const RESERVED_TYPES: ReadonlySet<unknown> = new Set(["", "session", "leaf"]);

const isString = (value: unknown) => typeof value === "string";

const CONTENT: OptionRule = {
  fits: (value) => isString(value) || (Array.isArray(value) && value.every(isBlock)),
  words: "a string or an array of content blocks",
};

const isBlock = (block: unknown) => isJsonRecord(block) && isString(block["type"]);

const REPLACEMENT: OptionRule = {
  fits: (value) => value === null || (isJsonRecord(value) && CONTENT.fits(value["content"])),
  words: "null or { content } with a string or an array of content blocks",
};

/** Required fields of each entry type, and their valid values. */
const NEEDED_FIELDS: {
  readonly [type in SessionEntry["type"]]: { readonly [field: string]: OptionRule };
} = {
  message: {},
  thinking_level_change: { thinkingLevel: TEXT },
  model_change: { provider: TEXT, modelId: TEXT },
  usage: { kind: TEXT, provider: TEXT, model: TEXT, usage: OBJECT },
  compaction: { summary: TEXT, firstKeptEntryId: TEXT },
  branch_summary: { summary: TEXT },
  custom: { customType: TEXT },
  custom_message: { customType: TEXT, content: CONTENT },
  context_edit: { targetId: TEXT, replacement: REPLACEMENT },
  label: { targetId: TEXT },
  session_info: {},
};

/**
 * Returns the fields of an entry whose required fields are arguments of the same name.
 *
 * @throws {TypeError} If an argument is invalid. It names the argument.
 */
export function checkArguments<Fields extends { readonly type: SessionEntry["type"] }>(
  fields: Fields,
): Fields {
  const needed = NEEDED_FIELDS[fields.type];
  for (const name in needed) {
    const rule = needed[name];
    if (rule !== undefined) assertArgument(name, Reflect.get(fields, name), rule);
  }
  return fields;
}

/**
 * Returns the fields of a draft.
 *
 * A malformed entry from another session is copied unchanged, unless it would empty the context.
 *
 * @throws {TypeError} If the draft has no type or a reserved type, or its message is invalid.
 * @throws {SessionError} `ENTRY_INVALID` if the type is unknown or required fields are missing.
 */
export function toEntryFields(draft: unknown): EntryFields {
  const { unknownType, ...rest } = isJsonRecord(draft) ? draft : {};
  const type = unknownType === undefined ? rest["type"] : unknownType;
  if (!isJsonRecord(draft) || typeof type !== "string" || RESERVED_TYPES.has(type)) {
    throw new TypeError('An entry needs its own type; "session" and "leaf" are reserved by the format.');
  }
  const isCopy = isString(draft["id"]) && isString(draft["timestamp"]);
  if (isKnownEntryType(type) === (unknownType !== undefined) && !isCopy) throw makeWrongTypeError(type);
  if (isKnownEntryType(type)) assertNeeded(type, draft, isCopy);
  if (type === "message")
    assertMessage(draft["message"], isCopy ? findStoredMessageProblems : findMessageProblems);
  return unknownType === undefined ? { ...draft, type } : { ...rest, type };
}

function makeWrongTypeError(type: string): SessionError {
  const named = JSON.stringify(type);
  const message = isKnownEntryType(type)
    ? `Pass ${named} as type, not as unknownType.`
    : `There is no entry type ${named}. Correct it, or pass { unknownType: ${named}, … } for an entry of your own.`;
  return new SessionError("ENTRY_INVALID", message, { details: { type } });
}

function assertNeeded(type: SessionEntry["type"], draft: JsonRecord, isCopy: boolean): void {
  // A compaction without these fields would empty the context. Other programs store messages instead of the id of the first kept
  // entry.
  if (isCopy && (type !== "compaction" || Array.isArray(draft["retainedTail"]))) return;
  for (const [field, { fits }] of Object.entries(NEEDED_FIELDS[type])) {
    if (fits(draft[field])) continue;
    throw new SessionError(
      "ENTRY_INVALID",
      `A draft of type ${type} needs a valid ${field}; docs/format.md lists its fields.`,
      { details: { type, field } },
    );
  }
}

/**
 * Throws if a value cannot replace a message's content. It must be null or an object whose content is a string or an array of
 * blocks.
 */
export function assertReplacement(replacement: unknown): void {
  assertArgument("replacement", replacement, REPLACEMENT);
}

/** Returns whether an entry or a draft is a tool result. */
export function isToolResult(draft: unknown): boolean {
  return getMessageFields(draft)["role"] === "toolResult";
}

/**
 * Returns whether all entries appended since a given entry are tool results or not part of the conversation. Another tool result
 * may still follow them.
 *
 * @param fromLeaf - Entries leaf → root.
 */
export function hasOnlyResultsSince(fromLeaf: Iterable<SessionEntry>, entryId: string | null): boolean {
  for (const entry of fromLeaf) {
    if (entry.id === entryId) return true;
    if (!isToolResult(entry) && !COMMUTING_TYPES.includes(entry.type)) return false;
  }
  return false;
}

const EDITABLE_ROLES: ReadonlySet<string> = new Set(["user", "assistant", "toolResult"]);

/**
 * Throws if a target's contribution to the context cannot be edited.
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

/** Converts content to the form that the target's role requires. Assistant messages and tool results contain only blocks. */
export function toEditableContent(
  target: SessionEntry,
  content: ContextEditableContent,
): ContextEditableContent {
  const role = target.type === "message" ? target.message.role : undefined;
  const isBlocksOnly = role === "assistant" || role === "toolResult";
  return typeof content === "string" && isBlocksOnly ? [{ type: "text", text: content }] : content;
}
