import { toArray, toCount, toRecord } from "../../../core/context/entry-fields.ts";
import { assertText } from "../../../core/format/arguments.ts";
import type { Usage } from "../../../core/format/content.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { isJsonRecord, type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { UNKNOWN_NAME } from "../../../core/format/message.ts";
import { type RecordForm, recoverRecords } from "../../../core/jsonl/concatenated-records.ts";
import { parseJson, parseRecord } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { toUsage } from "../../convert/answer.ts";
import { type EntryBody, makeCustom, makeSubagentLink, makeUsageEntry } from "../entry-bodies.ts";
import type { ImportedSession } from "../imported-session.ts";
import {
  type BuilderInput,
  type Draft,
  makeIdKey,
  makeSessionId,
  makeSubagentSessionId,
  SessionBuilder,
  type SessionOrigin,
} from "../session-builder.ts";
import { getMember, joinContentText, makeIssue, makeLeftOutIssue, toNonemptyText } from "../source-text.ts";
import { MessageReader, type SentMessage } from "./cline-messages.ts";
import {
  assignCalls,
  type Checkpoint,
  isShownRow,
  listCheckpoints,
  readShownMessages,
  readViewRows,
  type ViewCall,
  type ViewRows,
} from "./view-rows.ts";

/**
 * Parsed messages of an agent, from `<id>.messages.json` or the array in `api_conversation_history.json`. If that file is
 * missing, the rows of `ui_messages.json`.
 */
export interface ClineDocument {
  readonly document: unknown;
  /** Path of the file. */
  readonly path?: string;
  /** Issues found in the file. */
  readonly issues?: readonly SessionIssue[];
}

/** A Cline session, or a Cline, Roo Code, or Kilo task in an editor. All fields are parsed from JSON. */
export interface ClineInput extends ClineDocument, BuilderInput {
  readonly sessionId: string;
  /** The manifest `<id>.json`, or the task's item in the editor's history. */
  readonly manifest?: unknown;
  /** Content of `<id>.compaction.json`. */
  readonly compaction?: unknown;
  /** Content of `ui_messages.json`. */
  readonly viewRows?: unknown;
  /** Files of the agents started by this session's agent. */
  readonly subagents?: readonly ClineDocument[];
  /** Id of the session that begins with the same messages, if the manifest does not identify it. */
  readonly forkedFrom?: string;
}

/** Supported document version. */
const VERSION = 1;

/**
 * Converts a Cline, Roo Code, or Kilo session to sessions: one for the session itself, and one for each subagent.
 *
 * A condensed history is converted to a compaction. Messages keep their ids in forks, so each is counted only once.
 *
 * @returns The main session first; empty if there are no messages.
 * @remarks Cost: O(messages). Source: docs/import-records.md#cline-roo-code-and-kilo
 */
export function importCline(input: ClineInput): ImportedSession[] {
  const main = makeAgent(input, input.sessionId);
  const agents = [main, ...(input.subagents ?? []).map((one) => makeAgent(one, input.sessionId))];
  const starts = findStarts(agents);
  return agents
    .filter(({ messages }) => messages.length > 0)
    .map((agent) => new AgentImport(input, agent, main, starts).run());
}

