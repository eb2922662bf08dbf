import type { EntryPath } from "../../../core/context/entry-path.ts";
import { isContextEdit, projectSelectedEntry } from "../../../core/context/project-entry.ts";
import { RESET_TYPE, selectEntries } from "../../../core/context/select-entries.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import type { AgentMessage, ContextEditEntry } from "../../../core.ts";
import { getEntryKind, KINDS } from "../../text/entry-kind.ts";
import type { ByOrdinal } from "./by-ordinal.ts";
import type { SessionModel } from "./session-model.ts";

/** Path from the root to its end, and the index of each entry on it. */
export interface IndexedPath {
  readonly ordinals: readonly number[];
  readonly indices: Pick<ByOrdinal, "get" | "has">;
}

/**
 * Entries on a path that make up a context.
 *
 * The choice is based on heads. Parses only the bodies of compactions, of the entries that they keep, and of context edits.
 */
export interface ContextChoice {
  /** Ordinals in context order. */
  readonly ordinals: readonly number[];
  /** The compaction at the start of the context; NONE if there is no compaction. */
  readonly compaction: number;
  /** Context edits in effect, by the ordinals of the entries that they change. */
  readonly edits: ReadonlyMap<number, ContextEditEntry>;
  /** Returns the messages that a chosen entry contributes; parses its body. */
  readonly project: (ordinal: number) => AgentMessage[];
}

/**
 * Chooses the entries on a path that make up a context.
 *
 * @remarks Cost: O(path) in heads, plus the bodies listed at `ContextChoice`.
 */
export function chooseContext(session: SessionModel, path: IndexedPath): ContextChoice {
  const { tree } = session;
  const isSelective = tree.hasType("compaction") || tree.hasType(RESET_TYPE);
  const selected = isSelective ? selectEntries(makeEntryPath(session, path)) : undefined;
  const ordinals = selected?.indices.map((index) => path.ordinals[index] ?? NONE) ?? path.ordinals;
  const compaction = path.ordinals[selected?.compactionIndex ?? NONE] ?? NONE;
  const edits = tree.hasType("context_edit")
    ? findContextEdits(session, ordinals)
    : new Map<number, ContextEditEntry>();
  const project = (ordinal: number) => {
    const entry = session.entryAt(ordinal);
    if (entry === undefined) return [];
    if (tree.typeAt(ordinal) !== "compaction") return projectSelectedEntry(entry, edits.get(ordinal));
    const isFirst = ordinal === compaction;
    return isFirst ? projectSelectedEntry(entry, edits.get(ordinal), selected?.keepsTail) : [];
  };
  return { ordinals, compaction, edits, project };
}

/** Finds the context edits among entries; if several change the same entry, the last edit applies. */
function findContextEdits(session: SessionModel, ordinals: readonly number[]): Map<number, ContextEditEntry> {
  const { tree } = session;
  const edits = new Map<number, ContextEditEntry>();
  for (const ordinal of ordinals) {
    const edit = tree.typeAt(ordinal) === "context_edit" ? session.entryAt(ordinal) : undefined;
    if (edit !== undefined && isContextEdit(edit)) edits.set(tree.find(edit.targetId), edit);
  }
  return edits;
}

function makeEntryPath(session: SessionModel, { ordinals, indices }: IndexedPath): EntryPath {
  const { tree } = session;
  const entryAt = (index: number) => {
    const entry = session.entryAt(ordinals[index] ?? NONE);
    return getEntryKind(entry) === KINDS.damaged ? undefined : entry;
  };
  return {
    length: ordinals.length,
    mayHold: (type) => tree.hasType(type),
    typeAt: (index) => tree.typeAt(ordinals[index] ?? NONE),
    entryAt,
    entriesAt: (some) => (some ?? ordinals.map((_, index) => index)).map(entryAt),
    indexOf: (id) => indices.get(tree.find(id)) ?? -1,
  };
}
