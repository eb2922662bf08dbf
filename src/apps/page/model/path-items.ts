import { toRecord } from "../../../core/context/entry-fields.ts";
import type { EntryPath } from "../../../core/context/entry-path.ts";
import { type ProjectedSessionEntry, projectPath } from "../../../core/context/session-context.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import {
  type AgentMessage,
  type AnySessionEntry,
  type ContextUsageEstimate,
  convertToLlm,
  estimateProjectedContextTokens,
  type Message,
  repairToolPairs,
  type SessionProjection,
  sessionEntryToContextMessages,
  type ToolPairRepair,
} from "../../../core.ts";
import { KINDS } from "../../text/entry-kind.ts";
import { getKindAt, getPathTo, hasFailedAt, type SessionModel } from "./session-model.ts";

/**
 * What the model gets of an entry at the end of the path:
 *
 * - `seen`: what is stored; `edited`: something else, because of a context edit; `removed`: nothing, because of one.
 * - `compacted`: nothing, because a compaction replaces it.
 * - `aside`: nothing, as always with entries of its kind.
 */
export type ItemState = "seen" | "edited" | "removed" | "compacted" | "aside";

/** What a state means, for a person; empty where there is nothing to say, or a notice says it. */
export const STATE_WORDS: { readonly [state in ItemState]: string } = {
  seen: "",
  edited: "edited for the model",
  removed: "removed from the context",
  compacted: "",
  aside: "",
};

/** What the model sees of compacted entries. */
export const COMPACTED_HINT = "the model sees a summary instead";

/** Says why an entry looks as it does; undefined where that needs no word. */
export const STATE_HINTS: { readonly [state in ItemState]: string | undefined } = {
  seen: undefined,
  edited: "The model sees something else here, because of a context edit",
  removed: "Removed by a context edit: the model does not see this",
  compacted: `Compacted: ${COMPACTED_HINT}`,
  aside: "Kept for people and programs: the model does not see this",
};

/** An entry of a path, as the conversation shows it. */
export interface PathItem {
  readonly ordinal: number;
  readonly entry: AnySessionEntry;
  readonly state: ItemState;
  readonly hasFailed: boolean;
}

/** An entry that the model gets something of, and what it gets. */
export interface ModelItem {
  readonly ordinal: number;
  readonly entry: AnySessionEntry;
  readonly messages: readonly Message[];
  readonly state: "seen" | "edited";
  readonly hasFailed: boolean;
}

/** A path from the root to an entry, and what the model sees there. */
export interface PathView {
  /** The last entry; NONE before the first. */
  readonly end: number;
  readonly items: readonly PathItem[];
  /** What the model sees, in the order in which it does. */
  readonly modelItems: readonly ModelItem[];
  /** What would have to be mended before a provider takes these messages. */
  readonly repairs: readonly ToolPairRepair[];
  readonly thinkingLevel: string;
  readonly model: SessionProjection["model"];
  /** Size of what the model sees. */
  readonly contextSize: ContextUsageEstimate;
  /** Index on the path of each entry, by ordinal. */
  readonly indices: Pick<ByOrdinal, "get" | "has">;
}

/**
 * Projects the path to an entry.
 *
 * @remarks Cost: O(path).
 */
export function viewPath(session: SessionModel, end: number): PathView {
  const { tree } = session;
  const path = getPathTo(session, end);
  const indices = new ByOrdinal(path);
  for (const [index, ordinal] of path.entries()) indices.set(ordinal, index);
  const projection = projectPath(makeEntryPath(session, path, indices));
  const contributions = new Map(projection.entries.map((one) => [tree.find(one.sourceEntry.id), one]));
  const isType = (type: string) => (ordinal: number) => tree.typeAt(ordinal) === type;
  const edits = tree.hasType("context_edit") ? path.filter(isType("context_edit")) : [];
  const targets = new Set(edits.map((edit) => toRecord(session.entryAt(edit))["targetId"]));
  const getItemState = (ordinal: number) => getStateAt(session, ordinal, contributions.get(ordinal), targets);
  const modelItems = projection.entries.flatMap(
    ({ sourceEntry: entry, messages: contributed }): ModelItem[] => {
      const ordinal = tree.find(entry.id);
      const messages = convertToLlm(contributed);
      const state = getItemState(ordinal) === "edited" ? "edited" : "seen";
      const hasFailed = hasFailedAt(session, ordinal);
      return messages.length === 0 ? [] : [{ ordinal, entry, messages, state, hasFailed }];
    },
  );
  const changedAt = path.findLastIndex((one) => isType("compaction")(one) || isType("context_edit")(one));
  const sinceChange = path.slice(Math.max(0, changedAt)).flatMap((one) => session.entryAt(one) ?? []);
  return {
    end,
    items: path.map((ordinal) => new StoredItem(session, ordinal, getItemState(ordinal))),
    modelItems,
    repairs: repairToolPairs(convertToLlm(projection.messages)).repairs,
    thinkingLevel: projection.thinkingLevel,
    model: projection.model,
    contextSize: estimateProjectedContextTokens(projection, sinceChange),
    indices,
  };
}

