import { fieldsOf } from "../../context/entry-fields.ts";
import {
  type AgentMessage,
  type AnySessionEntry,
  buildSessionProjection,
  type ContextUsageEstimate,
  convertToLlm,
  estimateProjectedContextTokens,
  type Message,
  repairToolPairs,
  type SessionProjection,
  sessionEntryToContextMessages,
  type ToolPairRepair,
} from "../../core.ts";
import { NONE } from "../../tree/entry-tree.ts";
import { pathTo, type SessionModel } from "./session-model.ts";

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
}

/** An entry that the model gets something of, and what it gets. */
export interface ModelItem {
  readonly ordinal: number;
  readonly entry: AnySessionEntry;
  readonly messages: readonly Message[];
  readonly state: "seen" | "edited";
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
  readonly indices: ReadonlyMap<number, number>;
}

/**
 * Projects the path to an entry.
 *
 * @remarks Cost: O(path).
 */
export function viewPath(session: SessionModel, end: number): PathView {
  const { entries, byId, tree } = session;
  const path = pathTo(session, end);
  const leafId = end === NONE ? null : (entries[end]?.id ?? null);
  const projection = buildSessionProjection(entries, leafId, byId);
  const contributions = new Map(projection.entries.map((one) => [one.sourceEntry.id, one.messages]));
  const branch = path.flatMap((ordinal) => entries[ordinal] ?? []);
  const targets = new Set(
    branch.filter(({ type }) => type === "context_edit").map((edit) => fieldsOf(edit)["targetId"]),
  );
  const items = branch.map((entry, index) => {
    const messages = contributions.get(entry.id);
    return { ordinal: path[index] ?? NONE, entry, state: stateOf(entry, messages, targets) };
  });
  const modelItems = projection.entries.flatMap(
    ({ sourceEntry: entry, messages: contributed }): ModelItem[] => {
      const messages = convertToLlm(contributed);
      const state = stateOf(entry, contributed, targets) === "edited" ? "edited" : "seen";
      return messages.length === 0 ? [] : [{ ordinal: tree.find(entry.id), entry, messages, state }];
    },
  );
  return {
    end,
    items,
    modelItems,
    repairs: repairToolPairs(convertToLlm(projection.messages)).repairs,
    thinkingLevel: projection.thinkingLevel,
    model: projection.model,
    contextSize: estimateProjectedContextTokens(projection, branch),
    indices: new Map(path.map((ordinal, index) => [ordinal, index])),
  };
}

/**
 * @param contributed - What the entry contributes to the context; undefined if it was not chosen for it.
 * @param targets - Entries that context edits on the path speak of.
 */
function stateOf(
  entry: AnySessionEntry,
  contributed: readonly AgentMessage[] | undefined,
  targets: ReadonlySet<unknown>,
): ItemState {
  const own = sessionEntryToContextMessages(entry);
  if (convertToLlm(own).length === 0) return "aside";
  if (contributed === undefined) return "compacted";
  if (contributed.length === 0) return entry.type === "compaction" ? "compacted" : "removed";
  return targets.has(entry.id) && contentOf(contributed[0]) !== contentOf(own[0]) ? "edited" : "seen";
}

function contentOf(message: AgentMessage | undefined): unknown {
  return fieldsOf(message)["content"];
}
