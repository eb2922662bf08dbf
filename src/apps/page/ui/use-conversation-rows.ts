import { useRef, useState } from "preact/hooks";
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
  const [version, redraw] = useState(0);
  const rows = useLaidRows(items, folds, position.focus, version);
  const toggle = ({ kind, ordinal, isOpen: isShown }: FoldedRow) => {
    folds.set(ordinal, kind, !isShown);
    // The focused entry keeps its line open, so folding the line drops the focus.
    if (isShown) go({ go: "position", position: { ...position, focus: NONE, reveal: undefined } });
    redraw((times) => times + 1);
  };
  return [rows, toggle];
}

/**
 * Lays out the rows of a conversation: once for its items and its open folds, regardless of the focused entry.
 *
 * @param focus - The focused entry, which is not hidden by any fold; NONE if no entry is focused.
 * @param version - Changes whenever the reader opens or closes a fold.
 */
function useLaidRows(
  items: readonly ConversationItem[],
  folds: Folds,
  focus: number,
  version: number,
): ConversationRows {
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
