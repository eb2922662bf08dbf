/*
 * A program that uses our types and pi's own together, as text: pi's packages exist only while the test runs.
 */

/** Types of ours and of pi's that must be mutually assignable, by the module that declares pi's. */
const BOTH_WAYS = {
  ai: [
    ["TextContent"],
    ["ImageContent"],
    ["ThinkingContent"],
    ["ToolCall"],
    ["Usage"],
    ["StopReason"],
    ["JsonValue"],
    ["JsonObject"],
    ["ToolDeclaration", "Tool"],
    ["ToolReference"],
    ["NestedToolCall", "NestedToolCallRecord"],
    ["SystemMessage"],
    ["UserMessage"],
    ["AssistantMessage"],
    ["ToolResultMessage"],
    ["Message"],
  ],
  agent: [["AgentMessage"]],
  messages: [
    ["BashExecutionMessage"],
    ["CustomMessage"],
    ["BranchSummaryMessage"],
    ["CompactionSummaryMessage"],
  ],
  sessions: [
    ["SessionHeader"],
    ["SessionEntryBase"],
    ["SessionMessageEntry"],
    ["ThinkingLevelChangeEntry"],
    ["ModelChangeEntry"],
    ["UsageEntry"],
    ["CompactionEntry"],
    ["BranchSummaryEntry"],
    ["CustomEntry"],
    ["CustomMessageEntry"],
    ["ContextEditableContent"],
    ["ContextEditEntry"],
    ["LabelEntry"],
    ["SessionInfoEntry"],
    ["SessionEntry"],
    ["FileEntry"],
    ["SessionTreeNode"],
    ["ProjectedSessionEntry"],
    ["SessionProjection"],
    ["SessionContext"],
    ["SessionInfo"],
    ["SessionListProgress"],
    ["NewSessionOptions"],
    ["ReadonlySessionManager"],
  ],
  compaction: [
    ["CompactionSettings"],
    ["CutPointResult"],
    ["FileOperations"],
    ["CompactionResult"],
    ["CollectEntriesResult"],
    ["BranchPreparation"],
  ],
} as const;

/** Functions of ours that must be assignable to pi's. */
const FUNCTIONS = {
  sessions: [
    "assertValidSessionId",
    "buildContextEntries",
    "buildSessionContext",
    "buildSessionProjection",
    "findMostRecentSession",
    "getDefaultSessionDir",
    "getLatestCompactionEntry",
    "loadEntriesFromFile",
    "migrateSessionEntries",
    "parseSessionEntries",
    "projectContextEntry",
    "sessionEntryToContextMessages",
  ],
  messages: ["convertToLlm"],
  compaction: [
    "calculateContextTokens",
    "estimateTokens",
    "findCutPoint",
    "findTurnStartIndex",
    "shouldCompact",
  ],
} as const;

const HEAD = `
import type * as ours from "sessiontree";
import { SessionManager } from "sessiontree";
import type * as agent from "@earendil-works/pi-agent-core";
import type * as ai from "@earendil-works/pi-ai";
import type * as pi from "@earendil-works/pi-coding-agent";
import type * as compaction from "@earendil-works/pi-coding-agent/core/compaction/index";
import type * as messages from "@earendil-works/pi-coding-agent/core/messages";
import type * as sessions from "@earendil-works/pi-coding-agent/core/session-manager";

type IsAny<T> = 0 extends 1 & T ? true : false;
type Both<A, B> = IsAny<A> extends true ? "ours is any" : IsAny<B> extends true ? "theirs is any"
  : [A] extends [B] ? ([B] extends [A] ? true : "theirs is not ours") : "ours is not theirs";
type Stands<A, B> = IsAny<B> extends true ? "theirs is any" : [A] extends [B] ? true : "ours cannot stand for theirs";
/** A class without its private members, which make it a type of its own whatever else it has. */
type Members<T> = Pick<T, keyof T>;
`;

/** Everything except comparisons of two names. */
const REST = `
export const instances: Stands<SessionManager, Omit<pi.SessionManager, "_persist">> = true;
export const statics: Stands<typeof SessionManager, {
  [K in keyof typeof pi.SessionManager as K extends "prototype" ? never : K]:
    (typeof pi.SessionManager)[K] extends (...given: infer Given) => pi.SessionManager
      ? (...given: Given) => Omit<pi.SessionManager, "_persist"> : (typeof pi.SessionManager)[K];
}> = true;
export const level: IsAny<ai.AssistantMessage["thinkingLevel"]> = false;
export const details: IsAny<ai.ToolResultMessage["details"]> = false;

/** As the guide describes it for a host of pi. */
export function optionsOf(session: SessionManager): pi.CreateAgentSessionOptions {
  return { sessionManager: session as unknown as pi.SessionManager };
}

/** Entries and messages of pi are accepted where ours are. */
export function take(session: SessionManager, entry: sessions.SessionEntry, message: ai.Message): void {
  session.append(entry);
  session.appendMessage(message);
  const any: ours.AnySessionEntry = entry;
  const draft: ours.EntryDraft = entry;
}
`;

/** Lines that must not compile: otherwise the comparisons above would prove nothing. */
const WRONG = `
export const wrongA: Both<Omit<ours.AssistantMessage, "stopReason">, ai.AssistantMessage> = true;
export const wrongB: Both<Omit<ours.SystemMessage, "toolsRemoved"> & { toolsRemoved?: string[] }, ai.SystemMessage> = true;
export const wrongC: Both<ours.SessionEntry, Exclude<sessions.SessionEntry, sessions.UsageEntry>> = true;
export const wrongD: pi.CreateAgentSessionOptions = { sessionManager: SessionManager.inMemory() };
`;

/** The program, and the names of its parts that must not compile. */
export function piConsumer(): { text: string; wrong: string[] } {
  const types = Object.entries(BOTH_WAYS).flatMap(([module, names]) =>
    names.map(
      ([name, theirs = name]) => `export const type${name}: Both<ours.${name}, ${module}.${theirs}> = true;`,
    ),
  );
  const functions = Object.entries(FUNCTIONS).flatMap(([module, names]) =>
    names.map(
      (name) => `export const ${name}: Stands<typeof ours.${name}, typeof ${module}.${name}> = true;`,
    ),
  );
  return {
    text: [HEAD, ...types, ...functions, REST, WRONG].join("\n"),
    wrong: ["wrongA", "wrongB", "wrongC", "wrongD"],
  };
}
