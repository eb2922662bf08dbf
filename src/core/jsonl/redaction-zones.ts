import { REDACTION_CUSTOM_TYPE } from "../format/redaction.ts";
import { decodeString, type JsonNode, type RecordNode } from "./json-tree.ts";

/**
 * Zone of a line, which determines how redacting a string affects it.
 *
 * `free`: may contain anything. `raw`: state of a provider or another program. `kept`: changing it would break the session.
 * `signature`: signed or encrypted by a provider. `image`: Base64. The other zones are parts of the format.
 */
export type Zone =
  | "entry"
  | "header"
  | "message"
  | "messages"
  | "content"
  | "block"
  | "edit"
  | "details"
  | "raw"
  | "free"
  | "kept"
  | "signature"
  | "image";

const splitToSet = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Fields whose strings are part of the session's structure, by the zone of their object. */
const KEPT: { readonly [zone in Zone]?: ReadonlySet<string> } = {
  entry: splitToSet("type id parentId timestamp targetId fromId firstKeptEntryId customType version"),
  header: splitToSet("type id timestamp cwd parentSession branchedFrom leafId version"),
  message: splitToSet("role stopReason toolCallId customType api fromId"),
  block: splitToSet("type id mimeType"),
  raw: splitToSet(
    "type role checkpointHead id uuid parentUuid sessionId call_id tool_use_id toolCallId callId",
  ),
};

/** Fields that contain parts of the format, by the zone of their object. */
const PARTS: { readonly [zone in Zone]?: { readonly [name: string]: Zone } } = {
  entry: {
    message: "message",
    systemMessage: "message",
    retainedTail: "messages",
    content: "content",
    replacement: "edit",
    details: "details",
    data: "details",
  },
  message: { content: "content", details: "details" },
  block: { thinkingSignature: "signature", textSignature: "signature", thoughtSignature: "signature" },
  edit: { content: "content" },
};

/** Fields of `details` and `data` that preserve an original in the form that its provider or SDK uses. */
const RAW_FORMS = splitToSet(
  "anthropic openaiChat openaiResponses gemini modelMessage uiMessage langchain langgraph openaiAgents aiSdk",
);

/** Entries that contain records of other programs. */
const RAW_TYPES = /^(?:claude-code|codex|gemini|langgraph|openai-agents)\./;

/** Entries whose data this library reads to determine a session's origin and the content that must not be restored. */
const OWN_DATA: ReadonlySet<string> = new Set([
  REDACTION_CUSTOM_TYPE,
  "sessiontree.import",
  "sessiontree.subagent",
]);

/** Names of fields in the format. */
const NAMES = splitToSet(
  "type id parentId timestamp version cwd parentSession branchedFrom provider modelId thinkingLevel leafId title message summary firstKeptEntryId firstKeptEntryIndex tokensBefore details fromHook usage systemMessage fromId customType data content display targetId targetIds replacement kind model note label name retainedTail role sections toolsAdded toolsRemoved description parameters api stopReason errorMessage responseModel responseId rawStopReason toolCallId toolName isError nestedCalls calls complete status command output exitCode cancelled truncated fullOutputPath excludeFromContext text textSignature mimeType thinking thinkingSignature redacted arguments thoughtSignature namespace input cacheRead cacheWrite totalTokens cost total cacheWrite1h reasoning readFiles modifiedFiles originalType line",
);

/** Names of fields that a provider uses to recognize its own data. */
const SIGNED =
  /^(?:(?:thinking|text|thought)?_?signature|redactedData|encrypted\w+|reasoningEncryptedContent)$/i;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Returns whether the session format has a field with this name. */
export function isFormatName(name: string): boolean {
  return NAMES.has(name) || RAW_FORMS.has(name);
}

/** Returns whether a field contains a signature or encrypted data. */
export function isSignedField(name: string): boolean {
  return SIGNED.test(name);
}

/** Returns whether the string of an image is Base64 rather than other text. */
export function isBase64(text: string): boolean {
  return BASE64.test(text);
}

/** Returns the zone of a line's record. */
export function getLineZone(record: RecordNode): Zone {
  return findFieldText(record, "type") === "session" ? "header" : "entry";
}

/** Returns the zone of a field's value, in an object of a zone. */
export function getFieldZone(zone: Zone, name: string, record: RecordNode): Zone {
  if (KEPT[zone]?.has(name)) return "kept";
  if (zone === "block") {
    if (name === "data" && findFieldText(record, "type") === "image") return "image";
  } else if (zone === "entry" && name === "data") {
    const customType = findFieldText(record, "customType") ?? "";
    if (OWN_DATA.has(customType)) return "kept";
    if (RAW_TYPES.test(customType)) return "raw";
  } else if (zone === "details") return RAW_FORMS.has(name) ? "raw" : "free";
  const part = PARTS[zone];
  if (part !== undefined && Object.hasOwn(part, name)) return part[name] ?? "free";
  return zone === "raw" || zone === "kept" ? zone : "free";
}

/** Returns the zone of an item, in an array of a zone. */
export function getItemZone(zone: Zone): Zone {
  if (zone === "messages") return "message";
  if (zone === "content") return "block";
  return zone === "raw" || zone === "kept" ? zone : "free";
}

/** Returns the string in a field; undefined if there is none. */
function findFieldText({ fields }: RecordNode, wanted: string): string | undefined {
  const value: JsonNode | undefined = fields.findLast(({ name }) => name === wanted)?.value;
  return value?.kind === "text" ? decodeString(value.spelling) : undefined;
}
