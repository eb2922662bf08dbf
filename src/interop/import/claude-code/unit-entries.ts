import { getTexts } from "../../../core/context/content-text.ts";
import { toArray, toCount, toRecord } from "../../../core/context/entry-fields.ts";
import { isJsonRecord, type JsonRecord, pickDefined } from "../../../core/format/json.ts";
import { UNKNOWN_NAME } from "../../../core/format/message.ts";
import { toUsage } from "../../convert/answer.ts";
import { convertAnswer, convertInput } from "../anthropic-blocks.ts";
import { makeCustom, makeCustomMessage, makeSubagentLink, makeToolResult } from "../entry-bodies.ts";
import type { Draft, SessionBuilder } from "../session-builder.ts";
import { getMember, joinContentText, toNonemptyText } from "../source-text.ts";
import { findMessageKey, findResultBlocks, getMessageUsage, getStopReason } from "./message-parts.ts";
import { type RecordNode, readPreserved } from "./record-graph.ts";
import { getBashParts, isBrokenOff, type ThreadUnits, type Unit } from "./thread-units.ts";

/** Model name that Claude Code uses for its own messages. */
const SYNTHETIC_MODEL = "<synthetic>";

/** Result of adding a unit's entries. */
export interface EmittedUnit {
  readonly first: Draft;
  /** Parent for the next unit. */
  readonly last: Draft;
  /** Last model that responded on this path. */
  readonly model: string | undefined;
}

/** Context for converting a unit: the other units, and the builder that receives its entries. */
export interface UnitContext {
  readonly builder: SessionBuilder;
  readonly thread: ThreadUnits;
  /** Whether a message's tokens are already counted elsewhere. */
  readonly isCounted: (unit: Unit) => boolean;
  /** Returns the subagent that a call started, and its session id; undefined if the call did not start one. */
  readonly findSubagent: (toolCallId: string) => { agentId: string; sessionId: string } | undefined;
  /** Returns the first entry created from a record; undefined if no entry was created. */
  readonly findEntry: (uuid: string) => Draft | undefined;
}

/** Adds the entries for a unit. */
export function emitUnit(unit: Unit, above: EmittedUnit | undefined, context: UnitContext): EmittedUnit {
  const parent = above?.last;
  const model = above?.model;
  const [node] = unit.nodes;
  if (node === undefined) throw new Error("A unit must have a record.");
  switch (unit.role) {
    case "assistant":
      return emitAnswer(unit, node, above, context);
    case "results":
      return { ...emitResults(node, parent, context), model };
    case "prompt":
      return { ...emitPrompt(node, parent, context), model };
    case "boundary":
    case "summary":
      return { ...emitCompaction(unit, node, parent, context), model };
    case "bash-input":
      return { ...emitBash(unit, node, parent, context), model };
    case "aside":
      return { ...emitAside(node, parent, context), model };
    default:
      return { ...emitNote(node, unit.role, parent, context), model };
  }
}

type Entries = Omit<EmittedUnit, "model">;

function getTime({ value }: RecordNode): unknown {
  return value["timestamp"];
}

/** Adds an entry for the blocks that a message cannot contain, after the message. */
function keepOthers(
  node: RecordNode,
  others: readonly unknown[],
  last: Draft,
  { builder }: UnitContext,
): Draft {
  if (others.length === 0) return last;
  const body = makeCustom("claude-code.blocks", { blocks: others });
  return builder.add(`${node.uuid} blocks`, last, getTime(node), body);
}

