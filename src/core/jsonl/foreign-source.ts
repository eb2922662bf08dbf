import { isKnownEntryType, type SessionEntry } from "../format/entry.ts";
import { type MessageDocument, readMessageDocument } from "../format/foreign-form.ts";
import { isJsonRecord, type JsonRecord } from "../format/json.ts";
import { type RecordForm, recoverRecords } from "./concatenated-records.ts";
import { decodeText, parseJson } from "./decode.ts";
import { LineScanner, type LineSink, type ScannedLine } from "./line-scanner.ts";

/** Formats of other programs that `import` supports. */
export const IMPORTED_SOURCES = [
  "atif",
  "claude-code",
  "cline",
  "codex",
  "copilot",
  "gemini",
  "kimi",
  "messages",
  "opencode",
  "pi-v4",
  "qwen",
] as const;

/** Formats of other programs that are recognized but cannot be imported. */
const UNREAD_SOURCES = ["kimi-cli", "sqlite"] as const;

/** Format of another program. */
export type ForeignSource = (typeof IMPORTED_SOURCES)[number] | (typeof UNREAD_SOURCES)[number];

/** Number of another program's records, without any session records, after which a file is attributed to that program. */
const ENOUGH_RECORDS = 64;

/** Maximum size of text to parse as a single JSON document, in bytes. */
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

/**
 * Detects which program wrote the records in text without a session header.
 *
 * Considers only complete records and arrays of records, not records quoted in strings. A session record outweighs those of other
 * programs, unless there are many, so that a session that lost its header is still recognized despite other data among its
 * entries.
 */
export class SourceFinder {
  #source: ForeignSource | undefined;
  #foreign = 0;
  #isSession = false;

  /** The other program; undefined if none was detected or if there are session records. */
  get source(): ForeignSource | undefined {
    return this.#isSession ? undefined : this.#source;
  }

  /** Whether the result is final, so that further records cannot change it. */
  get isDecided(): boolean {
    return this.#isSession || this.#foreign >= ENOUGH_RECORDS;
  }

  /** Adds the value of a line. */
  take(value: unknown): void {
    const source = Array.isArray(value) ? detectTransactionSource(value) : detectLineSource(value);
    if (source === "ours") this.#isSession = true;
    else if (source !== undefined) {
      this.#source ??= source;
      this.#foreign++;
    }
  }
}

/**
 * Returns the program that wrote a file, based on its records, which may begin at any offset.
 *
 * @param pieces - Returns the bytes of a file without a session header, from the beginning. Called up to three times.
 * @returns Undefined if no record identifies a program, or if there is a session record.
 */
export function detectForeignSource(pieces: () => Iterable<Uint8Array>): ForeignSource | undefined {
  if (isDatabase(pieces())) return "sqlite";
  const finder = new SourceFinder();
  let lines = 0;
  const sink: LineSink = {
    line: ({ bytes, start, end }: ScannedLine) => {
      lines++;
      if (finder.isDecided) return true;
      const range = bytes.subarray(start, end);
      const parsed = parseJson(decodeText(range));
      if (parsed !== undefined) finder.take(parsed.value);
      // Version 4 entries have the fields of session entries, but must not be treated as such when they are on one line.
      else for (const { record } of recoverRecords(range, VERSION_4_FORM)) finder.take(record);
      return true;
    },
    overlong: () => {
      lines++;
    },
  };
  const scanner = new LineScanner(sink);
  for (const piece of pieces()) {
    scanner.feed(piece);
    if (finder.isDecided) return finder.source;
  }
  scanner.end();
  if (finder.isDecided || finder.source !== undefined) return finder.source;
  return lines > 0 && scanner.position <= MAX_DOCUMENT_BYTES
    ? detectDocumentSource(decodePieces(pieces()))
    : undefined;
}

/** First bytes of every SQLite database. */
export const DATABASE_FRONT = "SQLite format 3\0";

function isDatabase(pieces: Iterable<Uint8Array>): boolean {
  let front = "";
  for (const piece of pieces) {
    front += decodeText(piece.subarray(0, DATABASE_FRONT.length));
    if (!DATABASE_FRONT.startsWith(front.slice(0, DATABASE_FRONT.length))) return false;
    if (front.length >= DATABASE_FRONT.length) return true;
  }
  return false;
}

