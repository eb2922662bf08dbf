import { getMessageFields, toRecord } from "../../core/context/entry-fields.ts";
import { toText } from "../../core/context/message-parts.ts";
import { getExcerpt } from "../../core/facts/excerpt.ts";
import { formatCount, formatCounted } from "../../core/facts/number-text.ts";
import { outcomeOf } from "../../core/facts/outcome.ts";
import { toPlainLine, toShortLine } from "../../core/facts/plain-text.ts";
import { findCall, getTellingArgument, type ViewSource } from "../../core/facts/tool-calls.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";

/** Emphasis and color for a kind of entry. */
export type Tone = "user" | "assistant" | "tool" | "command" | "summary" | "quiet" | "damaged";

/** An entry's kind, as shown to people: the role of its message, or its type. */
export interface EntryKind {
  /** At most 14 characters for known kinds. */
  readonly word: string;
  readonly many: string;
  readonly tone: Tone;
  /** Whether such entries are records of state, usage, or an import, which only programs read. */
  readonly isRecord: boolean;
}

function makeKind(tone: Tone, word: string, many = `${word}s`): EntryKind {
  return { word, many, tone, isRecord: false };
}

function makeRecordKind(word: string, many?: string): EntryKind {
  return { ...makeKind("quiet", word, many), isRecord: true };
}

/** Kinds that are displayed in special ways. Compare a kind with these constants, not by its words. */
export const KINDS = {
  user: makeKind("user", "user", "user"),
  assistant: makeKind("assistant", "assistant", "assistant"),
  system: makeKind("quiet", "system", "system"),
  customMessage: makeKind("assistant", "custom message"),
  damaged: makeKind("damaged", "damaged", "damaged"),
  /** Data that a program stored for itself. */
  state: makeRecordKind("program record"),
};
const COMPACTION = makeKind("summary", "compaction");
const BRANCH_SUMMARY = makeKind("summary", "branch summary", "branch summaries");

/** Kinds by role, in the order used to list their counts. */
const BY_ROLE: ReadonlyMap<unknown, EntryKind> = new Map([
  ["user", KINDS.user],
  ["assistant", KINDS.assistant],
  ["toolResult", makeKind("tool", "tool result")],
  ["bashExecution", makeKind("command", "command")],
  ["system", KINDS.system],
  ["custom", KINDS.customMessage],
  ["compactionSummary", COMPACTION],
  ["branchSummary", BRANCH_SUMMARY],
]);

const BY_TYPE: ReadonlyMap<string, EntryKind> = new Map([
  ["custom_message", KINDS.customMessage],
  ["compaction", COMPACTION],
  ["branch_summary", BRANCH_SUMMARY],
  ["model_change", makeRecordKind("model change")],
  ["thinking_level_change", makeRecordKind("thinking level")],
  ["context_edit", makeKind("quiet", "context edit")],
  ["label", makeRecordKind("label")],
  ["session_info", makeRecordKind("name")],
  ["usage", makeRecordKind("usage record")],
  ["custom", KINDS.state],
  ["damaged", KINDS.damaged],
]);

/** Returns an entry's kind; undefined means a damaged body. */
export function getEntryKind(entry: AnySessionEntry | undefined): EntryKind {
  if (entry === undefined) return KINDS.damaged;
  if (entry.type === "message") return getMessageKind(toRecord(entry)["message"]);
  return getTypeKind(entry.type);
}

/** Returns the kind of entries of a type other than `message`, unless their bodies are damaged. */
export function getTypeKind(type: string): EntryKind {
  return BY_TYPE.get(type) ?? { ...makeOtherKind(type), isRecord: true };
}

/**
 * Returns whether entries of a kind are part of the conversation: messages, tool calls, summaries, edits of the context, and
 * damage.
 *
 * By default, views hide all other kinds: records of state, usage, and imports.
 */
export function isConversation({ isRecord }: Pick<EntryKind, "isRecord">): boolean {
  return !isRecord;
}

/** Returns a message's kind, based on its role. */
export function getMessageKind(message: unknown): EntryKind {
  const { role } = toRecord(message);
  return BY_ROLE.get(role) ?? (typeof role === "string" ? makeOtherKind(role) : KINDS.damaged);
}

/** Returns a program-specific kind, with the name from that program. */
function makeOtherKind(name: string): EntryKind {
  const word = toPlainLine(name).slice(0, 40) || "?";
  return makeKind("quiet", word, word);
}

/** Returns whether an entry failed; false for a damaged body, passed as undefined. */
export function isFailure(entry: AnySessionEntry | undefined): boolean {
  return entry !== undefined && outcomeOf(entry) === "failed";
}

/** Kinds of a session's entries, by ordinal, and the failed entries. */
export interface EntryKinds {
  readonly kinds: readonly EntryKind[];
  readonly failures: ReadonlySet<number>;
}

/** Reads the kinds of all entries, and determines which failed. */
export function readKinds(session: ViewSource): EntryKinds {
  const kinds: EntryKind[] = [];
  const failures = new Set<number>();
  session.readEntries(session.tree.ordinals(), (ordinal, entry) => {
    kinds[ordinal] = getEntryKind(entry);
    if (isFailure(entry)) failures.add(ordinal);
  });
  return { kinds, failures };
}

/** Known kinds in the order used to list their counts, with the conversation first. */
const ORDER = [...BY_ROLE.values(), ...BY_TYPE.values()];

/** Number of entries of each kind. */
export class KindCount {
  readonly #numbers = new Map<string, { kind: EntryKind; number: number }>();
  total = 0;
  failed = 0;

  add(one: EntryKind, hasFailed: boolean): void {
    const known = this.#numbers.get(one.many);
    if (known === undefined) this.#numbers.set(one.many, { kind: one, number: 1 });
    else known.number++;
    this.total++;
    if (hasFailed) this.failed++;
  }

  list(): { kind: EntryKind; number: number }[] {
    const rank = ({ kind: one }: { kind: EntryKind }) => ORDER.indexOf(one) + 1 || ORDER.length + 1;
    return [...this.#numbers.values()].sort((a, b) => rank(a) - rank(b));
  }

  /** Number of entries of each kind, in words; empty if there are no entries. */
  get kinds(): string {
    return this.list()
      .map(({ kind: { word, many }, number }) => formatCounted(number, word, many))
      .join(", ");
  }

  /** Formats the number of entries, of failures, and of each kind. */
  toString(): string {
    const failed = this.failed === 0 ? "" : `, ${formatCount(this.failed)} failed`;
    return `${formatCounted(this.total, "entry", "entries")}${failed}: ${this.kinds}`;
  }
}

/** Counts the kinds of entries; default: all entries. */
export function countKinds(
  { kinds, failures }: EntryKinds,
  ordinals: Iterable<number> = kinds.keys(),
): KindCount {
  const counts = new KindCount();
  for (const ordinal of ordinals) counts.add(kinds[ordinal] ?? KINDS.damaged, failures.has(ordinal));
  return counts;
}

/**
 * Returns a line that identifies an entry next to its outcome: for a result, the argument of its call; for a command, the
 * command; otherwise, the excerpt.
 */
export function getEntryTitle(session: Pick<ViewSource, "entryAt" | "tree">, ordinal: number): string {
  const entry = session.entryAt(ordinal);
  const { role, command } = getMessageFields(entry);
  const asked =
    role === "bashExecution" ? `$ ${toText(command)}` : getTellingArgument(findCall(session, ordinal)?.input);
  return toShortLine(asked) || getExcerpt(entry).text;
}
