import { toRecord } from "../../../core/context/entry-fields.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { makeSubagentLink, makeToolCall, type SubagentLink } from "../entry-bodies.ts";
import type { ImportedSession } from "../imported-session.ts";
import {
  type BuilderInput,
  makeSessionId,
  makeSubagentSessionId,
  makeSubagentSourceId,
  SessionBuilder,
  type SessionOrigin,
} from "../session-builder.ts";
import { getMember, makeIssue, readRecords, type SourceText, toNonemptyText } from "../source-text.ts";
import { convertAnswerPart, findError, WireWriter } from "./wire-writer.ts";

/** Wire log of a Kimi Code agent, as returned by the importer's `read`. */
export interface KimiWire extends SourceText {
  /** `main`, or the id of a subagent. */
  readonly agentId: string;
  /** Path of the file. */
  readonly path?: string;
}

/** A Kimi Code session: the logs of its agents. */
export interface KimiInput extends Omit<BuilderInput, "path"> {
  readonly sessionId: string;
  readonly wires: readonly KimiWire[];
  /** Parsed content of `state.json`. */
  readonly state?: unknown;
}

/** Id of the main agent. */
const MAIN = "main";

/** Parses a wire log. */
export function readKimiText(input: string | Uint8Array | Iterable<Uint8Array>): SourceText {
  return readRecords(input, {
    firstKey: /^"(?:type|message|turnId)"\s*:/,
    isRecord: ({ type, time, protocol_version: version }) =>
      typeof type === "string" && (typeof time === "number" || typeof version === "string"),
  });
}

/**
 * Converts Kimi Code wire logs to sessions: the main agent's session and its subagents' sessions.
 *
 * After an undo, the removed turns remain as a branch. Tokens are read from `usage.record`, which every call has.
 *
 * @returns The main session first; empty if the logs contain no conversation.
 * @remarks Cost: O(records). Source: docs/import-records.md#kimi-code
 */
export function importKimi(input: KimiInput): ImportedSession[] {
  const wires = input.wires.filter(({ records }) => records.some(({ value }) => isSpoken(value)));
  const main = wires.find(({ agentId }) => agentId === MAIN);
  const spawned = input.wires.flatMap(({ records }) =>
    records.flatMap(({ value }) => (value["type"] === "subagent.spawned" ? [value] : [])),
  );
  const others = wires.filter((wire) => wire !== main);
  return [...(main === undefined ? [] : [main]), ...others].map((wire) => importWire(input, wire, spawned));
}

function isSpoken({ type }: JsonRecord): boolean {
  return type === "context.append_message" || type === "context.append_loop_event";
}

function makeSourceId(sessionId: string, agentId: unknown): string {
  const isMain = agentId === MAIN || typeof agentId !== "string";
  return isMain ? sessionId : makeSubagentSourceId(sessionId, agentId);
}

function makeAgentId(sessionId: string, agentId: string): string {
  return agentId === MAIN ? makeSessionId(sessionId) : makeSubagentSessionId(sessionId, agentId);
}

function importWire(input: KimiInput, wire: KimiWire, spawned: readonly JsonRecord[]): ImportedSession {
  const { sessionId, state } = input;
  const { agentId, records, issues, path } = wire;
  const fields = toRecord(state);
  const metadata = toRecord(records.find(({ value }) => value["type"] === "metadata")?.value);
  const profile = toRecord(records.find(({ value }) => value["type"] === "profile.bind")?.value);
  const start = spawned.find(({ subagentId }) => subagentId === agentId);
  const builder = new SessionBuilder(input, {
    source: "kimi",
    sourceId: makeSourceId(sessionId, agentId),
    sourcePath: path,
    sourceVersion: toNonemptyText(metadata["protocol_version"]),
    id: makeAgentId(sessionId, agentId),
    folders: [fields["cwd"], fields["workDir"], getMember(profile, "environmentDisclosure")["cwd"]],
    startedAt: metadata["created_at"] ?? records[0]?.value["time"],
    ...getOrigin(input, agentId, start),
    issues,
  });
  builder.issues.push(...checkVersion(metadata));
  builder.counts.records = records.length;
  if (agentId === MAIN) addTitle(builder, fields);
  else linkParent(builder, agentId, start);
  const writer = new WireWriter(builder, makeLinks(sessionId, agentId, spawned), agentId !== MAIN);
  for (const { value } of records) takeRecord(value, writer);
  writer.finish();
  return builder.finish();
}

function addTitle(builder: SessionBuilder, { title, isCustomTitle }: JsonRecord): void {
  const name = toNonemptyText(title);
  if (name !== undefined) builder.addName(`kimi name ${name}`, name, isCustomTitle === true);
}

