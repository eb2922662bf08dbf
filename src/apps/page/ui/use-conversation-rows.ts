import { useRef } from "preact/hooks";
import { NONE } from "../../../core/tree/entry-tree.ts";
import {
  type ConversationItem,
  type ConversationRows,
  type FoldedRow,
  makeConversationRows,
} from "../model/conversation-rows.ts";
import type { Folds } from "./fold.tsx";

/** Inputs that determine the rows of a conversation. */
interface RowSource {
  readonly items: readonly ConversationItem[];
  readonly folds: Folds;
  /** The focused entry, which is not hidden by any fold; NONE if no entry is focused. */
  readonly focus: number;
  /** Changes whenever the reader opens or closes a fold. */
  readonly version: number;
}

/** Lays out the rows of a conversation: once for its items and its open folds, regardless of the focused entry. */
export function useConversationRows(source: RowSource): ConversationRows {
  const { items, folds, focus, version } = source;
  const laid = useRef<{ readonly key: readonly unknown[]; readonly rows: ConversationRows } | undefined>(
    undefined,
  );
  const lay = () => makeConversationRows(items, (kind, first) => folds.isOpen(first, kind));
  const key = [items, folds, folds.areAllOpen, version];
  const isKnown = laid.current?.key.every((one, index) => one === key[index]) === true;
  let rows = isKnown && laid.current ? laid.current.rows : lay();
  // The fold stays open when the focus moves on.
  const hiding = findHiding(rows, focus);
  if (hiding !== undefined) {
    folds.set(hiding.ordinal, hiding.kind, true);
    rows = lay();
  }
  laid.current = { key, rows };
  return rows;
}

/** Finds the closed fold that hides an entry; undefined if the entry is not hidden. */
function findHiding({ rows, rowByOrdinal }: ConversationRows, ordinal: number): FoldedRow | undefined {
  const row = rows[rowByOrdinal.get(ordinal) ?? NONE];
  return row === undefined || row.kind === "entry" || row.isOpen ? undefined : row;
}