/** Parses a file of messages. If the file is truncated, returns only the complete messages. */
export function readClineText(text: string): ClineDocument {
  assertText("text", text);
  const parsed = parseJson(text);
  if (parsed !== undefined) return { document: parsed.value };
  const list = text.search(/"messages":\s*\[/);
  const fields = list === -1 ? undefined : parseRecord(`${text.slice(0, list)}"messages":[]}`);
  // Line breaks occur only between tokens, never within strings.
  const bytes = new TextEncoder().encode(text.replaceAll("\n", " "));
  const messages = recoverRecords(bytes, MESSAGE_FORM).map(({ record }) => record);
  const message = `The file was truncated; its ${messages.length} complete messages were imported.`;
  const document = fields === undefined ? messages : { ...fields, messages };
  return { document, issues: [makeIssue("TAIL_TORN", message)] };
}

const MESSAGE_FORM: RecordForm = {
  firstKey: /^"(?:id|role|ts)"\s*:/,
  isRecord: (record) => isShownRow(record) || (isSpoken(record) && record["content"] !== undefined),
};

function isSpoken({ role }: JsonRecord): boolean {
  return role === "user" || role === "assistant";
}

/** Returns the session and the agent that a message document belongs to. Omits any that the document does not specify. */
export function findClineOwner(document: unknown): { sessionId?: string; agentId?: string } {
  const { sessionId, agent, origin } = toRecord(document);
  const own = toNonemptyText(sessionId);
  if (own === undefined || agent === "lead") return own === undefined ? {} : { sessionId: own };
  const [, parentId, agentId] = /^(.+?)__(.+)$/.exec(own) ?? [];
  const { parentThreadId, subagent } = toRecord(origin);
  const owner = toNonemptyText(parentThreadId) ?? parentId;
  if (owner === undefined) return { sessionId: own };
  return { sessionId: owner, agentId: toNonemptyText(subagent) ?? agentId ?? own };
}

/** Returns the messages in a document. */
export function getClineMessages(document: unknown): JsonRecord[] {
  const list = Array.isArray(document) ? document : toArray(toRecord(document)["messages"]);
  const rows = list.filter(isShownRow);
  return rows.length > 0 ? readShownMessages(rows) : list.filter(isJsonRecord).filter(isSpoken);
}

/** Issue message for a task of which only the rows displayed by an editor remain. */
const ONLY_SHOWN =
  "This task's messages are missing; only what the editor displayed was imported, with tool calls as notices. If the program still has api_conversation_history.json, put it next to ui_messages.json and import again.";

interface Agent {
  readonly document: unknown;
  readonly path: string | undefined;
  readonly issues: readonly SessionIssue[];
  readonly fields: JsonRecord;
  readonly messages: readonly JsonRecord[];
  /** Id of the agent's session in Cline. */
  readonly sourceId: string;
  readonly id: string;
  /** Undefined for the main agent. */
  readonly agentId: string | undefined;
}

function makeAgent({ document, path, issues = [] }: ClineDocument, sessionId: string): Agent {
  const { agentId } = findClineOwner(document);
  return {
    document,
    path,
    issues,
    fields: toRecord(document),
    messages: getClineMessages(document),
    sourceId: agentId === undefined ? sessionId : `${sessionId}__${agentId}`,
    id: agentId === undefined ? makeSessionId(sessionId) : makeSubagentSessionId(sessionId, agentId),
    agentId,
  };
}

/** The call that started an agent. */
interface Start {
  readonly agent: Agent;
  readonly toolCallId: string;
  readonly caller: Agent;
}

/** Finds the call that started each agent: a call that passes the agent's prompt. */
function findStarts([main, ...others]: readonly Agent[]): Start[] {
  if (main === undefined || others.length === 0) return [];
  const byPrompt = groupBy(others, ({ messages }) => joinContentText(messages[0]?.["content"]));
  const starts: Start[] = [];
  for (const caller of [main, ...others]) {
    for (const block of caller.messages.flatMap(({ content }) => toArray(content)).map(toRecord)) {
      const toolCallId = toNonemptyText(block["id"]);
      if (block["type"] !== "tool_use" || toolCallId === undefined) continue;
      for (const passed of Object.values(getMember(block, "input"))) {
        const waiting = typeof passed === "string" ? (byPrompt.get(passed) ?? []) : [];
        const at = waiting.findIndex((agent) => agent !== caller);
        // The same prompt may start several agents.
        for (const agent of at === -1 ? [] : waiting.splice(at, 1))
          starts.push({ agent, toolCallId, caller });
      }
    }
  }
  return starts;
}

/** An entry that is not a message, and its time. */
interface Aside {
  readonly time: unknown;
  readonly key: string;
  readonly body: EntryBody;
}

class AgentImport {
  readonly #agent: Agent;
  readonly #input: ClineInput;
  readonly #builder: SessionBuilder;
  readonly #starts: readonly Start[];
  readonly #reader = new MessageReader();
  readonly #rows: ViewRows;
  readonly #asides: Aside[];
  readonly #usages: ReadonlyMap<JsonRecord, Usage>;
  /** Messages that are missing from all later contexts, because they are replaced with a summary or a marker. */
  readonly #hidden: ReadonlySet<JsonRecord>;
  /** Previously sent messages that are not hidden. */
  readonly #visible: SentMessage[] = [];
  #tip: Draft | undefined;
  #time = 0;

  constructor(input: ClineInput, agent: Agent, main: Agent, starts: readonly Start[]) {
    const { agentId, messages, fields } = agent;
    const manifest = toRecord(input.manifest);
    const start = starts.find((one) => one.agent === agent);
    const isMain = agent === main;
    this.#input = input;
    this.#agent = agent;
    this.#starts = starts;
    this.#builder = new SessionBuilder(input, {
      source: "cline",
      sourceId: agent.sourceId,
      sourcePath: agent.path ?? input.path,
      sourceVersion: toNonemptyText(getMember(fields, "origin")["version"]),
      id: agent.id,
      folders: [manifest["cwd"], manifest["workspace"], manifest["cwdOnTaskInitialization"]],
      startedAt:
        (isMain && toNonemptyText(manifest["started_at"])) ||
        (messages[0]?.["ts"] ?? parseIdTime(input.sessionId)),
      ...(isMain ? getOrigin(input) : { startedBy: (start?.caller ?? main).sourceId }),
      issues: agent.issues,
    });
    this.#builder.issues.push(...checkVersion(fields));
    this.#hidden = findHidden(messages);
    const shown = toArray(agent.document).filter(isShownRow);
    this.#rows = readViewRows(isMain ? (input.viewRows ?? shown) : undefined);
    const answers = messages.filter(isAnswer);
    const { byAnswer, lost } = assignCalls(answers, this.#rows.calls);
    this.#usages = byAnswer;
    const checkpoints = [...(isMain ? listCheckpoints(manifest) : []), ...this.#rows.checkpoints];
    this.#asides = [...checkpoints.map(makeCheckpointAside), ...lost.map(makeUsageAside)].sort(byTime);
    if (shown.length > 0) this.#builder.issues.push(makeLeftOutIssue(ONLY_SHOWN));
    const told = this.#rows.calls.length + this.#rows.checkpoints.length;
    const repeated = this.#rows.size - told - (shown.length > 0 ? messages.length : 0);
    this.#builder.counts.records = messages.length + checkpoints.length + this.#rows.calls.length + repeated;
    this.#builder.drop("what the editor shows of messages", repeated);
    if (isMain) this.#tellSession(manifest);
    if (agentId !== undefined) this.#linkTo(agentId, start?.toolCallId);
  }

  run(): ImportedSession {
    const { messages } = this.#agent;
    const compaction = this.#agent.agentId === undefined ? toRecord(this.#input.compaction) : {};
    const compactAt = findLastReplaced(compaction, messages);
    for (const [i, message] of messages.entries()) {
      this.#addAsides(message["ts"]);
      this.#take(message);
      if (i === compactAt) this.#compactTo(compaction);
    }
    this.#addAsides(Number.POSITIVE_INFINITY);
    return this.#builder.finish();
  }

  #tellSession(manifest: JsonRecord): void {
    const { metadata, workspace_root: root, source, mode } = manifest;
    const { title, git, fork } = toRecord(metadata);
    const name = toNonemptyText(title);
    const told = Object.entries({ program: source, root, git, fork, mode }).filter(([, value]) => value);
    if (told.length > 0)
      this.#add("cline session", undefined, makeCustom("cline.session", Object.fromEntries(told)));
    if (name !== undefined) this.#builder.addName(`cline name ${name}`, name);
    const parentId = toNonemptyText(manifest["parentTaskId"]);
    if (parentId !== undefined) this.#linkTo(this.#agent.sourceId, undefined);
  }

  #linkTo(agentId: string, toolCallId: string | undefined): void {
    this.#builder.addBehind(`cline agent ${agentId}`, undefined, makeSubagentLink({ agentId, toolCallId }));
  }

  #addAsides(until: unknown): void {
    for (let [aside] = this.#asides; aside !== undefined; [aside] = this.#asides) {
      if (toCount(aside.time) > toCount(until) && until !== Number.POSITIVE_INFINITY) return;
      this.#asides.shift();
      this.#add(aside.key, aside.time, aside.body);
      if (aside.body.type === "custom") this.#builder.counts.kept++;
    }
  }

  #take(message: JsonRecord): void {
    const key = this.#makeKey(message);
    if (typeof message["ts"] === "number") this.#time = message["ts"];
    if (isSummary(message)) {
      const { condenseId, metadata } = message;
      const told = this.#rows.condensed.get(condenseId);
      this.#compact(key, message, this.#visible, told ?? toRecord(metadata));
      return;
    }
    if (getMember(message, "metadata")["displayOnly"] === true) {
      this.#tip = this.#builder.keep(key, this.#tip, message["ts"], "notice", message);
      return;
    }
    const reasoning = findReasoning(message);
    if (reasoning !== undefined)
      this.#add(`${key} reasoning`, message["ts"], makeCustom("cline.reasoning", reasoning));
    if (message["type"] === "reasoning") return;
    const sent = this.#reader.read(message, this.#usages.get(message), this.#time);
    const { added } = this.#reader;
    const makeKey = (part: number) => (part === 0 ? key : `${key} ${part}`);
    if (sent.length + added.length === 0) this.#builder.drop("empty message");
    for (const [part, one] of sent.entries()) this.#addSent(makeKey(part), one);
    if (added.length > 0)
      this.#add(makeKey(sent.length), this.#time, makeCustom("cline.context", { content: added }));
    if (!this.#hidden.has(message)) this.#visible.push(...sent);
    const blocks = this.#reader.others;
    if (blocks.length > 0) this.#add(`${key} blocks`, undefined, makeCustom("cline.blocks", { blocks }));
  }

  #addSent(key: string, sent: SentMessage): void {
    if (sent.role === "custom") {
      const { role: _, timestamp, ...report } = sent;
      this.#add(key, timestamp, { type: "custom_message", ...report });
      return;
    }
    this.#tip = this.#builder.addMessage(key, this.#tip, sent.timestamp, { ...sent });
    if (sent.role !== "toolResult") return;
    const { toolCallId } = sent;
    for (const { agent, toolCallId: id, caller } of this.#starts) {
      if (id !== toolCallId || caller !== this.#agent) continue;
      const link = makeSubagentLink({ agentId: agent.agentId ?? "", toolCallId, sessionId: agent.id });
      this.#add(`cline agent ${agent.sourceId}`, sent.timestamp, link);
    }
  }

  /** Adds the context after a compaction, which is stored separately from the full history. */
  #compactTo({ messages }: JsonRecord): void {
    const all = getClineMessages(messages);
    const summary = all.find(isSummary);
    const reader = new MessageReader();
    const kept = all.filter((message) => message !== summary);
    const tail = kept.flatMap((message) =>
      reader.read(message, undefined, toCount(message["ts"]) || this.#time),
    );
    const key = `cline compaction ${toNonemptyText((summary ?? all.at(-1))?.["id"])} ${this.#builder.tip.id}`;
    this.#compact(key, summary ?? {}, tail, getMember(summary ?? {}, "metadata"));
  }

  /** Adds a compaction, including the facts that Cline reports about it. */
  #compact(key: string, message: JsonRecord, tail: readonly SentMessage[], told: JsonRecord): void {
    const { prevContextTokens, tokensBefore = prevContextTokens, generatedAt, cost, summary } = told;
    const body = {
      type: "compaction",
      summary:
        toNonemptyText(summary) ?? (joinContentText(message["content"]) || "Context compacted by Cline."),
      firstKeptEntryId: undefined,
      tokensBefore: toCount(tokensBefore),
      details: { source: "cline" },
      ...(toCount(cost) > 0 && { usage: toUsage({ cost }) }),
      retainedTail: tail.map((one) => (one.role === "assistant" ? { ...one, usage: toUsage() } : one)),
    };
    this.#add(key, message["ts"] ?? generatedAt, body);
  }

  #add(key: string, time: unknown, body: EntryBody): Draft {
    this.#tip = this.#builder.add(key, this.#tip, time, body);
    return this.#tip;
  }

  /** Returns a message's key: its id, which forks preserve, or its time, or its content. */
  #makeKey({ id, ts, role, content }: JsonRecord): string {
    const own = toNonemptyText(id);
    if (own !== undefined) return makeIdKey("cline", own);
    const said = typeof ts === "number" ? ts : encodeParsed(content ?? null);
    return this.#builder.numbered(`cline ${toSafeString(role)} ${said}`);
  }
}

