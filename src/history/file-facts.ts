import { basename, dirname } from "node:path";
import { fieldsOf } from "../context/entry-fields.ts";
import { readOldCodexText } from "../import/codex/rollout.ts";
import { type DetectedSource, detectSource } from "../import/detect-source.ts";
import type { SourceName } from "../import/imported-session.ts";
import { conversationIdOf } from "../import/messages/import-messages.ts";
import { headerOf, readPi4Text } from "../import/pi-v4/read-pi4.ts";
import { fieldOf, firstFolder, firstText, readSourceText, type SourceRecord } from "../import/source-text.ts";
import { isoTimeOf, member, textOf } from "../import/source-values.ts";
import { decodeText, parseJson } from "../jsonl/decode.ts";
import { digestOf } from "../schema/ids.ts";
import { MAX_TEXT_BYTES, readFront, readSource, type SourceFile, tooLarge } from "./source-file.ts";

/** Facts about a session from the front of its file. */
export interface FileFacts {
  readonly source: SourceName;
  /** Id of the session; for a subagent's file, that of its main session. */
  readonly sessionId: string;
  /** Only for a subagent's file. */
  readonly agentId?: string | undefined;
  readonly cwd?: string | undefined;
  /** ISO 8601. */
  readonly startedAt?: string | undefined;
  /** Claude Code: the first record of the conversation, which identifies forks. */
  readonly firstUuid?: string | undefined;
  /** Claude Code: whether the conversation began before the file. */
  readonly isCopy?: boolean | undefined;
  /** Claude Code: when the file began, ISO 8601, if known. */
  readonly begunAt?: string | undefined;
  /** Codex: the thread or file in which the history begins. */
  readonly baseId?: string | undefined;
  /** The thread or session that this one was forked from, or that started it. */
  readonly parentId?: string | undefined;
}

/** Number of bytes to read first, and next if they are not enough. */
const FRONTS = [32 * 1024, 512 * 1024] as const;

/** Number of bytes to read of a file that is too large for one text: only records on lines can be found in it. */
const LARGE_FRONT = 64 * 1024 * 1024;

/**
 * Reads the facts of the session in a file.
 *
 * @returns Undefined if the file holds no session.
 * @throws {SessionError} `NOT_A_SESSION` if the file is too large to find that out.
 * @remarks Cost: usually the first 32 KB.
 */
export function readFileFacts(file: SourceFile): FileFacts | undefined {
  const { path } = file;
  const unpacked = path.endsWith(".zst") ? readSource(path) : undefined;
  const size = unpacked?.length ?? file.size;
  const factsOf = (length: number) =>
    factsIn(decodeText(unpacked?.subarray(0, length) ?? readFront(path, length)), path);
  for (const length of FRONTS) {
    const facts = factsOf(length);
    if (size <= length || (facts !== undefined && isEnough(facts))) return facts;
  }
  if (size <= MAX_TEXT_BYTES) return factsOf(size);
  const facts = factsOf(LARGE_FRONT);
  if (facts === undefined) throw tooLarge(path);
  return facts;
}

/** Detects which program a file belongs to from its front; undefined if that is unknown, or it is no file to read. */
export function detectSourceOfFile(path: string): DetectedSource | undefined {
  try {
    return detectSource(decodeText(readFront(path, FRONTS[1])));
  } catch (error) {
    // Whoever reads the file tells what is wrong with it.
    if (!(error instanceof Error)) throw error;
    return undefined;
  }
}

/** Tells whether all facts that the file can provide are known. */
function isEnough({ source, cwd, startedAt, firstUuid }: FileFacts): boolean {
  if (cwd === undefined || startedAt === undefined) return false;
  return source !== "claude-code" || firstUuid !== undefined;
}

function factsIn(text: string, path: string): FileFacts | undefined {
  switch (detectSource(text)) {
    case "claude-code":
      return claudeFacts(readSourceText(text).records, path);
    case "codex":
      return codexFacts((readOldCodexText(text) ?? readSourceText(text)).records, path);
    case "gemini":
      return geminiFacts(text, path);
    case "messages":
      return messagesFacts(text, path);
    case "pi-v4":
      return pi4Facts(text, path);
    default:
      return undefined;
  }
}