/** Types of which models usually get something: what counts until more is known of an entry. */
const SENT_TYPES: ReadonlySet<string> = new Set([
  "message",
  "custom_message",
  "compaction",
  "branch_summary",
]);

/** An entry of a path, whose body is read when somebody asks for it. */
class StoredItem implements PathItem {
  readonly #session: SessionModel;
  readonly ordinal: number;
  readonly state: ItemState;

  constructor(session: SessionModel, ordinal: number, state: ItemState) {
    this.#session = session;
    this.ordinal = ordinal;
    this.state = state;
  }

  get hasFailed(): boolean {
    return hasFailedAt(this.#session, this.ordinal);
  }

  get entry(): AnySessionEntry {
    const entry = this.#session.entryAt(this.ordinal);
    if (entry === undefined) throw new RangeError(`the session has no entry ${this.ordinal}`);
    return entry;
  }
}

function makeEntryPath(
  session: SessionModel,
  path: readonly number[],
  indices: Pick<ByOrdinal, "get">,
): EntryPath {
  const at = (index: number) => {
    const ordinal = path[index] ?? NONE;
    return getKindAt(session, ordinal) === KINDS.damaged ? undefined : session.entryAt(ordinal);
  };
  const { tree } = session;
  return {
    length: path.length,
    mayHold: (type) => tree.hasType(type),
    typeAt: (index) => tree.typeAt(path[index] ?? NONE),
    entryAt: at,
    entriesAt: (some) => some.map(at),
    indexOf: (id) => indices.get(tree.find(id)) ?? -1,
  };
}

/**
 * @param contributed - What the entry contributes to the context; undefined if it was not chosen for it.
 * @param targets - Entries that context edits on the path speak of.
 */
function getStateAt(
  { facts, tree }: SessionModel,
  ordinal: number,
  contributed: ProjectedSessionEntry | undefined,
  targets: ReadonlySet<unknown>,
): ItemState {
  const isSent = facts[ordinal]?.isSent ?? SENT_TYPES.has(tree.typeAt(ordinal));
  if (!isSent) return "aside";
  if (contributed === undefined) return "compacted";
  const { sourceEntry, messages } = contributed;
  if (messages.length === 0) return sourceEntry.type === "compaction" ? "compacted" : "removed";
  if (!targets.has(sourceEntry.id)) return "seen";
  const [own] = sessionEntryToContextMessages(sourceEntry);
  return getContent(messages[0]) !== getContent(own) ? "edited" : "seen";
}

function getContent(message: AgentMessage | undefined): unknown {
  return toRecord(message)["content"];
}

/** An index for each of some entries, by their ordinals: in a fifth of the room that a Map takes, and sooner made. */
export class ByOrdinal {
  readonly #indices: Int32Array;

  /** @param ordinals - All that may get an index. */
  constructor(ordinals: Iterable<number>) {
    let last = NONE;
    for (const ordinal of ordinals) last = Math.max(last, ordinal);
    this.#indices = new Int32Array(last + 1).fill(NONE);
  }

  /** Returns the index of an entry; undefined if it has none. */
  get(ordinal: number): number | undefined {
    const index = this.#indices[ordinal];
    return index === NONE ? undefined : index;
  }

  has(ordinal: number): boolean {
    return this.get(ordinal) !== undefined;
  }

  /** @param index - At least 0. */
  set(ordinal: number, index: number): void {
    this.#indices[ordinal] = index;
  }
}
