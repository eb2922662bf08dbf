import { textsOf } from "../../../core/context/content-text.ts";
import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import { defined, isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { UNKNOWN_NAME } from "../../../core/format/message.ts";
import { countOf, usageOf } from "../../convert/answer.ts";
import { convertAnswer, convertInput } from "../anthropic-blocks.ts";
import { custom, customMessage, subagentLink, toolResult } from "../entry-bodies.ts";
import type { Draft, SessionBuilder } from "../session-builder.ts";
import { member, textIn, textOf } from "../source-text.ts";
import { messageKey, resultBlocks, stopReasonOf, usageOfMessage } from "./message-parts.ts";
import { preservedBy, type RecordNode } from "./record-graph.ts";
import { bashParts, isBrokenOff, type ThreadUnits, type Unit } from "./thread-units.ts";

/** Model name that the program uses for its own messages. */
const SYNTHETIC_MODEL = "<synthetic>";

/** Result of converting a unit. */
export interface EmittedUnit {
  readonly first: Draft;
  /** Parent of what follows the unit. */
  readonly last: Draft;
  /** Last model that answered on the path. */
  readonly model: string | undefined;
}

/** What converting a unit needs to know about other units. */
export interface UnitContext {
  readonly builder: SessionBuilder;
  readonly thread: ThreadUnits;
  /** Whether the tokens of a message are already counted elsewhere. */
  readonly isCounted: (unit: Unit) => boolean;
  /** Returns the session id of the subagent that a call started; undefined if it started none. */
  readonly subagentOf: (toolCallId: string) => { agentId: string; sessionId: string } | undefined;
  /** Returns the entries made from a record; undefined if none were. */
  readonly entryOf: (uuid: string) => Draft | undefined;
}

/** Makes the entries of a unit. */
export function emitUnit(unit: Unit, above: EmittedUnit | undefined, context: UnitContext): EmittedUnit {
  const parent = above?.last;
  const model = above?.model;
  const [node] = unit.nodes;
  if (node === undefined) throw new Error("A unit has a record.");
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

function timeOf({ value }: RecordNode): unknown {
  return value["timestamp"];
}

/** Keeps blocks that a message cannot hold, in an entry after it. */
function keepOthers(
  node: RecordNode,
  others: readonly unknown[],
  last: Draft,
  { builder }: UnitContext,
): Draft {
  if (others.length === 0) return last;
  const body = custom("claude-code.blocks", { blocks: others });
  return builder.add(`${node.uuid} blocks`, last, timeOf(node), body);
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
  const model = textOf(message["model"]) ?? above?.model ?? UNKNOWN_NAME;
  const isSynthetic = model === SYNTHETIC_MODEL;
  const stopReason = stopReasonOf(
    unit.nodes,
    content.some(({ type }) => type === "toolCall"),
  );
  const text = textsOf(content).join("");
  const responseId = isSynthetic ? undefined : textOf(message["id"]);
  const first = builder.addMessage(node.uuid, above?.last, timeOf(node), {
    role: "assistant",
    content,
    api: "anthropic-messages",
    provider: "anthropic",
    model,
    ...(responseId !== undefined && { responseId }),
    usage: context.isCounted(unit) ? usageOf() : usageOfMessage(unit.nodes),
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
    const data = { messageId: responseId, usage: usageOfMessage(unit.nodes) };
    const body = custom("claude-code.broken-off", data);
    last = builder.add(`${node.uuid} broken off`, last, timeOf(node), body);
  }
  if (!isSynthetic) return { first, last, model };
  if (above?.model !== undefined) {
    // A message of the program itself must not set the model that the session continues with.
    last = builder.add(`${node.uuid} model`, last, timeOf(node), {
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
  for (const block of resultBlocks(node)) {
    const toolCallId = textOf(block["tool_use_id"]) ?? "";
    const { content, others } = convertInput(block["content"]);
    const details = number === 0 ? detailsOf(toolUseResult, content.map(textIn).join("\n")) : undefined;
    const toolName = thread.toolNames.get(toolCallId) ?? "unknown";
    const isError = block["is_error"] === true;
    const result = toolResult({ toolCallId, toolName, content, details, isError });
    last = builder.addMessage(keyOf(node, number), last, timeOf(node), result);
    first ??= last;
    number++;
    last = keepOthers(node, others, last, context);
    last = linkSubagent(node, toolCallId, last, context);
  }
  const rest = listOf(node.message["content"]).filter((block) => fieldsOf(block)["type"] !== "tool_result");
  if (rest.length > 0) {
    const said = convertInput(rest);
    const key = keyOf(node, number);
    last =
      node.value["isMeta"] === true
        ? builder.add(key, last, timeOf(node), custom("claude-code.meta", { content: said.content }))
        : builder.addMessage(key, last, timeOf(node), { role: "user", content: said.content });
    first ??= last;
    last = keepOthers(node, said.others, last, context);
  }
  const end = last ?? builder.tip;
  return { first: first ?? end, last: end };
}

/** Returns the structured result of a tool; for a long one, with the path of the file that holds all of it. */
function detailsOf(toolUseResult: unknown, text: string): unknown {
  const sideFile = SIDE_FILE.exec(text)?.[1];
  if (sideFile === undefined) return toolUseResult;
  if (toolUseResult === undefined) return { fullOutputPath: sideFile };
  return isJsonRecord(toolUseResult) ? { ...toolUseResult, fullOutputPath: sideFile } : toolUseResult;
}

function linkSubagent(
  node: RecordNode,
  toolCallId: string,
  last: Draft,
  { builder, subagentOf }: UnitContext,
): Draft {
  const subagent = subagentOf(toolCallId);
  if (subagent === undefined) return last;
  const link = subagentLink({ ...subagent, toolCallId });
  return builder.add(`${node.uuid} subagent ${toolCallId}`, last, timeOf(node), link);
}

function keyOf({ uuid }: RecordNode, number: number): string {
  return number === 0 ? uuid : `${uuid} ${number}`;
}

/** Returns what the user typed: in a user record, or in an attachment for a prompt that waited. */
function saidIn(node: RecordNode): unknown {
  return node.type === "attachment" ? member(node.value, "attachment")["prompt"] : node.message["content"];
}

function emitPrompt(node: RecordNode, parent: Draft | undefined, context: UnitContext): Entries {
  const said = saidIn(node);
  const { content: blocks, others } = convertInput(said);
  const content = typeof said === "string" ? said : blocks;
  const first = context.builder.addMessage(node.uuid, parent, timeOf(node), { role: "user", content });
  return { first, last: keepOthers(node, others, first, context) };
}

/** Adds a text that the user did not type: a notification where the model sees it, the program's own in no context. */
function emitNote(
  node: RecordNode,
  role: "meta" | "command" | "notification" | "bash-output",
  parent: Draft | undefined,
  context: UnitContext,
): Entries {
  const said = saidIn(node);
  const { content, others } = convertInput(said);
  const text = typeof said === "string" ? said : content;
  const { builder } = context;
  const kind = role === "bash-output" ? "command" : role;
  const first =
    kind === "notification"
      ? builder.add(node.uuid, parent, timeOf(node), customMessage("claude-code.notification", text, true))
      : builder.keep(node.uuid, parent, timeOf(node), kind, { content: text });
  return { first, last: keepOthers(node, others, first, context) };
}

function emitBash(unit: Unit, node: RecordNode, parent: Draft | undefined, context: UnitContext): Entries {
  const first = context.builder.addMessage(node.uuid, parent, timeOf(node), {
    role: "bashExecution",
    ...bashParts(unit),
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
  const preserved = preservedBy(node.value);
  const metadata = member(node.value, "compactMetadata");
  const text = convertInput(summary.message["content"]).content.map(textIn).join("\n");
  const trigger = textOf(metadata["trigger"]);
  const postTokens = countOf(metadata["postTokens"]) || undefined;
  const details = defined({ source: "claude-code", trigger, postTokens });
  const { builder, entryOf } = context;
  if (preserved.isPrefix) {
    // The summary covers the latest part, after what is kept: a branch that the user left.
    const fromId = builder.tip.id;
    const body = { type: "branch_summary", fromId, summary: text, details };
    const draft = builder.add(node.uuid, parent, timeOf(node), body);
    return { first: draft, last: draft };
  }
  const kept = preserved.head === undefined ? undefined : entryOf(preserved.head);
  const draft = builder.add(node.uuid, parent, timeOf(node), {
    type: "compaction",
    summary: text,
    firstKeptEntryId: kept?.id,
    tokensBefore: countOf(metadata["preTokens"]),
    details,
  });
  return { first: draft, last: draft };
}

/** Fields for a record's owner and position, which its entry already expresses. */
const ENVELOPE: ReadonlySet<string> = new Set(
  "type uuid parentUuid sessionId timestamp cwd version gitBranch userType entrypoint isSidechain agentId".split(
    " ",
  ),
);

/** Keeps a record that is not part of the conversation. */
export function dataOfRecord(value: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !ENVELOPE.has(name)));
}

function emitAside(node: RecordNode, parent: Draft | undefined, { builder }: UnitContext): Entries {
  const { subtype, attachment } = node.value;
  // Their records have one type for everything that the program notes, or hands to the model.
  const kind =
    (node.type === "attachment" ? textOf(fieldsOf(attachment)["type"]) : textOf(subtype)) ?? node.type;
  const first = builder.keep(node.uuid, parent, timeOf(node), kind, dataOfRecord(node.value));
  return { first, last: first };
}

/** Returns the message of a unit, which identifies tokens that must be counted only once. */
export function countingKey({ nodes }: Unit): string | undefined {
  const [node] = nodes;
  return node && messageKey(node);
}