/** Returns the program that wrote a JSON document; undefined if the text is not JSON or the program is unknown. */
export function detectDocumentSource(text: string): ForeignSource | undefined {
  const value = parseJson(text)?.value;
  if (value === undefined) return CLINE_FRONTS.some((front) => front.test(text)) ? "cline" : undefined;
  const record = isJsonRecord(value) ? value : NO_FIELDS;
  if (isAtifDocument(record)) return "atif";
  const { sessionId, projectHash, messages, session, items } = record;
  if (typeof sessionId === "string" && projectHash !== undefined && Array.isArray(messages)) return "gemini";
  if (isJsonRecord(session) && Array.isArray(items)) return "codex";
  if (isOpenCodeSession(record)) return "opencode";
  const [row] = Array.isArray(value) ? value : [];
  if (isJsonRecord(row) && isClineRow(row)) return "cline";
  const document = readMessageDocument(value);
  if (document === undefined) return undefined;
  return isCline(document) || isClineDocument(value) ? "cline" : "messages";
}

/**
 * Returns whether a document is an OpenCode session: either an export, or a session file whose messages are stored separately.
 */
function isOpenCodeSession({ info, messages, id, projectID, time }: JsonRecord): boolean {
  if (isJsonRecord(info)) return typeof info["id"] === "string" && Array.isArray(messages);
  return (
    typeof id === "string" && id.startsWith("ses_") && typeof projectID === "string" && isJsonRecord(time)
  );
}

/** Supported versions of the Agent Trajectory Interchange Format. */
const ATIF_VERSION = /^ATIF-v1\./;

/** Returns whether a value is an ATIF document. */
export function isAtifDocument(value: unknown): value is JsonRecord {
  const version = isJsonRecord(value) ? value["schema_version"] : undefined;
  return typeof version === "string" && ATIF_VERSION.test(version);
}

const NO_FIELDS: JsonRecord = {};

function isClineDocument(value: unknown): boolean {
  return isJsonRecord(value) && typeof value["agent"] === "string" && typeof value["sessionId"] === "string";
}

/** Returns whether a record is a row of a Cline task, as displayed by an editor. */
function isClineRow({ type, ts, say, ask }: JsonRecord): boolean {
  return (type === "say" || type === "ask") && typeof ts === "number" && typeof (say ?? ask) === "string";
}

