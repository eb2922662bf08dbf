import type { ToolPairRepair } from "../../../core/context/tool-pairs.ts";
import {
  type AssistantMessage,
  type Message,
  repairToolPairs,
  type ToolResultMessage,
  type UserMessage,
} from "../../../core.ts";
import type { EntryFacts } from "./entry-facts.ts";
import type { SessionModel } from "./session-model.ts";

const USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

const ANSWER = {
  role: "assistant",
  content: [],
  api: "",
  provider: "",
  model: "",
  usage: USAGE,
  stopReason: "toolUse",
  timestamp: 0,
} as const;

/** Entry in a context, and the messages that the model receives from it. */
interface ContextEntry {
  readonly ordinal: number;
  /** `edited` if it differs from the stored entry. */
  readonly state: string;
  readonly messages: readonly Message[];
}

/** Placeholder for a message without calls or results. */
const OTHER: UserMessage = { role: "user", content: [], timestamp: 0 };

/**
 * Finds the repairs that a context needs before a provider accepts it, as `repairToolPairs` does, but from stored facts: parses
 * only the bodies of edited entries, compactions, and answers that are unfinished or lack ids.
 *
 * @returns Empty until the facts are known.
 * @remarks Cost: O(context).
 */
export function findRepairs(
  session: SessionModel,
  items: readonly ContextEntry[],
): readonly ToolPairRepair[] {
  if (!session.isWhole) return [];
  return repairToolPairs(items.flatMap((item) => outlineMessages(session.facts[item.ordinal], item))).repairs;
}

/** Returns outlines of the messages that the model receives from an entry, with only the data that pairs calls with results. */
function outlineMessages(facts: EntryFacts | undefined, item: ContextEntry): readonly Message[] {
  if (facts === undefined || !isOutlinedByFacts(facts, item)) return item.messages;
  if (facts.callId !== "") return [makeResult(facts)];
  return [facts.calls.length > 0 ? makeAnswer(facts) : OTHER];
}

/**
 * Returns whether the facts contain everything that is required. For dropped calls, they do not, because the rest of the message
 * is then required.
 */
function isOutlinedByFacts(
  { kind, calls, callId, isUnfinished }: EntryFacts,
  { state }: ContextEntry,
): boolean {
  if (state === "edited" || kind.tone === "summary") return false;
  if (kind.tone === "tool") return callId !== "";
  const ids = new Set(calls.map(({ id }) => id));
  return ids.size === calls.length && !ids.has("") && !isUnfinished;
}

function makeAnswer({ calls }: EntryFacts): AssistantMessage {
  const content = calls.map(({ id, name }) => ({ type: "toolCall" as const, id, name, arguments: {} }));
  return { ...ANSWER, content };
}

function makeResult({ callId, tool }: EntryFacts): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: callId,
    toolName: tool,
    content: [],
    isError: false,
    timestamp: 0,
  };
}
