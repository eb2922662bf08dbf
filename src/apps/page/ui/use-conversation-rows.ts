import { useState } from "preact/hooks";
import { NONE } from "../../../core/tree/entry-tree.ts";
import {
  type ConversationItem,
  type ConversationRows,
  type FoldedRow,
  makeConversationRows,
} from "../model/conversation-rows.ts";
import type { Position } from "../model/navigation.ts";
import type { Folds } from "./fold.tsx";
import { usePage } from "./page-context.ts";

/**
 * Lays out the rows of a conversation, and opens and closes its folded entries.
 *
 * @returns The rows, and a function that opens or closes a line of folded entries.
 */
export function useConversationRows(
  items: readonly ConversationItem[],
  folds: Folds,
  position: Position,
): [ConversationRows, (row: FoldedRow) => void] {
  const { go } = usePage();
  const [, redraw] = useState(0);
  const rows = layRows(items, folds, position.focus);
  const toggle = ({ kind, ordinal, isOpen: isShown }: FoldedRow) => {
    folds.set(ordinal, kind, !isShown);
    // The focused entry keeps its line open, so folding the line drops the focus.
    if (isShown) go({ go: "position", position: { ...position, focus: NONE, reveal: undefined } });
    redraw((times) => times + 1);
  };
  return [rows, toggle];
}

/** Lays out the rows of a conversation; a fold that hides the focused entry is opened, and stays open when the focus moves on. */
function layRows(items: readonly ConversationItem[], folds: Folds, focus: number): ConversationRows {
  const lay = () => makeConversationRows(items, (kind, first) => folds.isOpen(first, kind));
  const rows = lay();
  const hiding = findHiding(rows, focus);
  if (hiding === undefined) return rows;
  folds.set(hiding.ordinal, hiding.kind, true);
  return lay();
}

/** Finds the closed fold that hides an entry; undefined if the entry is not hidden. */
function findHiding({ rows, rowByOrdinal }: ConversationRows, ordinal: number): FoldedRow | undefined {
  const row = rows[rowByOrdinal.get(ordinal) ?? NONE];
  return row === undefined || row.kind === "entry" || row.isOpen ? undefined : row;
}
