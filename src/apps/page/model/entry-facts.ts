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

/** What a call of a model used, and which model it was. */
export interface UsedByCall extends Readonly<Spent> {
  /** `provider/model`, or what is known of it. */
  readonly model: string;
}

/** What is known of an entry without holding its body: all that the page asks of every entry. */
export interface EntryFacts {
  readonly kind: EntryKind;
  readonly outcome: EntryOutcome | undefined;
  /** Whether models get anything of entries like this, as long as no compaction or edit takes it away. */
  readonly isSent: boolean;
  /** Whether it is an answer that calls tools and was not finished, so that its calls do not count. */
  readonly isUnfinished: boolean;
  /** The tools that it calls. */
  readonly calls: readonly { readonly id: string; readonly name: string }[];
  /** The call that it is the result of, and the tool; empty for others. */
  readonly callId: string;
  readonly tool: string;
  readonly used: UsedByCall | undefined;
  /** Other sessions that it names; undefined for none. */
  readonly links: LinkedSessions | undefined;
}

const NOTHING: readonly never[] = [];

/** What is known of an entry, and how much room it takes in a context. */
interface MeasuredFacts {
  readonly facts: EntryFacts;
  /** Estimated tokens of the messages that it contributes to a context. */
  readonly tokens: number;
}

/** Gathers the facts of entries, which are to come in the order of the file. */
export class FactsReader {
  readonly #known: ReadonlyMap<string, LinkedSession>;
  readonly #models = new ModelsInUse();
  /** Facts of entries of which only the kind is to be told, which most are: one object for each kind. */
  readonly #alike = new Map<string, EntryFacts>();

  /** @param known - Sessions that exist, by the path or id by which this one names them. */
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

/** Another session that an entry names, such as that of a subagent, and that exists. */
export interface LinkedSession {
  readonly path: string;
  /** Address of its page; undefined where no server can give it. */
  readonly href: string | undefined;
}

/** The sessions that an entry names, and the call that they are about; empty if none is. */
interface LinkedSessions {
  readonly sessions: readonly LinkedSession[];
  readonly callId: string;
}

/** What is known of an entry that may name sessions, or be the result of a call that they are about. */
interface LinkingEntry {
  readonly callId: string;
  readonly links: LinkedSessions | undefined;
}

/** Levels of nested fields in which sessions are named. */
const DEEPEST = 4;

/**
 * Finds other sessions that an entry names: in what a program stored, and in details of results.
 *
 * @param known - Sessions that exist, by the path or id by which this session names them.
 * @returns Undefined if it names none.
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
 * Finds the entries to which links belong: those that name other sessions, and the results of the calls that those are about.
 *
 * @returns By ordinal.
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
