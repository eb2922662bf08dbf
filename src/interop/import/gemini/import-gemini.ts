import { toArray, toCount, toRecord } from "../../../core/context/entry-fields.ts";
import { assertText } from "../../../core/format/arguments.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { UNKNOWN_NAME } from "../../../core/format/message.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { toUsage } from "../../convert/answer.ts";
import { CONTINUED_SESSION_TYPE } from "../continued-session.ts";
import { makeCustom, makeSubagentLink, makeToolResult } from "../entry-bodies.ts";
import type { ImportedSession } from "../imported-session.ts";
import { type BuilderInput, type Draft, makeIdKey, SessionBuilder } from "../session-builder.ts";
import {
  getMember,
  joinContentText,
  readSourceText,
  type SourceText,
  toNonemptyText,
} from "../source-text.ts";
import {
  convertModelMessage,
  convertSentParts,
  findCallResult,
  getSentResponses,
  isAside,
  type ModelAnswer,
  OpenCalls,
} from "./parts.ts";
import { applyPatches, type LogNode } from "./patch-log.ts";

/** A Gemini CLI session: the records of its file. */
export interface GeminiInput extends SourceText, BuilderInput {
  /** Other files of the session. Gemini CLI starts a new file when it resumes a session that is stored in an older format. */
  readonly others?: readonly SourceText[];
  /** Id of the session whose agent started this session. */
  readonly parentId?: string;
}

/** Parses a Gemini CLI file: a log of patches, or the single JSON object that older versions wrote. */
export function readGeminiText(text: string): SourceText {
  assertText("text", text);
  const whole = parseJson(text)?.value;
  const isDocument = Array.isArray(toRecord(whole)["messages"]);
  return isDocument
    ? { records: [{ value: toRecord(whole), line: 1, offset: 0 }], issues: [] }
    : readSourceText(text);
}

/**
 * Converts the records of a Gemini CLI session.
 *
 * After a rollback, the old messages remain as a branch. A compressed history is converted to a compaction.
 *
 * @returns The session; undefined if the file contains no conversation.
 * @remarks Cost: O(records). Source: docs/import-records.md#gemini-cli
 */
export function importGemini(input: GeminiInput): ImportedSession | undefined {
  const texts = [input, ...(input.others ?? [])].sort(byEnd);
  const log = applyPatches(texts.map(({ records }) => records));
  const { metadata } = log;
  const sourceId = toNonemptyText(metadata["sessionId"]);
  if (sourceId === undefined || !log.nodes.some(({ message: { type } }) => isSaid(type))) return undefined;
  const builder = new SessionBuilder(input, {
    source: "gemini",
    sourceId,
    startedAt: metadata["startTime"],
    startedBy: input.parentId,
    issues: texts.flatMap(({ issues }) => issues),
  });
  builder.counts.records =
    texts.reduce((sum, { records }) => sum + records.length, 0) + log.listed + log.thanks;
  if (input.parentId !== undefined)
    builder.addBehind(`gemini agent ${sourceId}`, undefined, makeSubagentLink({ agentId: sourceId }));
  if (log.continued !== undefined) builder.continueSession(log.continued);
  const drafts = new Map<LogNode, Draft>();
  const open = new OpenCalls();
  for (const node of log.nodes) {
    const before = builder.counts.entries;
    drafts.set(node, emitNode(node, drafts, builder, open));
    const isCopy = log.copiedIds.has(node.message["id"]);
    if (log.continued !== undefined && isCopy) builder.continueSession(log.continued, before);
  }
  for (const { value } of log.unknown)
    builder.keepBehind(`gemini record ${encodeParsed(value)}`, undefined, "record", value);
  builder.drop("older version of a message", log.replaced);
  if (log.continued !== undefined) builder.drop(CONTINUED_SESSION_TYPE);
  builder.drop("thanks for a summary", log.thanks);
  builder.drop("result that its call has", log.repeated);
  builder.markLeaf(log.tip && drafts.get(log.tip));
  const name = toNonemptyText(metadata["summary"]);
  if (name !== undefined) builder.addName(`gemini name ${name}`, name);
  return builder.finish();
}