function getOrigin({ manifest, forkedFrom }: ClineInput): Pick<SessionOrigin, "forkOf" | "startedBy"> {
  const { metadata, parentTaskId } = toRecord(manifest);
  const original = toNonemptyText(getMember(toRecord(metadata), "fork")["forkedFromSessionId"]);
  return { startedBy: toNonemptyText(parentTaskId), forkOf: original ?? forkedFrom };
}

/** Returns the time at the start of an id, in Unix milliseconds. */
function parseIdTime(sessionId: string): number | undefined {
  const digits = /^\d{13}/.exec(sessionId)?.[0];
  return digits === undefined ? undefined : Number(digits);
}

function checkVersion({ version = VERSION }: JsonRecord): SessionIssue[] {
  if (version === VERSION) return [];
  const message = `The messages have version ${toSafeString(version)}, which is unknown; they were read as version ${VERSION}.`;
  return [makeIssue("VERSION_UNCLEAR", message)];
}

/** Returns whether a message replaces others: either a summary of them, or a marker for their removal. */
function isSummary(message: JsonRecord): boolean {
  if (message["isSummary"] === true || message["isTruncationMarker"] === true) return true;
  return getMember(message, "metadata")["kind"] === "compaction_summary";
}

/** Returns whether a message is a model's answer. Roo Code stores the encrypted part of an answer as a separate message. */
function isAnswer(message: JsonRecord): boolean {
  return message["role"] === "assistant" && message["type"] !== "reasoning" && !isSummary(message);
}

