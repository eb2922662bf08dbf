import { fieldsOf } from "../../context/entry-fields.ts";
import { outcomeOf } from "../../context/outcome.ts";
import type { AnySessionEntry } from "../../schema/entry.ts";
import type { SessionView } from "../session-view.ts";
import { plainLine } from "../text/plain.ts";
import { count, counted } from "../text/words.ts";

/** How entries of a kind are drawn: which colour, and how strongly. */
export type KindStyle = "user" | "assistant" | "tool" | "command" | "summary" | "quiet" | "damaged";

/** What an entry is to a person: the role of its message, or its type. */
export interface EntryKind {
  /** The word in a column, at most ten characters for the known ones. */
  readonly word: string;
  readonly one: string;
  readonly many: string;
  readonly style: KindStyle;
}

function kind(style: KindStyle, word: string, one = word, many = one): EntryKind {
  return { word, one, many, style };
}

const DAMAGED = kind("damaged", "damaged", "damaged entry", "damaged entries");

/** Kinds by role, in the order in which they are counted out. */
const BY_ROLE: ReadonlyMap<string, EntryKind> = new Map([
  ["user", kind("user", "user")],
  ["assistant", kind("assistant", "assistant")],
  ["toolResult", kind("tool", "tool", "tool result", "tool results")],
  ["bashExecution", kind("command", "command", "command", "commands")],
  ["system", kind("quiet", "system")],
  ["custom", kind("assistant", "custom", "custom message", "custom messages")],
  ["compactionSummary", kind("summary", "compaction", "compaction", "compactions")],
  ["branchSummary", kind("summary", "summary", "branch summary", "branch summaries")],
]);

const BY_TYPE: ReadonlyMap<string, EntryKind> = new Map([
  ["custom_message", kind("assistant", "custom", "custom message", "custom messages")],
  ["compaction", kind("summary", "compaction", "compaction", "compactions")],
  ["branch_summary", kind("summary", "summary", "branch summary", "branch summaries")],
  ["model_change", kind("quiet", "model", "model change", "model changes")],
  ["thinking_level_change", kind("quiet", "thinking", "thinking level", "thinking levels")],
  ["context_edit", kind("quiet", "edit", "context edit", "context edits")],
  ["label", kind("quiet", "label", "label", "labels")],
  ["session_info", kind("quiet", "name", "name", "names")],
  ["usage", kind("quiet", "usage", "usage record", "usage records")],
  ["custom", kind("quiet", "state", "state entry", "state entries")],
]);

/** Tells an entry's kind; undefined stands for a damaged body. */
export function kindOf(entry: AnySessionEntry | undefined): EntryKind {
  if (entry === undefined) return DAMAGED;
  if (entry.type === "message") return kindOfMessage(fieldsOf(entry)["message"]);
  return BY_TYPE.get(entry.type) ?? otherKind(entry.type);
}

/** Tells whether an entry failed; undefined stands for a damaged body. */
export function isFailure(entry: AnySessionEntry | undefined): boolean {
  return entry !== undefined && outcomeOf(entry) === "failed";
}

/** Tells a message's kind by its role. */
export function kindOfMessage(message: unknown): EntryKind {
  const role = String(fieldsOf(message)["role"]);
  return BY_ROLE.get(role) ?? otherKind(role);
}

function otherKind(name: string): EntryKind {
  return kind("quiet", plainLine(name).slice(0, 40) || "?");
}

/** What the entries of a session are, by ordinal. */
export interface EntryKinds {
  readonly kinds: readonly EntryKind[];
  /** The entries that failed. */
  readonly failures: ReadonlySet<number>;
}

/**
 * Reads what all entries are, and which of them failed.
 *
 * @remarks Cost: O(session).
 */
export function readKinds(session: SessionView): EntryKinds {
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
  /** How many of them failed. */
  failed = 0;

  add(one: EntryKind, hasFailed: boolean): void {
    const known = this.#numbers.get(one.many);
    if (known === undefined) this.#numbers.set(one.many, { kind: one, number: 1 });
    else known.number++;
    this.total++;
    if (hasFailed) this.failed++;
  }

  /** The kinds and how many there are of each. */
  list(): { kind: EntryKind; number: number }[] {
    const rank = ({ kind: one }: { kind: EntryKind }) => ORDER.indexOf(one) + 1 || ORDER.length + 1;
    return [...this.#numbers.values()].sort((a, b) => rank(a) - rank(b));
  }

  /** How many there are of each kind, in words; empty if there are none. */
  get kinds(): string {
    return this.list()
      .map(({ kind: { one, many }, number }) => counted(number, one, many))
      .join(", ");
  }

  /** Says how many entries there are, how many failed, and of what kinds they are. */
  toString(): string {
    const failed = this.failed === 0 ? "" : `, ${count(this.failed)} failed`;
    return `${counted(this.total, "entry", "entries")}${failed}: ${this.kinds}`;
  }
}

/** Counts the kinds of entries. */
export function countKinds({ kinds, failures }: EntryKinds): KindCount {
  const counts = new KindCount();
  for (const [ordinal, one] of kinds.entries()) counts.add(one, failures.has(ordinal));
  return counts;
}