function claudeFacts(records: readonly SourceRecord[], path: string): FileFacts | undefined {
  const name = basename(path, ".jsonl");
  const agentId = /^agent-(.+)$/.exec(name)?.[1];
  const folder = /[/\\]([^/\\]+)[/\\]subagents[/\\]/.exec(path)?.[1];
  const ofRecord = firstText(records, "sessionId");
  const sessionId = agentId === undefined ? name : (folder ?? ofRecord);
  if (sessionId === undefined) return undefined;
  const first = records.findIndex(
    ({ value: { uuid, type } }) => textOf(uuid) !== undefined && type !== "summary",
  );
  return {
    source: "claude-code",
    sessionId,
    agentId,
    cwd: firstFolder(fieldOf(records, "cwd")).cwd,
    startedAt: firstText(records, "timestamp"),
    firstUuid: textOf(records[first]?.value["uuid"]),
    isCopy: first !== -1 && isCopied(records, first),
    begunAt: latestTime(records.slice(0, first + 1)),
  };
}

/** Returns the latest time in records; undefined if there is none. */
function latestTime(records: readonly SourceRecord[]): string | undefined {
  return records
    .flatMap(
      ({ value }) => textOf(value["timestamp"]) ?? textOf(member(value, "snapshot")["timestamp"]) ?? [],
    )
    .sort()
    .at(-1);
}

/**
 * Tells whether a conversation is older than its file: notes before its first record are younger, or belong to
 * another record.
 */
function isCopied(records: readonly SourceRecord[], first: number): boolean {
  const { uuid, timestamp, subtype } = fieldsOf(records[first]?.value);
  if (subtype === "compact_boundary") return true;
  return records.slice(0, first).some(({ value }) => {
    if (value["type"] === "file-history-snapshot") return value["messageId"] !== uuid;
    return textOf(timestamp) !== undefined && (textOf(value["timestamp"]) ?? "") > String(timestamp);
  });
}

function codexFacts(records: readonly SourceRecord[], path: string): FileFacts | undefined {
  const found = records.find(({ value }) => value["type"] === "session_meta");
  const meta = found === undefined ? fieldsOf(records[0]?.value) : member(found.value, "payload");
  const named = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json/.exec(basename(path))?.[1];
  const sessionId = textOf(meta["id"]) ?? named;
  if (sessionId === undefined) return undefined;
  const settings = records.find(({ value }) => value["type"] === "turn_context");
  return {
    source: "codex",
    sessionId,
    cwd: firstFolder([meta["cwd"], settings && member(settings.value, "payload")["cwd"]]).cwd ?? "",
    startedAt: textOf(meta["timestamp"]) ?? firstText(records, "timestamp"),
    baseId: textOf(member(meta, "history_base")["thread_id"]),
    parentId: textOf(meta["parent_thread_id"]) ?? textOf(meta["forked_from_id"]),
  };
}

/** Returns the facts of an array of messages; its file's folder is the working directory. */
function messagesFacts(text: string, path: string): FileFacts {
  const name = basename(path).replace(/\.[^.]*$/, "");
  const sessionId = conversationIdOf(parseJson(text)?.value) ?? `${name}-${digestOf(path).slice(0, 8)}`;
  return { source: "messages", sessionId, cwd: dirname(path) };
}

/** Returns the facts of a session of pi's version 4; of one that has lost its header, the id from the file's name. */
function pi4Facts(text: string, path: string): FileFacts {
  const { id, cwd, createdAt, parentSessionId } = headerOf(readPi4Text(text).records)?.value ?? {};
  return {
    source: "pi-v4",
    sessionId: textOf(id) ?? basename(path, ".jsonl").replace(/^[^_]*_/, ""),
    parentId: textOf(parentSessionId),
    cwd: firstFolder([cwd]).cwd,
    startedAt: isoTimeOf(createdAt),
  };
}

function geminiFacts(text: string, path: string): FileFacts | undefined {
  const whole = fieldsOf(parseJson(text)?.value);
  const record =
    "sessionId" in whole
      ? whole
      : readSourceText(text).records.find(({ value }) => "sessionId" in value)?.value;
  const sessionId = textOf(record?.["sessionId"]);
  if (record === undefined || sessionId === undefined) return undefined;
  const parentId = record["kind"] === "subagent" ? basename(dirname(path)) : undefined;
  return { source: "gemini", sessionId, parentId, cwd: "", startedAt: textOf(record["startTime"]) };
}
