import type { AnySessionEntry } from "./entry.ts";
import { SessionError } from "./errors.ts";
import { IMPORT_CUSTOM_TYPE } from "./import-origin.ts";
import { isJsonRecord, type JsonRecord, toSafeString } from "./json.ts";
import { REDACTION_CUSTOM_TYPE } from "./redaction.ts";

/** Default replacement for redacted content. */
export const REDACTED_TEXT = "[redacted]";

/** Fields that describe an entry's position and type and have no content. */
const KEPT_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "id",
  "parentId",
  "timestamp",
  "customType",
  "display",
  "targetId",
  "fromId",
  "firstKeptEntryId",
  "tokensBefore",
  "fromHook",
  "provider",
  "modelId",
  "model",
  "kind",
  "usage",
  "thinkingLevel",
]);

const KEPT_MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  "role",
  "timestamp",
  "api",
  "provider",
  "model",
  "usage",
  "stopReason",
  "thinkingLevel",
  "toolCallId",
  "toolName",
  "isError",
  "exitCode",
  "cancelled",
  "truncated",
  "excludeFromContext",
  "customType",
  "display",
]);

/** Key in an entry's `details` for the id of a chat message, which is not content. */
export const CHAT_DETAIL = "aiSdkChat";

/** Key in an entry's `details` for a message's id in LangGraph. */
export const LANGGRAPH_DETAIL = "langgraph";

/** Key in an entry's `data` for the id of a LangGraph checkpoint and the list of its messages. */
export const CHECKPOINT_HEAD = "checkpointHead";

/** Fields whose content a redaction replaces. */
const CONTENT_FIELDS = ["message", "content", "summary", "label", "name", "data", "replacement", "redacted"];

/**
 * Throws if an entry has no content to redact, such as a model change. Its settings must be kept because later entries depend on
 * them.
 *
 * @throws {SessionError} `ENTRY_INVALID`
 */
export function assertRedactable(entry: AnySessionEntry): void {
  // The bytes of an unreadable entry may contain anything.
  if (entry.type === "damaged") return;
  const redacted = JSON.stringify(redactEntry(entry, ""));
  if (CONTENT_FIELDS.some((field) => field in entry) || redacted !== JSON.stringify(entry)) return;
  const fields = Object.keys(entry).filter((name) => !["id", "parentId", "timestamp"].includes(name));
  const message = `Entry ${entry.id} has nothing to redact: a redaction keeps settings (${fields.join(", ")}). To remove those, delete the session, or fork it from an earlier entry.`;
  throw new SessionError("ENTRY_INVALID", message, { details: { entryId: entry.id, fields } });
}

/** Message fields that are strings. */
const TEXT_FIELDS = ["command", "output"] as const;

/**
 * Returns the redacted form of an entry. The position in the tree and the type are kept; the replacement is substituted for the
 * content.
 *
 * Keeps tool calls without their arguments, because results reference them.
 */
export function redactEntry(entry: AnySessionEntry, replacement: string): AnySessionEntry {
  const { type, id, parentId, timestamp } = entry;
  const kept = keepFields(entry, KEPT_FIELDS);
  const fields: JsonRecord = { ...kept };
  if ("message" in entry && isJsonRecord(entry.message))
    fields["message"] = redactMessage(entry.message, replacement);
  if ("content" in entry) fields["content"] = replacement;
  if ("summary" in entry) fields["summary"] = replacement;
  if ("label" in entry) fields["label"] = replacement;
  if ("name" in entry) fields["name"] = replacement;
  if ("data" in entry) fields["data"] = { ...keepData(entry), redacted: replacement };
  if (type === "context_edit") fields["replacement"] = null;
  if (Object.keys(fields).length === 4) fields["redacted"] = replacement;
  return { ...fields, ...keepDetails(entry), type, id, parentId, timestamp };
}

/**
 * Data fields of this library's own entries, by `customType`, that must be kept to prevent removed content from being restored.
 */
const KEPT_DATA: { readonly [customType: string]: readonly string[] } = {
  [IMPORT_CUSTOM_TYPE]: ["source", "sourceId", "mapping"],
  [REDACTION_CUSTOM_TYPE]: ["targetId", "targetIds"],
  "langgraph.checkpoint": [CHECKPOINT_HEAD],
  "langgraph.writes": [CHECKPOINT_HEAD],
};

function keepData(entry: AnySessionEntry): JsonRecord {
  const customType = "customType" in entry ? toSafeString(entry.customType) : "";
  const names = Object.hasOwn(KEPT_DATA, customType) ? (KEPT_DATA[customType] ?? []) : [];
  const data = "data" in entry && isJsonRecord(entry.data) ? entry.data : {};
  return Object.fromEntries(names.flatMap((name) => (name in data ? [[name, data[name]]] : [])));
}

/** Returns the ids that hosts use to identify messages. */
function keepDetails(entry: AnySessionEntry): JsonRecord {
  const details: unknown = "details" in entry ? entry.details : undefined;
  const kept = [CHAT_DETAIL, LANGGRAPH_DETAIL].flatMap((key) => {
    const detail = isJsonRecord(details) ? details[key] : undefined;
    const id = isJsonRecord(detail) ? detail["id"] : undefined;
    return typeof id === "string" ? [[key, { id }] as const] : [];
  });
  return kept.length > 0 ? { details: Object.fromEntries(kept) } : {};
}

/** Returns the redacted form of a message. */
export function redactMessage(message: JsonRecord, replacement: string): JsonRecord {
  const redacted: JsonRecord = { ...keepFields(message, KEPT_MESSAGE_FIELDS) };
  const { role, content } = message;
  const text = { type: "text", text: replacement };
  if (role === "assistant") redacted["content"] = [text, ...keepToolCalls(content)];
  else if (Array.isArray(content)) redacted["content"] = [text];
  else if (content !== undefined) redacted["content"] = replacement;
  for (const field of TEXT_FIELDS) if (field in message) redacted[field] = replacement;
  return redacted;
}

function keepToolCalls(content: unknown): JsonRecord[] {
  if (!Array.isArray(content)) return [];
  return content
    .filter((block): block is JsonRecord => isJsonRecord(block) && block["type"] === "toolCall")
    .map(({ type, id, name }) => ({ type, id, name, arguments: {} }));
}

/** Returns scalar values and the numbers of a usage. Omits nested values, which may be content. */
function keepFields(record: object, names: ReadonlySet<string>): JsonRecord {
  const kept = Object.entries(record).filter(([name]) => names.has(name));
  return Object.fromEntries(
    kept.flatMap(([name, value]) => {
      if (name === "usage" && isJsonRecord(value)) return [[name, pickNumbers(value)]];
      return typeof value === "object" && value !== null ? [] : [[name, value]];
    }),
  );
}

function pickNumbers(usage: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(usage).flatMap(([name, value]): [string, unknown][] => {
      if (typeof value === "number") return [[name, value]];
      // The costs are nested one level deeper.
      if (!isJsonRecord(value)) return [];
      return [[name, Object.fromEntries(Object.entries(value).filter(([, one]) => typeof one === "number"))]];
    }),
  );
}
