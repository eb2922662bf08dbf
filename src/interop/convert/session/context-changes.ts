import { toArray, toContentBlocks, toRecord } from "../../../core/context/entry-fields.ts";
import { isContextEdit, projectContextEntry } from "../../../core/context/project-entry.ts";
import type { ProjectedSessionEntry } from "../../../core/context/session-context.ts";
import { isUnfinished } from "../../../core/context/unfinished-answer.ts";
import type { ContextEditEntry, SessionEntry } from "../../../core/format/entry.ts";
import { toSafeString } from "../../../core/format/json.ts";
import { getRedactedIds } from "../../../core/format/redaction.ts";
import type { ConversationSession } from "../append-conversation.ts";
import { isSameJson } from "../raw-form.ts";

/** Entry after which a request may no longer continue the previous request. */
export interface ContextChange {
  /** Step of the entry; a number between two steps if the entry is on a different branch. */
  readonly step: number;
  readonly entryId: string;
  /** Human-readable type of change. */
  readonly what: string;
  /** First step whose content differs; -1 for the front of the request, infinity if unknown. */
  readonly affects: number;
  /**
   * Whether the change is an edit whose effect is included in the edited spans, so that finding it does not require rewriting a
   * request.
   */
  readonly isKnown: boolean;
  /** For a redaction: steps whose former content is no longer in the tree. */
  readonly targets: readonly number[];
}

/** Range of steps during which a message that requests certainly contain had content that differs from its current content. */
interface EditedSpan {
  readonly from: number;
  readonly until: number;
  /** Id of the edit that ended the range. */
  readonly entryId: string;
}

/** Changes to a context as it grows. */
interface ContextChanges {
  readonly changes: readonly ContextChange[];
  readonly edited: readonly EditedSpan[];
}

type Step = Pick<ProjectedSessionEntry, "sourceEntry">;

/** Ids that all providers accept unchanged. */
const PLAIN_ID = /^[a-zA-Z0-9_-]{1,40}$/;

/** Matches ids that may have been assigned to a call that reuses an id. */
const NUMBERED_ID = /_\d+$/;

/**
 * Finds the selected entries that change earlier content in a request, in order.
 *
 * @param isSystemInPlace - Whether later system messages remain in their original positions.
 */
export function findChanges(steps: readonly Step[], isSystemInPlace: boolean): ContextChanges {
  const finder = new ChangeFinder(steps, isSystemInPlace);
  const changes = steps.flatMap((_, step) => finder.changeAt(step) ?? []);
  return { changes, edited: finder.editedSpans() };
}

class ChangeFinder {
  readonly #steps: readonly Step[];
  readonly #isSystemInPlace: boolean;
  readonly #stepOfId: ReadonlyMap<string, number>;
  /** Steps of answers by call id. */
  readonly #callers = new Map<string, number>();
  /** Ids of calls with a result. */
  readonly #answered = new Set<unknown>();
  /** For each step that requests certainly contain, its content over time, with the step and entry that set each version. */
  readonly #said = new Map<
    number,
    { readonly step: number; readonly entryId: string; readonly messages: unknown }[]
  >();
  readonly #edits = new Map<number, ContextEditEntry>();
  #latestAnswer = -1;
  /** Last step, if requests certainly contain it as user content before an answer. */
  #userStep: number | undefined;

  constructor(steps: readonly Step[], isSystemInPlace: boolean) {
    this.#steps = steps;
    this.#isSystemInPlace = isSystemInPlace;
    this.#stepOfId = stepsById(steps);
  }

  /** Must be called for each step in order. */
  changeAt(step: number): ContextChange | undefined {
    const entry = this.#steps[step]?.sourceEntry;
    if (entry === undefined) return undefined;
    const affects = this.#affectedBy(entry, step);
    if (affects === undefined) return undefined;
    const isKnown = entry.type === "context_edit" && this.#said.has(affects);
    return { step, entryId: entry.id, what: nameKind(entry), affects, isKnown, targets: [] };
  }

