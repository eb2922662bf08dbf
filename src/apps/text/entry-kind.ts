import { fieldsOf, messageFieldsOf } from "../../core/context/entry-fields.ts";
import { textOf } from "../../core/context/message-parts.ts";
import { excerptOf } from "../../core/facts/excerpt.ts";
import { count, counted } from "../../core/facts/number-text.ts";
import { outcomeOf } from "../../core/facts/outcome.ts";
import { beginningOf, plainLine } from "../../core/facts/plain-text.ts";
import { callOf, tellingArgument, type ViewSource } from "../../core/facts/tool-calls.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";

/** How strongly entries of a kind are drawn, and in which color. */
export type Tone = "user" | "assistant" | "tool" | "command" | "summary" | "quiet" | "damaged";

/** What an entry is to a person: the role of its message, or its type. */
export interface EntryKind {
  /** At most 14 characters for the known ones. */
  readonly word: string;
  readonly many: string;
  readonly tone: Tone;
}

function kind(tone: Tone, word: string, many = `${word}s`): EntryKind {
  return { word, many, tone };
}

/** Kinds that are shown in a way of their own; compare with these, not with words. */
export const KINDS = {
  user: kind("user", "user", "user"),
  assistant: kind("assistant", "assistant", "assistant"),
  system: kind("quiet", "system", "system"),
  customMessage: kind("assistant", "custom message"),
  damaged: kind("damaged", "damaged", "damaged"),
  /** What only its program reads. */
  state: kind("quiet", "state entry", "state entries"),
};
const COMPACTION = kind("summary", "compaction");
const BRANCH_SUMMARY = kind("summary", "branch summary", "branch summaries");

/** Kinds by role, in the order in which they are counted out. */
const BY_ROLE: ReadonlyMap<unknown, EntryKind> = new Map([
  ["user", KINDS.user],
  ["assistant", KINDS.assistant],
  ["toolResult", kind("tool", "tool result")],
  ["bashExecution", kind("command", "command")],
  ["system", KINDS.system],
  ["custom", KINDS.customMessage],
  ["compactionSummary", COMPACTION],
  ["branchSummary", BRANCH_SUMMARY],
]);

const BY_TYPE: ReadonlyMap<string, EntryKind> = new Map([
  ["custom_message", KINDS.customMessage],
  ["compaction", COMPACTION],
  ["branch_summary", BRANCH_SUMMARY],
  ["model_change", kind("quiet", "model change")],
  ["thinking_level_change", kind("quiet", "thinking level")],
  ["context_edit", kind("quiet", "context edit")],
  ["label", kind("quiet", "label")],
  ["session_info", kind("quiet", "name")],
  ["usage", kind("quiet", "usage record")],
  ["custom", KINDS.state],
  ["damaged", KINDS.damaged],
]);

/** Tells an entry's kind; undefined stands for a damaged body. */
export function kindOf(entry: AnySessionEntry | undefined): EntryKind {
  if (entry === undefined) return KINDS.damaged;
  if (entry.type === "message") return kindOfMessage(fieldsOf(entry)["message"]);
  return BY_TYPE.get(entry.type) ?? otherKind(entry.type);
}

/** Tells a message's kind by its role. */
export function kindOfMessage(message: unknown): EntryKind {
  const { role } = fieldsOf(message);
  return BY_ROLE.get(role) ?? (typeof role === "string" ? otherKind(role) : KINDS.damaged);
}

/** A kind that only its program knows, by the name that it has there. */
function otherKind(name: string): EntryKind {
  const word = plainLine(name).slice(0, 40) || "?";
  return kind("quiet", word, word);
}

/** Tells whether an entry failed; undefined stands for a damaged body. */
export function isFailure(entry: AnySessionEntry | undefined): boolean {
  return entry !== undefined && outcomeOf(entry) === "failed";
}

/** What the entries of a session are, by ordinal. */
export interface EntryKinds {
  readonly kinds: readonly EntryKind[];
  readonly failures: ReadonlySet<number>;
}

/** Reads what all entries are, and which of them failed. */
export function readKinds(session: ViewSource): EntryKinds {
  const kinds: EntryKind[] = [];
  const failures = new Set<number>();
  session.readEntries(session.tree.ordinals(), (ordinal, entry) => {
    kinds[ordinal] = kindOf(entry);
    if (isFailure(entry)) failures.add(ordinal);
  });
  return { kinds, failures };
}

/** Known kinds in the order in which they are counted out, the conversation first. */
const ORDER = [...BY_ROLE.values(), ...BY_TYPE.values()];

/** How many entries there are of each kind. */
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

  /** How many there are of each kind, in words; empty if there are none. */
  get kinds(): string {
    return this.list()
      .map(({ kind: { word, many }, number }) => counted(number, word, many))
      .join(", ");
  }

  /** Says how many entries there are, how many failed, and of what kinds they are. */
  toString(): string {
    const failed = this.failed === 0 ? "" : `, ${count(this.failed)} failed`;
    return `${counted(this.total, "entry", "entries")}${failed}: ${this.kinds}`;
  }
}

/** Counts the kinds of entries; default: of all. */
export function countKinds(
  { kinds, failures }: EntryKinds,
  ordinals: Iterable<number> = kinds.keys(),
): KindCount {
  const counts = new KindCount();
  for (const ordinal of ordinals) counts.add(kinds[ordinal] ?? KINDS.damaged, failures.has(ordinal));
  return counts;
}

/**
 * Returns the line by which an entry is known where its outcome stands beside it: of a result, what was asked for; of a
 * command, the command; else what it says.
 */
export function titleOfEntry(session: Pick<ViewSource, "entryAt" | "tree">, ordinal: number): string {
  const entry = session.entryAt(ordinal);
  const { role, command } = messageFieldsOf(entry);
  const asked =
    role === "bashExecution" ? `$ ${textOf(command)}` : tellingArgument(callOf(session, ordinal)?.input);
  return beginningOf(asked) || excerptOf(entry).text;
}
