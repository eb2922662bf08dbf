import { isContextEdit, projectContextEntry } from "../../../core/context/project-entry.ts";
import type { ProjectedSessionEntry } from "../../../core/context/session-context.ts";
import type { ContextEditEntry, SessionEntry } from "../../../core/format/entry.ts";
import { findImportOrigin } from "../../../core/format/import-origin.ts";
import type { AgentMessage } from "../../../core/format/message.ts";
import type { ConversationSession } from "../append-conversation.ts";
import { withTypedFields } from "../typed-message.ts";
import { type ContextChange, findChanges, findRedactions } from "./context-changes.ts";
import { listVoidEntries } from "./input-transformations.ts";
import { keptRecord, type ProviderSummary, type RequestRecord } from "./provider-summary.ts";
import {
  digestSystem,
  digestTools,
  hashMessages,
  readRecord,
  type WrittenMessage,
} from "./request-digest.ts";

/** Message of a context, with its step and entry. */
export interface ContextItem {
  readonly message: AgentMessage;
  readonly step: number;
  readonly entry: SessionEntry;
}

/** Reason why thinking is invalid. */
export interface VoidThinking {
  /** Human-readable reason that completes the sentence "Dropped thinking …". */
  readonly why: string;
  /** Id of the entry that invalidated the thinking; undefined if no entry invalidated it. */
  readonly causedBy: string | undefined;
}

/** Request whose thinking to check. */
export interface BoundRequest {
  readonly session: ConversationSession;
  readonly steps: readonly ProjectedSessionEntry[];
  readonly items: readonly ContextItem[];
  /** Form of the request. The results apply only to this form. */
  readonly form: string;
  readonly isSystemInPlace: boolean;
  /** Writes a request from messages, without their thinking. */
  write(messages: readonly AgentMessage[]): { readonly system: string; readonly messages: WrittenMessage[] };
  /** System text that is sent, if it differs from the session's. */
  readonly system: unknown;
  /** Tools that are sent. */
  readonly tools: unknown;
  /** Summary from the provider at the start of the request. */
  readonly summary: ProviderSummary | undefined;
}

/** Hashes of the content before an answer. */
type Prefix = Pick<RequestRecord, "system" | "messages">;

/** Hashes of the content before each answer in a request, by step, and of the whole request. */
interface RequestHashes {
  readonly system: string;
  readonly beforeStep: ReadonlyMap<number, string>;
  readonly all: string;
}

/** Prefixes of answers, by entry. A prefix never changes. */
const prefixes = new WeakMap<SessionEntry, Map<string, Prefix>>();

/**
 * Finds the answers in a request whose thinking is invalid because the preceding content differs from the request they
 * answered.
 *
 * The original request can be reconstructed from the tree, because an answer was created from the context at its
 * parent. Writes that request again and compares hashes, but only if an entry after the answer may have changed the
 * content.
 */
export class BoundThinking {
  readonly #request: BoundRequest;
  readonly #changes: readonly ContextChange[];
  readonly #edited: ReturnType<typeof findChanges>["edited"];
  readonly #redactions: readonly ContextChange[];
  readonly #isImported: boolean;
  /**
   * Ids of answers whose requests contained thinking that the provider reported as invalid, keyed by the id of the entry that
   * contains the thinking.
   */
  readonly #reported: ReadonlyMap<string, string>;
  /** Number of steps before the end of the context's compaction; 0 if there is no compaction. */
  readonly #keptSteps: number;
  readonly #hashes = new Map<string, RequestHashes>();