/** Names of fields that store reasoning in the provider's format. */
const REASONING = ["encrypted_content", "reasoning_content", "reasoning_details", "summary"];

function findReasoning(message: JsonRecord): JsonRecord | undefined {
  const told = REASONING.flatMap((name) => (message[name] === undefined ? [] : [[name, message[name]]]));
  return told.length === 0 ? undefined : Object.fromEntries(told);
}

/** Returns the messages that are replaced with an existing summary or marker. */
function findHidden(messages: readonly JsonRecord[]): Set<JsonRecord> {
  const ids = new Set(
    messages
      .filter(isSummary)
      .flatMap(
        ({ condenseId, truncationId }) => toNonemptyText(condenseId) ?? toNonemptyText(truncationId) ?? [],
      ),
  );
  return new Set(
    messages.filter(({ condenseParent, truncationParent }) =>
      [condenseParent, truncationParent].some((id) => typeof id === "string" && ids.has(id)),
    ),
  );
}

/** Returns the index of the last message that a compaction replaces; -1 if there is no compaction. */
function findLastReplaced(
  { messages, source_message_count: count }: JsonRecord,
  all: readonly JsonRecord[],
): number {
  const last = toRecord(toArray(messages).at(-1))["id"];
  if (last === undefined) return -1;
  const end = all.length - 1;
  if (typeof count === "number") return Math.min(count - 1, end);
  const at = all.findLastIndex(({ id }) => id === last);
  return at === -1 ? end : at;
}

function makeCheckpointAside({ ref, createdAt, ...rest }: Checkpoint): Aside {
  const body = makeCustom("cline.checkpoint", { ref, ...rest });
  return { time: createdAt, key: `cline checkpoint ${ref} ${toSafeString(createdAt)}`, body };
}

function makeUsageAside({ time, usage }: ViewCall): Aside {
  const body = makeUsageEntry("cline.request", UNKNOWN_NAME, UNKNOWN_NAME, usage);
  return { time, key: `cline usage ${toSafeString(time)}`, body };
}

function byTime(one: Aside, other: Aside): number {
  return toCount(one.time) - toCount(other.time);
}
