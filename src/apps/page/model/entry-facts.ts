import { estimateAll } from "../../../core/compaction/tokens.ts";
import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { isUnfinished } from "../../../core/context/unfinished-answer.ts";
import { type EntryOutcome, outcomeOf } from "../../../core/facts/outcome.ts";
import { getResultCallId, getResultToolName, getToolCalls } from "../../../core/facts/tool-calls.ts";
import { findUsage, formatModelName, ModelsInUse, UNKNOWN_MODEL } from "../../../core/facts/usage.ts";
import { type Spent, toSpent } from "../../../core/facts/usage-tally.ts";
import {
  type AgentMessage,
  type AnySessionEntry,
  convertToLlm,
  sessionEntryToContextMessages,
} from "../../../core.ts";
import { type EntryKind, getEntryKind } from "../../text/entry-kind.ts";

/** Usage of a model call, and its model. */
export interface UsedByCall extends Readonly<Spent> {
  /** `provider/model`, or as much of it as is known. */
  readonly model: string;
}

/** Facts about an entry that are kept without its body: all data that the page needs from every entry. */
export interface EntryFacts {
  readonly kind: EntryKind;
  readonly outcome: EntryOutcome | undefined;
  /** Whether models receive anything from entries like this one, unless a compaction or edit removes it. */
  readonly isSent: boolean;
  /** Whether it is an unfinished answer with tool calls, which are ignored. */
  readonly isUnfinished: boolean;
  /** Tool calls in the entry. */
  readonly calls: readonly { readonly id: string; readonly name: string }[];
  /** For a result, the id of its call, and the tool; empty for other entries. */
  readonly callId: string;
  readonly tool: string;
  readonly used: UsedByCall | undefined;
  /** Other sessions that it refers to; undefined if it does not refer to any. */
  readonly links: LinkedSessions | undefined;
}

const NOTHING: readonly never[] = [];

/** Facts about an entry, and its size in a context. */
interface MeasuredFacts {
  readonly facts: EntryFacts;
  /** Estimated tokens of the messages that it contributes to a context. */
  readonly tokens: number;
}

/** Gathers the facts of entries, which must arrive in file order. */
export class FactsReader {
  readonly #known: ReadonlyMap<string, LinkedSession>;
  readonly #models = new ModelsInUse();
  /** Facts of entries that differ only in kind, as most do: one shared object per kind. */
  readonly #alike = new Map<string, EntryFacts>();

  /** @param known - Sessions that exist, by the path or id that this session uses for them. */
  constructor(known: ReadonlyMap<string, LinkedSession>) {
    this.#known = known;
  }

  /** @remarks Cost: O(size of the entry). */
  measure(entry: AnySessionEntry): MeasuredFacts {
    const messages = sessionEntryToContextMessages(entry);
    return { facts: this.#getFacts(entry, messages), tokens: estimateAll(messages) };
  }

  #getFacts(entry: AnySessionEntry, messages: readonly AgentMessage[]): EntryFacts {
    const usage = findUsage(entry);
    const calls = getToolCalls(entry).map(({ id, name }) => ({ id, name }));
    const facts: EntryFacts = {
      kind: getEntryKind(entry),
      outcome: outcomeOf(entry),
      isSent: convertToLlm(messages).length > 0,
      isUnfinished: calls.length > 0 && messages.some(isUnfinished),
      calls: calls.length === 0 ? NOTHING : calls,
      callId: getResultCallId(entry),
      tool: getResultToolName(entry),
      used: usage && { ...toSpent(usage), model: formatModelName(this.#models.of(entry)) || UNKNOWN_MODEL },
      links: findLinks(entry, this.#known),
    };
    const { kind, outcome, isSent, callId, tool, used, links } = facts;
    const isAlike = calls.length === 0 && callId === "" && !used && !links && !outcome;
    return isAlike
      ? this.#sameAs(`${kind.tone} ${kind.isRecord} ${isSent} ${tool}\n${kind.word}\n${kind.many}`, facts)
      : facts;
  }

  #sameAs(name: string, facts: EntryFacts): EntryFacts {
    const known = this.#alike.get(name) ?? facts;
    this.#alike.set(name, known);
    return known;
  }
}

/** Existing session that an entry of another session refers to, such as a subagent's session. */
export interface LinkedSession {
  readonly path: string;
  /** Address of its page; undefined if no server can serve it. */
  readonly href: string | undefined;
}

/** Sessions that an entry refers to, and the id of the call that they belong to; the id is empty without a call. */
interface LinkedSessions {
  readonly sessions: readonly LinkedSession[];
  readonly callId: string;
}

/** Facts about an entry that may refer to sessions, or be the result of a call that they belong to. */
interface LinkingEntry {
  readonly callId: string;
  readonly links: LinkedSessions | undefined;
}

/** Maximum depth of nested fields that are searched for session names. */
const DEEPEST = 4;

/**
 * Finds the other sessions that an entry refers to in program data and in result details.
 *
 * @param known - Sessions that exist, by the path or id that this session uses for them.
 * @returns Undefined if there are none.
 */
export function findLinks(
  entry: AnySessionEntry,
  known: ReadonlyMap<string, LinkedSession>,
): LinkedSessions | undefined {
  if (known.size === 0) return undefined;
  const fields = toRecord(entry);
  const stored = [fields["data"], fields["details"], toRecord(fields["message"])["details"]];
  const sessions = stored.flatMap((value) => findNames(value, 0)).flatMap((name) => known.get(name) ?? []);
  if (sessions.length === 0) return undefined;
  return { sessions, callId: toText(toRecord(fields["data"])["toolCallId"]) };
}

/**
 * Finds the entries that links belong to: entries that refer to other sessions, and results of the calls that the sessions belong
 * to.
 *
 * @returns Links by ordinal.
 * @remarks Cost: O(entries).
 */
export function mapLinkedSessions(facts: readonly LinkingEntry[]): Map<number, readonly LinkedSession[]> {
  const links = new Map<number, Set<LinkedSession>>();
  const naming = facts.flatMap(({ links: one }, ordinal) => (one === undefined ? [] : { ...one, ordinal }));
  if (naming.length === 0) return new Map();
  const results = new Map<string, number>();
  facts.forEach(({ callId }, ordinal) => {
    results.set(callId, ordinal);
  });
  for (const { ordinal, callId, sessions } of naming) {
    const answered = callId === "" ? undefined : results.get(callId);
    for (const at of answered === undefined ? [ordinal] : [ordinal, answered]) {
      const some = links.get(at) ?? new Set();
      for (const one of sessions) some.add(one);
      links.set(at, some);
    }
  }
  return new Map(Array.from(links, ([ordinal, some]) => [ordinal, [...some]]));
}

function findNames(value: unknown, depth: number): string[] {
  if (typeof value === "string") return [value];
  if (depth > DEEPEST) return [];
  const parts = Array.isArray(value) ? toArray(value) : Object.values(toRecord(value));
  return parts.flatMap((part) => findNames(part, depth + 1));
}