  constructor(request: BoundRequest) {
    const { session, steps, items, isSystemInPlace } = request;
    this.#request = request;
    const { changes, edited } = findChanges(steps, isSystemInPlace);
    this.#changes = changes;
    this.#edited = edited;
    this.#redactions = findRedactions(session, steps);
    this.#reported = new Map(
      items.flatMap(({ message, entry }) => listVoidEntries(message).map((id) => [id, entry.id] as const)),
    );
    this.#keptSteps = countKept(steps);
    this.#isImported = session.getChildren(null).some((root) => findImportOrigin(root) !== undefined);
  }

  /** Returns the reason that an answer's thinking is invalid; undefined if it is valid. */
  find({ message, step, entry }: ContextItem): VoidThinking | undefined {
    const reported = this.#reported.get(entry.id);
    if (reported !== undefined) return { why: "that the provider found invalid", causedBy: reported };
    if (step < this.#keptSteps) return this.#findKept(message, step, entry);
    const record = readRecord(message);
    if (record !== undefined) return this.#findByRecord(record, step, entry);
    if (this.#isImported) return { why: "that was created elsewhere", causedBy: undefined };
    const redaction = this.#redactions.find((one) => this.#isRedactedBefore(step, one));
    if (redaction !== undefined) return voidSince(redaction.what, redaction.entryId);
    const edit = this.#edited.find(({ from, until }) => from < step && step < until);
    if (edit !== undefined) return voidSince("context edit", edit.entryId);
    if (!this.#isChange(step) && this.#changes.every((one) => one.step < step || one.isKnown))
      return undefined;
    const prefix = this.#prefix(step, entry);
    return prefix === undefined || this.#isNow(prefix, step) ? undefined : this.#cause(step);
  }

  /**
   * Works like `find`, but for an answer that a compaction keeps. Thinking remains valid only after a summary from its own
   * provider.
   */
  #findKept(message: AgentMessage, step: number, entry: SessionEntry): VoidThinking | undefined {
    const { summary, steps } = this.#request;
    const record = summary && (readRecord(message) ?? keptRecord(summary, entry.id));
    if (record === undefined) return voidSince("compaction", steps[0]?.sourceEntry.id ?? "");
    return this.#findByRecord(record, step, entry);
  }

  #findByRecord(record: RequestRecord, step: number, entry: SessionEntry): VoidThinking | undefined {
    const { system, tools } = this.#request;
    const now = this.#hashesAt(this.#request.steps.length);
    if (tools !== undefined && record.tools !== "" && digestTools(tools) !== record.tools)
      return { why: "whose request had different tools", causedBy: undefined };
    if (record.messages !== now.beforeStep.get(step))
      return this.#cause(step, "whose request had different messages", this.#compactionAt(step));
    // If the host does not pass the system text, only the session's part of it can have changed.
    const isSame =
      system === undefined
        ? record.system === now.system || this.#isSystemAsMade(step, entry, now)
        : record.system === digestSystem(system);
    return isSame ? undefined : this.#systemCause(step);
  }

  /**
   * Returns the hashes of the content before an answer when it was created; undefined if that content cannot have
   * changed.
   */
  #prefix(step: number, entry: SessionEntry): Prefix | undefined {
    if (this.#nextChange(step) === undefined && !this.#isChange(step)) return undefined;
    const { form } = this.#request;
    const known = prefixes.get(entry)?.get(form);
    if (known !== undefined) return known;
    const prefix = this.#makePrefix(step);
    prefixes.set(entry, (prefixes.get(entry) ?? new Map<string, Prefix>()).set(form, prefix));
    return prefix;
  }

  /** Hashes the request that an answer was created from, with the content of step `marked` replaced. */
  #makePrefix(step: number, marked?: number): Prefix {
    // Each request continues the previous one until an entry changes earlier content.
    const end = this.#isChange(step) ? step : (this.#nextChange(step)?.step ?? this.#request.steps.length);
    const { system, beforeStep, all } = this.#hashesAt(end, marked);
    return { system, messages: end === step ? all : (beforeStep.get(step) ?? "") };
  }

  #nextChange(step: number): ContextChange | undefined {
    return this.#changes.find((change) => change.step > step);
  }

  #isChange(step: number): boolean {
    return this.#changes.some((change) => change.step === step);
  }

  /**
   * Returns whether a redaction removed content before an answer. If so, replacing that content changes the hashes.
   */
  #isRedactedBefore(step: number, redaction: ContextChange): boolean {
    if (redaction.step <= step) return false;
    return redaction.targets.some((target) => {
      if (target >= step) return false;
      const [as, marked] = [this.#makePrefix(step), this.#makePrefix(step, target)];
      return as.system !== marked.system || as.messages !== marked.messages;
    });
  }

  #isSystemAsMade(step: number, entry: SessionEntry, now: RequestHashes): boolean {
    if (step < this.#keptSteps) return false;
    const prefix = this.#prefix(step, entry);
    return prefix === undefined || prefix.system === now.system;
  }

  #isNow({ system, messages }: Prefix, step: number): boolean {
    const now = this.#hashesAt(this.#request.steps.length);
    return system === now.system && messages === now.beforeStep.get(step);
  }

  /**
   * Returns the compaction that keeps a step. It may not keep all that a later request contained before the step, such as a
   * late result.
   */
  #compactionAt(step: number): SessionEntry | undefined {
    return step < this.#keptSteps ? this.#request.steps[0]?.sourceEntry : undefined;
  }

  /**
   * Finds the entry after a step that changed content before the step.
   *
   * @param otherwise - Reason if there is neither such an entry nor a compaction.
   * @param compaction - Compaction to name if there is no such entry.
   */
  #cause(
    step: number,
    otherwise = "whose request cannot be repeated",
    compaction?: SessionEntry,
  ): VoidThinking {
    const after = this.#changesAfter(step);
    // An answer directly after another is itself a change, because its request ended with content that is no longer at
    // the end.
    const own = this.#changes.find((one) => one.step === step);
    const change = after.find(({ affects }) => affects < step) ?? after[0] ?? own;
    if (change !== undefined) return voidSince(change.what, change.entryId);
    return compaction === undefined
      ? { why: otherwise, causedBy: undefined }
      : voidSince("compaction", compaction.id);
  }

  /** Finds the entry after a step that changed the system text. The host may also have passed another one. */
  #systemCause(step: number): VoidThinking {
    const change = this.#changesAfter(step).find(({ affects }) => affects < step);
    return change === undefined
      ? { why: "whose request had a different system text", causedBy: undefined }
      : voidSince(change.what, change.entryId);
  }

  #changesAfter(step: number): ContextChange[] {
    return [...this.#changes, ...this.#redactions]
      .filter((change) => change.step > step)
      .sort((a, b) => a.step - b.step);
  }

  /** Hashes the request that consists of the first steps. */
  #hashesAt(end: number, marked?: number): RequestHashes {
    const key = `${end} ${marked}`;
    const known = this.#hashes.get(key);
    if (known !== undefined) return known;
    const items = itemsUpTo(this.#request.steps, end, marked);
    const { system, messages } = this.#request.write(items.map(({ message }) => message));
    const beforeStep = new Map<number, string>();
    const { before, all } = hashMessages(messages, (index) => items[index]);
    messages.forEach(({ role, index }, at) => {
      const [item, hash] = [items[index], before[at]];
      if (role === "assistant" && item !== undefined && hash !== undefined) beforeStep.set(item.step, hash);
    });
    const hashes = { system: digestSystem(system), beforeStep, all };
    this.#hashes.set(key, hashes);
    return hashes;
  }
}