/** Beginnings of Cline documents, tasks, and rows, for incomplete files. */
const CLINE_FRONTS = [
  /^\s*\{\s*"version":\s*\d+,\s*"updated_at":[^[{]*"agent":\s*"/,
  /^\s*\[\s*\{\s*"role":\s*"user",\s*"content":\s*\[\s*\{\s*"type":\s*"text",\s*"text":\s*"<task>/,
  /^\s*\[\s*\{\s*"ts":\s*\d+,\s*"type":\s*"(?:say|ask)",/,
];

/** Message fields that Cline, Roo Code, and Kilo write but no SDK does. */
const CLINE_FIELDS = ["metrics", "modelInfo", "isSummary", "condenseParent", "truncationParent"];

/** Beginning of the first prompt in an editor. */
const CLINE_TASK = /^<task>[\s\S]*<\/task>\s*$/;

/** Returns whether messages are a task of Cline, Roo Code, or Kilo, which use Anthropic's format with additional fields. */
function isCline({ form, items }: MessageDocument): boolean {
  if (form !== "anthropic") return false;
  if (items.some((item) => CLINE_FIELDS.some((name) => name in item))) return true;
  if (items.every(({ ts, content }) => typeof ts === "number" && Array.isArray(content))) return true;
  const content = items[0]?.["content"];
  return (Array.isArray(content) ? content : [content]).some((block: unknown) => {
    const text = isJsonRecord(block) ? block["text"] : block;
    return typeof text === "string" && CLINE_TASK.test(text);
  });
}

function decodePieces(pieces: Iterable<Uint8Array>): string {
  const decoder = new TextDecoder();
  let text = "";
  for (const piece of pieces) text += decoder.decode(piece, { stream: true });
  return text + decoder.decode();
}

function detectLineSource(value: unknown): ForeignSource | "ours" | undefined {
  if (!isJsonRecord(value)) return undefined;
  if (isVersion4Record(value)) return "pi-v4";
  const { type, id } = value;
  if (typeof type === "string" && hasEssential(value, type)) return "ours";
  if (type === "session" && typeof id === "string") return "ours";
  return detectRecordSource(value);
}

/** Detects arrays of records, which one dialect of pi's version 4 writes. */
function detectTransactionSource(records: readonly unknown[]): ForeignSource | undefined {
  const isVersion4 = records.length > 0 && records.every((one) => isJsonRecord(one) && isVersion4Record(one));
  return isVersion4 ? "pi-v4" : undefined;
}

const VERSION_4_KINDS: ReadonlySet<unknown> = new Set([
  "entry",
  "record",
  "lane",
  "fact",
  "usage",
  "value",
  "list",
]);

/** Returns whether a record is a header of pi's discontinued version 4, in either dialect. */
export function isVersion4Header({ kind, version, v }: JsonRecord): boolean {
  return kind === "header" && (typeof version === "number" || typeof v === "number");
}

/** Form of the records in pi's version 4. */
export const VERSION_4_FORM: RecordForm = {
  firstKey: /^"(?:v|kind)"\s*:/,
  isRecord: isVersion4Record,
};

function isVersion4Record(record: JsonRecord): boolean {
  const { kind, seq, entry } = record;
  if (isVersion4Header(record)) return true;
  return VERSION_4_KINDS.has(kind) && (typeof seq === "number" || isJsonRecord(entry));
}

const CODEX_TYPES: ReadonlySet<unknown> = new Set([
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
]);

/** Roles at the start of lines that are not messages, in files written by the older Kimi program. */
const KIMI_ROLES: ReadonlySet<unknown> = new Set(["_system_prompt", "_checkpoint", "_usage"]);

/** Types of records that GitHub Copilot writes. */
const COPILOT_TYPE = /^(?:session|user|assistant|system|tool|model|hook|permission|subagent)\./;

/** Returns the program that writes such records; undefined if the program is unknown. */
function detectRecordSource(record: JsonRecord): ForeignSource | undefined {
  const { type, sessionId, payload, data, role, time, agentId } = record;
  if (type === "session_meta" || record["record_type"] === "state") return "codex";
  if (isJsonRecord(payload) && CODEX_TYPES.has(type)) return "codex";
  if (KIMI_ROLES.has(role)) return "kimi-cli";
  if (typeof record["protocol_version"] === "string") return "kimi";
  if (typeof type === "string") {
    if (isJsonRecord(data) && "parentId" in record && COPILOT_TYPE.test(type)) return "copilot";
    if (typeof time === "number" && typeof agentId === "string") return "kimi";
  }
  if (typeof sessionId !== "string") return undefined;
  if ("projectHash" in record) return "gemini";
  if (!("uuid" in record || "leafUuid" in record)) return undefined;
  return isQwenRecord(record) ? "qwen" : "claude-code";
}

/** Returns whether Qwen Code wrote a record. It uses Claude Code's tree of records with Gemini's messages. */
function isQwenRecord(record: JsonRecord): boolean {
  const { message } = record;
  if (isJsonRecord(message) && Array.isArray(message["parts"])) return true;
  return ["systemPayload", "usageMetadata", "toolCallResult"].some((field) => field in record);
}

/** Required field for each entry type. */
const ESSENTIAL: { readonly [type in SessionEntry["type"]]: string } = {
  message: "message",
  thinking_level_change: "thinkingLevel",
  model_change: "modelId",
  usage: "usage",
  compaction: "summary",
  branch_summary: "summary",
  custom: "customType",
  custom_message: "customType",
  context_edit: "targetId",
  label: "targetId",
  session_info: "name",
};

/** Returns whether a record has no features of this format: no id, no time, and no known type. */
export function isStranger(record: JsonRecord, type: string): boolean {
  const { id, timestamp } = record;
  if (typeof id === "string" || typeof timestamp === "string" || typeof timestamp === "number") return false;
  return !hasEssential(record, type);
}

/** Returns whether a record has a known type and the required field of that type. */
function hasEssential(record: JsonRecord, type: string): boolean {
  return isKnownEntryType(type) && record[ESSENTIAL[type]] !== undefined;
}