function emitAnswer(
  unit: Unit,
  node: RecordNode,
  above: EmittedUnit | undefined,
  context: UnitContext,
): EmittedUnit {
  const { builder } = context;
  const parts = unit.nodes.map(({ message }) => convertAnswer(message["content"]));
  const content = parts.flatMap((part) => part.content);
  const { message } = node;
  const model = toNonemptyText(message["model"]) ?? above?.model ?? UNKNOWN_NAME;
  const isSynthetic = model === SYNTHETIC_MODEL;
  const stopReason = getStopReason(
    unit.nodes,
    content.some(({ type }) => type === "toolCall"),
  );
  const text = getTexts(content).join("");
  const responseId = isSynthetic ? undefined : toNonemptyText(message["id"]);
  const first = builder.addMessage(node.uuid, above?.last, getTime(node), {
    role: "assistant",
    content,
    api: "anthropic-messages",
    provider: "anthropic",
    model,
    ...(responseId !== undefined && { responseId }),
    usage: context.isCounted(unit) ? toUsage() : getMessageUsage(unit.nodes),
    stopReason,
    ...(stopReason === "error" && text !== "" && { errorMessage: text }),
  });
  let last = keepOthers(
    node,
    parts.flatMap((part) => part.others),
    first,
    context,
  );
  if (isBrokenOff(unit)) {
    const data = { messageId: responseId, usage: getMessageUsage(unit.nodes) };
    const body = makeCustom("claude-code.broken-off", data);
    last = builder.add(`${node.uuid} broken off`, last, getTime(node), body);
  }
  if (!isSynthetic) return { first, last, model };
  if (above?.model !== undefined) {
    // A message from the program itself must not change the model that the session continues with.
    last = builder.add(`${node.uuid} model`, last, getTime(node), {
      type: "model_change",
      provider: "anthropic",
      modelId: above.model,
    });
  }
  return { first, last, model: above?.model };
}

const SIDE_FILE = /<persisted-output>[^<]*?(\S*[/\\]tool-results[/\\]\S+)/;

function emitResults(node: RecordNode, parent: Draft | undefined, context: UnitContext): Entries {
  const { builder, thread } = context;
  const { toolUseResult } = node.value;
  let first: Draft | undefined;
  let last = parent;
  let number = 0;
  for (const block of findResultBlocks(node)) {
    const toolCallId = toNonemptyText(block["tool_use_id"]) ?? "";
    const { content, others } = convertInput(block["content"]);
    const details =
      number === 0 ? toDetails(toolUseResult, content.map(joinContentText).join("\n")) : undefined;
    const toolName = thread.toolNames.get(toolCallId) ?? "unknown";
    const isError = block["is_error"] === true;
    const result = makeToolResult({ toolCallId, toolName, content, details, isError });
    last = builder.addMessage(makeEntryKey(node, number), last, getTime(node), result);
    first ??= last;
    number++;
    last = keepOthers(node, others, last, context);
    last = linkSubagent(node, toolCallId, last, context);
  }
  const rest = toArray(node.message["content"]).filter((block) => toRecord(block)["type"] !== "tool_result");
  if (rest.length > 0) {
    const said = convertInput(rest);
    const key = makeEntryKey(node, number);
    last =
      node.value["isMeta"] === true
        ? builder.add(key, last, getTime(node), makeCustom("claude-code.meta", { content: said.content }))
        : builder.addMessage(key, last, getTime(node), { role: "user", content: said.content });
    first ??= last;
    last = keepOthers(node, said.others, last, context);
  }
  const end = last ?? builder.tip;
  return { first: first ?? end, last: end };
}

/** Returns a tool's structured result. For a long result, adds the path of the file that contains the complete result. */
function toDetails(toolUseResult: unknown, text: string): unknown {
  const sideFile = SIDE_FILE.exec(text)?.[1];
  if (sideFile === undefined) return toolUseResult;
  if (toolUseResult === undefined) return { fullOutputPath: sideFile };
  return isJsonRecord(toolUseResult) ? { ...toolUseResult, fullOutputPath: sideFile } : toolUseResult;
}

function linkSubagent(
  node: RecordNode,
  toolCallId: string,
  last: Draft,
  { builder, findSubagent }: UnitContext,
): Draft {
  const subagent = findSubagent(toolCallId);
  if (subagent === undefined) return last;
  const link = makeSubagentLink({ ...subagent, toolCallId });
  return builder.add(`${node.uuid} subagent ${toolCallId}`, last, getTime(node), link);
}

function makeEntryKey({ uuid }: RecordNode, number: number): string {
  return number === 0 ? uuid : `${uuid} ${number}`;
}

/** Returns the text that the user typed, from a user record or from the attachment for a queued prompt. */
function getUserText(node: RecordNode): unknown {
  return node.type === "attachment" ? getMember(node.value, "attachment")["prompt"] : node.message["content"];
}