  editedSpans(): EditedSpan[] {
    return [...this.#said.values()].flatMap((states) => {
      const now = states.at(-1)?.messages;
      return states.flatMap(({ step: from, messages }, at) => {
        const next = states[at + 1];
        if (next === undefined || isSameJson(messages, now)) return [];
        return [{ from, until: next.step, entryId: next.entryId }];
      });
    });
  }

  #affectedBy(entry: SessionEntry, step: number): number | undefined {
    if (isContextEdit(entry)) return this.#affectedByEdit(entry, step);
    const message = entry.type === "message" ? entry.message : undefined;
    const { role, content, toolCallId } = toRecord(message);
    if (role === "system") return this.#isSystemInPlace ? undefined : -1;
    // Requests do not contain unfinished answers.
    if (message !== undefined && isUnfinished(message)) return undefined;
    if (role === "assistant") return this.#affectedByAnswer(content, step);
    const caller = role === "toolResult" ? this.#callers.get(toSafeString(toolCallId)) : undefined;
    if (role === "user" || caller !== undefined) this.#userStep = isSaid(content) ? step : undefined;
    if (this.#userStep === step && !this.#answered.has(toolCallId)) {
      if (toolCallId !== undefined) this.#answered.add(toolCallId);
      this.#said.set(step, [{ step, entryId: entry.id, messages: projectContextEntry(entry) }]);
    }
    return caller === this.#latestAnswer ? undefined : caller;
  }

  #affectedByEdit(edit: ContextEditEntry, step: number): number | undefined {
    const target = this.#stepOfId.get(edit.targetId);
    const entry = target === undefined ? undefined : this.#steps[target]?.sourceEntry;
    if (target === undefined || entry === undefined) return undefined;
    if (target === this.#userStep) this.#userStep = undefined;
    const before = projectContextEntry(entry, this.#edits.get(target));
    this.#edits.set(target, edit);
    const messages = projectContextEntry(entry, edit);
    if (isSameJson(before, messages)) return undefined;
    this.#said.get(target)?.push({ step, entryId: edit.id, messages });
    return target;
  }

  /**
   * An answer that does not follow user content, or that has ids that a request changes, may change how earlier content
   * is written.
   */
  #affectedByAnswer(content: unknown, step: number): number | undefined {
    const calls = toArray(content).map(toRecord);
    const ids = calls.flatMap(({ type, id }) => (type === "toolCall" ? [toSafeString(id)] : []));
    const isOdd = ids.some((id) => !PLAIN_ID.test(id) || NUMBERED_ID.test(id) || this.#callers.has(id));
    const isFirst = this.#userStep === undefined;
    for (const id of ids) this.#callers.set(id, step);
    this.#latestAnswer = step;
    this.#userStep = undefined;
    return isOdd || isFirst ? Number.POSITIVE_INFINITY : undefined;
  }
}

/** Returns whether content includes nonblank text, so that every request contains it. */
function isSaid(content: unknown): boolean {
  return toContentBlocks(content).some((block) => toSafeString(toRecord(block)["text"] ?? "").trim() !== "");
}

/**
 * Finds redactions of the selected entries on any branch.
 *
 * @remarks Cost: O(entries) in heads, plus the bodies of custom entries.
 */
export function findRedactions(session: ConversationSession, steps: readonly Step[]): ContextChange[] {
  const stepOfId = stepsById(steps);
  const entries =
    session.walk?.(undefined, { type: "custom" }) ?? session.getEntries?.() ?? session.getBranch();
  return [...entries].flatMap((record) => {
    const targets = getRedactedIds(record).flatMap((id) => stepOfId.get(id) ?? []);
    if (targets.length === 0) return [];
    const step = stepOfId.get(record.id) ?? lastBefore(record, session, steps) + 0.5;
    return [
      { step, entryId: record.id, what: "redaction", affects: Math.min(...targets), isKnown: false, targets },
    ];
  });
}

/** Returns the last step that existed before an entry on another branch. */
function lastBefore(record: SessionEntry, session: ConversationSession, steps: readonly Step[]): number {
  const entries = session.getEntries?.();
  if (entries === undefined)
    return steps.findLastIndex(({ sourceEntry }) => sourceEntry.timestamp <= record.timestamp);
  const older = new Set(
    entries
      .slice(
        0,
        entries.findIndex(({ id }) => id === record.id),
      )
      .map(({ id }) => id),
  );
  return steps.findLastIndex(({ sourceEntry }) => older.has(sourceEntry.id));
}

function stepsById(steps: readonly Step[]): ReadonlyMap<string, number> {
  return new Map(steps.map(({ sourceEntry }, step) => [sourceEntry.id, step]));
}

/** Returns a human-readable name for the type of an entry that changes earlier content. */
function nameKind(entry: SessionEntry): string {
  if (entry.type === "context_edit") return "context edit";
  const { role } = toRecord(entry.type === "message" ? entry.message : undefined);
  if (role === "system") return "system message";
  return role === "toolResult" ? "late result" : "answer";
}