/** Returns the number of steps in the compaction at the start of a context, including the steps it keeps. */
function countKept([first, ...others]: readonly ProjectedSessionEntry[]): number {
  if (first?.sourceEntry.type !== "compaction") return 0;
  const { id } = first.sourceEntry;
  const after = others.findIndex(({ sourceEntry }) => sourceEntry.parentId === id);
  return after === -1 ? others.length + 1 : after + 1;
}

function voidSince(what: string, entryId: string): VoidThinking {
  return { why: `that has been invalid since the ${what} ${entryId}`, causedBy: entryId };
}

/**
 * Returns the messages of the first steps as they were before the later steps existed, with typed fields.
 *
 * @param marked - Step whose messages are replaced by other content, to determine whether a request contains them.
 */
export function itemsUpTo(
  steps: readonly ProjectedSessionEntry[],
  end: number,
  marked?: number,
): ContextItem[] {
  const [now, then] = [latestEdits(steps, steps.length), latestEdits(steps, end)];
  const mark = marked === undefined ? undefined : steps[marked]?.sourceEntry;
  return steps.slice(0, end).flatMap(({ sourceEntry: entry, messages }, step) => {
    const edit = then.get(entry.id);
    const said = edit === now.get(entry.id) ? messages : projectContextEntry(entry, edit);
    const isMarked = mark !== undefined && mark === (edit ?? entry);
    return said.map(withTypedFields).map((message) => ({
      message: isMarked ? withMark(message) : message,
      step,
      entry,
    }));
  });
}

function latestEdits(steps: readonly ProjectedSessionEntry[], end: number): Map<string, ContextEditEntry> {
  const edits = new Map<string, ContextEditEntry>();
  for (const { sourceEntry } of steps.slice(0, end))
    if (isContextEdit(sourceEntry)) edits.set(sourceEntry.targetId, sourceEntry);
  return edits;
}

/** Returns a message of the same type with different content. */
function withMark(message: AgentMessage): AgentMessage {
  const mark = { type: "text" as const, text: "\u0001" };
  switch (message.role) {
    case "assistant":
      return { ...message, content: [mark, ...message.content.filter(({ type }) => type === "toolCall")] };
    case "bashExecution":
      return { ...message, command: mark.text };
    case "branchSummary":
    case "compactionSummary":
      return { ...message, summary: mark.text };
    case "system":
      return { ...message, content: mark.text };
    case "user":
    case "toolResult":
    case "custom":
      return { ...message, content: [mark] };
    default:
      return message;
  }
}
