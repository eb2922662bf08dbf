import { type Spent, spentOf } from "../../../core/facts/spending.ts";
import { callsIn, resultCallId, resultToolName } from "../../../core/facts/tool-calls.ts";
import { ModelsInUse, modelName, UNKNOWN_MODEL, usageOf } from "../../../core/facts/usage.ts";
import {
  type AnySessionEntry,
  convertToLlm,
  type EntryOutcome,
  outcomeOf,
  sessionEntryToContextMessages,
} from "../../../core.ts";
import { type EntryKind, kindOf } from "../../text/entry-kind.ts";
import { type LinkedSession, type LinkedSessions, linksIn } from "./linked-sessions.ts";

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
  factsOf(entry: AnySessionEntry): EntryFacts {
    const usage = usageOf(entry);
    const calls = callsIn(entry).map(({ id, name }) => ({ id, name }));
    const facts: EntryFacts = {
      kind: kindOf(entry),
      outcome: outcomeOf(entry),
      isSent: convertToLlm(sessionEntryToContextMessages(entry)).length > 0,
      calls: calls.length === 0 ? NOTHING : calls,
      callId: resultCallId(entry),
      tool: resultToolName(entry),
      used: usage && { ...spentOf(usage), model: modelName(this.#models.of(entry)) || UNKNOWN_MODEL },
      links: linksIn(entry, this.#known),
    };
    const { kind, outcome, isSent, callId, tool, used, links } = facts;
    const isAlike = calls.length === 0 && callId === "" && !used && !links && !outcome;
    return isAlike
      ? this.#sameAs(`${kind.tone} ${isSent} ${tool}\n${kind.word}\n${kind.many}`, facts)
      : facts;
  }

  #sameAs(name: string, facts: EntryFacts): EntryFacts {
    const known = this.#alike.get(name) ?? facts;
    this.#alike.set(name, known);
    return known;
  }
}