function emitPrompt(node: RecordNode, parent: Draft | undefined, context: UnitContext): Entries {
  const said = getUserText(node);
  const { content: blocks, others } = convertInput(said);
  const content = typeof said === "string" ? said : blocks;
  const first = context.builder.addMessage(node.uuid, parent, getTime(node), { role: "user", content });
  return { first, last: keepOthers(node, others, first, context) };
}

/**
 * Adds text that the user did not type. The model sees notifications; the program's own text is excluded from the context.
 */
function emitNote(
  node: RecordNode,
  role: "meta" | "command" | "notification" | "bash-output",
  parent: Draft | undefined,
  context: UnitContext,
): Entries {
  const said = getUserText(node);
  const { content, others } = convertInput(said);
  const text = typeof said === "string" ? said : content;
  const { builder } = context;
  const kind = role === "bash-output" ? "command" : role;
  const first =
    kind === "notification"
      ? builder.add(
          node.uuid,
          parent,
          getTime(node),
          makeCustomMessage("claude-code.notification", text, true),
        )
      : builder.keep(node.uuid, parent, getTime(node), kind, { content: text });
  return { first, last: keepOthers(node, others, first, context) };
}

function emitBash(unit: Unit, node: RecordNode, parent: Draft | undefined, context: UnitContext): Entries {
  const first = context.builder.addMessage(node.uuid, parent, getTime(node), {
    role: "bashExecution",
    ...getBashParts(unit),
    exitCode: undefined,
    cancelled: false,
    truncated: false,
  });
  return { first, last: first };
}

function emitCompaction(
  unit: Unit,
  node: RecordNode,
  parent: Draft | undefined,
  context: UnitContext,
): Entries {
  const summary = unit.nodes.find(({ value }) => value["isCompactSummary"] === true);
  if (summary === undefined) return emitAside(node, parent, context);
  const preserved = readPreserved(node.value);
  const metadata = getMember(node.value, "compactMetadata");
  const text = convertInput(summary.message["content"]).content.map(joinContentText).join("\n");
  const trigger = toNonemptyText(metadata["trigger"]);
  const postTokens = toCount(metadata["postTokens"]) || undefined;
  const details = pickDefined({ source: "claude-code", trigger, postTokens });
  const { builder, findEntry } = context;
  if (preserved.isPrefix) {
    // The summary covers the latest part, after the preserved messages, so it describes a branch that the user left.
    const fromId = builder.tip.id;
    const body = { type: "branch_summary", fromId, summary: text, details };
    const draft = builder.add(node.uuid, parent, getTime(node), body);
    return { first: draft, last: draft };
  }
  const kept = preserved.head === undefined ? undefined : findEntry(preserved.head);
  const draft = builder.add(node.uuid, parent, getTime(node), {
    type: "compaction",
    summary: text,
    firstKeptEntryId: kept?.id,
    tokensBefore: toCount(metadata["preTokens"]),
    details,
  });
  return { first: draft, last: draft };
}

/** Fields that are already expressed by an entry's owner and position. */
const ENVELOPE: ReadonlySet<string> = new Set(
  "type uuid parentUuid sessionId timestamp cwd version gitBranch userType entrypoint isSidechain agentId".split(
    " ",
  ),
);

/** Returns the fields to keep from a record that is not part of the conversation. */
export function keepRecordData(value: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !ENVELOPE.has(name)));
}

function emitAside(node: RecordNode, parent: Draft | undefined, { builder }: UnitContext): Entries {
  const { subtype, attachment } = node.value;
  // All notes by the program, and all its additions to the model's input, share one record type.
  const kind =
    (node.type === "attachment" ? toNonemptyText(toRecord(attachment)["type"]) : toNonemptyText(subtype)) ??
    node.type;
  const first = builder.keep(node.uuid, parent, getTime(node), kind, keepRecordData(node.value));
  return { first, last: first };
}

/** Returns the message id of a unit. It identifies tokens that must be counted only once. */
export function findCountingKey({ nodes }: Unit): string | undefined {
  const [node] = nodes;
  return node && findMessageKey(node);
}
