import { useRef } from "preact/hooks";
import { NONE } from "../../../core/tree/entry-tree.ts";
import {
  type ConversationItem,
  type ConversationRows,
  type FoldedRow,
  makeConversationRows,
} from "../model/conversation-rows.ts";
import type { Folds } from "./fold.tsx";

/** What decides which rows a conversation has. */
interface RowSource {
  readonly items: readonly ConversationItem[];
  readonly folds: Folds;
  /** The entry that is looked at, which no fold hides; NONE for none. */
  readonly focus: number;
  /** Changes whenever the reader opens or closes a fold. */
  readonly version: number;
}

/** Lays out the rows of a conversation: once for its items and the folds that are open, whatever entry is looked at. */
export function useConversationRows(source: RowSource): ConversationRows {
  const { items, folds, focus, version } = source;
  const laid = useRef<{ readonly key: readonly unknown[]; readonly rows: ConversationRows } | undefined>(
    undefined,
  );
  const lay = () => makeConversationRows(items, (kind, first) => folds.isOpen(first, kind));
  const key = [items, folds, folds.areAllOpen, version];
  const isKnown = laid.current?.key.every((one, index) => one === key[index]) === true;
  let rows = isKnown && laid.current ? laid.current.rows : lay();
  // The fold stays open when the reader looks elsewhere.
  const hiding = findHiding(rows, focus);
  if (hiding !== undefined) {
    folds.set(hiding.ordinal, hiding.kind, true);
    rows = lay();
  }
  laid.current = { key, rows };
  return rows;
}

/** Finds the closed fold that hides an entry; undefined if none does. */
function findHiding({ rows, rowByOrdinal }: ConversationRows, ordinal: number): FoldedRow | undefined {
  const row = rows[rowByOrdinal.get(ordinal) ?? NONE];
  return row === undefined || row.kind === "entry" || row.isOpen ? undefined : row;
}