function linkParent(builder: SessionBuilder, agentId: string, start: JsonRecord | undefined): void {
  const [toolCallId, role, description] = ["parentToolCallId", "subagentName", "description"].map((name) =>
    toNonemptyText(start?.[name]),
  );
  const link = makeSubagentLink({ agentId, toolCallId, role, description });
  builder.addBehind(`kimi agent ${agentId}`, undefined, link);
}

/** Returns links to the sessions of the agents that an agent started, by call id. */
function makeLinks(
  sessionId: string,
  agentId: string,
  spawned: readonly JsonRecord[],
): Map<string, SubagentLink> {
  const links = new Map<string, SubagentLink>();
  for (const { subagentId, parentToolCallId: toolCallId, parentAgentId = MAIN } of spawned) {
    if (typeof toolCallId !== "string" || typeof subagentId !== "string" || parentAgentId !== agentId)
      continue;
    links.set(toolCallId, { agentId: subagentId, toolCallId, sessionId: makeAgentId(sessionId, subagentId) });
  }
  return links;
}

function getOrigin(
  { sessionId, state }: KimiInput,
  agentId: string,
  start: JsonRecord | undefined,
): Pick<SessionOrigin, "forkOf" | "startedBy"> {
  const { forkedFrom, agents } = toRecord(state);
  if (agentId === MAIN)
    return { forkOf: toNonemptyText(forkedFrom) ?? toNonemptyText(toRecord(forkedFrom)["sessionId"]) };
  const starter = start?.["parentAgentId"] ?? getMember(toRecord(agents), agentId)["parentAgentId"];
  // If an agent seems to have started itself, a record about it is damaged.
  return { startedBy: makeSourceId(sessionId, starter === agentId ? MAIN : starter) };
}

/** Supported log versions: 1.x. */
const KNOWN_VERSION = /^1\./;

function checkVersion({ protocol_version: version }: JsonRecord) {
  if (typeof version !== "string" || KNOWN_VERSION.test(version)) return [];
  const message = `The log has protocol version ${version}, which is unknown; it was read as 1.5. Compare the result with the program, or import with a newer version of sessiontree.`;
  return [makeIssue("VERSION_UNCLEAR", message)];
}

/** Prefixes of record types that repeat other records or contain Kimi Code's own state. */
const DROPPED =
  /^(?:metadata|runtime|profile|config|permission|plugin|llm|token_counting|agent|subagent|prompt|turn|full_compaction|context\.undone|forked)\b/;

/** Record handlers by type. Records of other types are kept. */
const TAKERS = new Map<unknown, (writer: WireWriter, record: JsonRecord) => void>([
  ["turn.prompt", (writer) => writer.startTurn()],
  ["context.append_message", (writer, record) => writer.takeMessage(record)],
  ["context.append_loop_event", (writer, record) => takeEvent(getMember(record, "event"), record, writer)],
  ["llm.request", (writer, record) => writer.request(record)],
  ["usage.record", (writer, record) => writer.count(record)],
  ["profile.bind", (writer, { thinkingEffort, time }) => writer.think(thinkingEffort, time)],
  ["config.update", (writer, { thinkingEffort, time }) => writer.think(thinkingEffort, time)],
  ["context.undo", (writer, { count }) => writer.undo(count)],
  ["context.apply_compaction", (writer, record) => writer.compact(record)],
  ["turn.ended", (writer, record) => writer.endTurn(record["reason"], findError(record), record)],
]);

function takeRecord(record: JsonRecord, writer: WireWriter): void {
  const type = toNonemptyText(record["type"]) ?? "record";
  const taker = TAKERS.get(type);
  if (taker !== undefined) taker(writer, record);
  else if (DROPPED.test(type)) writer.builder.drop(type);
  else writer.keepRecord(record, type);
}

/** Handlers of loop events by type. Events of other types are kept. */
const EVENT_TAKERS = new Map<unknown, (writer: WireWriter, event: JsonRecord, time: unknown) => void>([
  ["step.begin", (writer, event) => writer.beginStep(event)],
  [
    "content.part",
    (writer, event, time) => writer.addPart(event, time, convertAnswerPart(getMember(event, "part"))),
  ],
  [
    "tool.call",
    (writer, event, time) =>
      writer.addPart(event, time, makeToolCall(event["toolCallId"], event["name"], event["args"])),
  ],
  ["tool.result", (writer, event, time) => writer.addResult(event, time)],
  ["step.end", (writer, event) => writer.endStep(event)],
  ["llm.request", () => undefined],
]);

function takeEvent(event: JsonRecord, record: JsonRecord, writer: WireWriter): void {
  const taker = EVENT_TAKERS.get(event["type"]);
  if (taker === undefined) writer.keepRecord(record, "event");
  else taker(writer, event, record["time"]);
}