function byEnd(one: SourceText, other: SourceText): number {
  const [first, second] = [getEnd(one), getEnd(other)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function getEnd({ records }: SourceText): string {
  const times = records.flatMap(({ value }) => [
    value["timestamp"],
    ...[value, getMember(value, "$set")].flatMap(({ messages }) =>
      toArray(messages).map((message) => toRecord(message)["timestamp"]),
    ),
  ]);
  return times.reduce<string>((latest, time) => {
    const told = toNonemptyText(time) ?? "";
    return told > latest ? told : latest;
  }, "");
}

function isSaid(type: unknown): boolean {
  return type === "user" || type === "gemini";
}

function emitNode(
  node: LogNode,
  drafts: ReadonlyMap<LogNode, Draft>,
  builder: SessionBuilder,
  open: OpenCalls,
): Draft {
  const parent = node.parent && drafts.get(node.parent);
  const { message } = node;
  if (node.isCompaction) return emitCompaction(node, parent, drafts, builder);
  if (message["type"] === "gemini") return emitAnswer(node, parent, builder, open);
  if (message["type"] === "user" && !isAside(message)) return emitSent(node, parent, builder, open);
  const { id: _id, timestamp, type, ...data } = message;
  const kind = type === "user" ? "command" : (toNonemptyText(type) ?? "message");
  return builder.keep(makeNodeKey(node), parent, timestamp, kind, data);
}

/** Adds input that was sent to the model: first results of calls that are not part of any answer, then the prompt. */
function emitSent(node: LogNode, parent: Draft | undefined, builder: SessionBuilder, open: OpenCalls): Draft {
  const { content, timestamp } = node.message;
  let last = parent;
  for (const { id, name, ...output } of getSentResponses(content)) {
    const toolCallId = open.takeAnswered(id, name)?.id ?? id ?? "";
    const body = makeToolResult({ ...output, toolCallId, toolName: name ?? "unknown" });
    last = builder.addMessage(`${makeNodeKey(node)} result ${id ?? ""}`, last, timestamp, body);
  }
  const said = toArray(content).filter((part) => toRecord(part)["functionResponse"] === undefined);
  if (last !== undefined && last !== parent && said.length === 0) return last;
  return builder.addMessage(makeNodeKey(node), last, timestamp, {
    role: "user",
    content: typeof content === "string" ? content : convertSentParts(said),
  });
}

function makeNodeKey({ key }: LogNode): string {
  return makeIdKey("gemini", key);
}

function emitCompaction(
  node: LogNode,
  parent: Draft | undefined,
  drafts: ReadonlyMap<LogNode, Draft>,
  builder: SessionBuilder,
): Draft {
  const { message, firstKept } = node;
  return builder.add(makeNodeKey(node), parent, message["timestamp"], {
    type: "compaction",
    summary: joinContentText(message["content"]),
    firstKeptEntryId: firstKept && drafts.get(firstKept)?.id,
    tokensBefore: getTokensBefore(node),
    details: { source: "gemini" },
  });
}

/** Returns the context size according to the previous answer, in tokens. */
function getTokensBefore({ parent }: LogNode): number {
  for (let node = parent; node !== undefined; node = node.parent) {
    const total = toCount(getMember(node.message, "tokens")["total"]);
    if (total > 0) return total;
  }
  return 0;
}

function emitAnswer(
  node: LogNode,
  parent: Draft | undefined,
  builder: SessionBuilder,
  open: OpenCalls,
): Draft {
  const { message, isCopy } = node;
  const answer = convertModelMessage(message);
  open.begin(
    answer.calls.filter(({ record }) => record === undefined || findCallResult(record) === undefined),
  );
  const responseId = toNonemptyText(message["id"]);
  const draft = builder.addMessage(makeNodeKey(node), parent, message["timestamp"], {
    role: "assistant",
    content: answer.content,
    api: "google-generative-ai",
    provider: "google",
    model: toNonemptyText(message["model"]) ?? UNKNOWN_NAME,
    ...(responseId !== undefined && { responseId }),
    usage: isCopy ? toUsage() : convertTokens(getMember(message, "tokens")),
    stopReason: answer.calls.length > 0 ? "toolUse" : "stop",
  });
  return emitResults(node, answer, draft, builder);
}

function emitResults(
  { key, message }: LogNode,
  answer: ModelAnswer,
  draft: Draft,
  builder: SessionBuilder,
): Draft {
  let last = draft;
  if (answer.others.length > 0) {
    const body = makeCustom("gemini.parts", { parts: answer.others });
    last = builder.add(`gemini ${key} parts`, last, message["timestamp"], body);
  }
  for (const { id: toolCallId, name: toolName, record } of answer.calls) {
    const result = record && findCallResult(record);
    if (record === undefined || result === undefined) continue;
    const { status, resultDisplay, displayName, description } = record;
    const details = parseJson(encodeParsed({ status, resultDisplay, displayName, description }))?.value;
    const time = record["timestamp"] ?? message["timestamp"];
    const output = makeToolResult({ ...result, toolCallId, toolName, details });
    last = builder.addMessage(`gemini ${key} result ${toolCallId}`, last, time, output);
    const agentId = toNonemptyText(record["agentId"]);
    if (agentId === undefined) continue;
    const link = makeSubagentLink({ agentId, toolCallId, sessionId: agentId });
    last = builder.add(`gemini ${key} agent ${agentId}`, last, time, link);
  }
  return last;
}

/** Converts a call's token counts. The source's input count includes cached tokens; its output count excludes thoughts. */
function convertTokens(tokens: JsonRecord) {
  const { input, cached, output, thoughts, total } = tokens;
  return toUsage({
    inputWithCache: input,
    output: toCount(output) + toCount(thoughts),
    cacheRead: cached,
    reasoning: thoughts,
    total,
  });
}
