import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { rememberLatest } from "../model/latest-results.ts";

/** Scroll request for an item; a new object is a new request. */
export interface Jump {
  readonly index: number;
  /** `auto` scrolls only as much as necessary. */
  readonly align: "start" | "end" | "auto";
}

/** Items to lay out, and the requested scroll position. */
export interface VirtualItems<T> {
  readonly items: readonly T[];
  readonly getKey: (item: T) => string | number;
  /** Returns the estimated height of an item, in pixels; called once for each item of a list. */
  readonly estimate: (item: T) => number;
  /**
   * Returns the new index of an item of the previous list, so that the list can change around the visible items; -1 if the item
   * no longer exists.
   */
  readonly findIndex?: (item: T) => number;
  readonly jump?: Jump | undefined;
}

type ListVirtualizer = Virtualizer<HTMLDivElement, HTMLDivElement>;

/** Pixels below the last item. */
const END_PADDING = 24;

/** Determines the items that are visible in a scrolling element, and redraws when these change. */
export function useVirtualizer<T>(
  list: VirtualItems<T>,
  scroller: RefObject<HTMLDivElement | null>,
): ListVirtualizer {
  const { items, jump } = list;
  const [, redraw] = useState(0);
  const made = useRef<ListVirtualizer | null>(null);
  const options = {
    count: items.length,
    getScrollElement: () => scroller.current,
    ...useSizes(list),
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw((times) => times + 1),
    overscan: 4,
    paddingEnd: END_PADDING,
    // Scrolling to the end includes the padding.
    scrollPaddingEnd: END_PADDING,
    // The frame around a focused entry must not be cut off.
    scrollPaddingStart: 8,
  };
  made.current ??= new Virtualizer(options);
  const virtualizer = made.current;
  const place = usePlace(virtualizer, list);
  virtualizer.setOptions(options);
  place.move();
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  useLayoutEffect(place.moveElement);
  useLayoutEffect(() => {
    if (jump !== undefined && jump.index >= 0) virtualizer.scrollToIndex(jump.index, { align: jump.align });
  }, [virtualizer, jump]);
  return virtualizer;
}

/** Returns the estimated heights of items, to be filled on access: 0 until then. */
const getHeights = rememberLatest((items: readonly unknown[]) => new Float64Array(items.length), 1);

/**
 * Returns the functions that are called for every item: the same ones for the same items, because new functions would cause all
 * items to be laid out again.
 */
function useSizes<T>({ items, getKey, estimate }: VirtualItems<T>) {
  return useMemo(() => {
    const heights = getHeights(items);
    const estimateSize = (index: number) => {
      heights[index] ||= withItem(items, index, estimate, 0);
      return heights[index] ?? 0;
    };
    return { estimateSize, getItemKey: (index: number) => withItem(items, index, getKey, index) };
  }, [items]);
}

/** Maximum number of visible items to check for an item that remains after a change. */
const MAX_TRIED = 50;

/**
 * Keeps the visible items in place when items change above them.
 *
 * @returns A function that moves the virtualizer, to be called after it has received the changed items, and a function that moves
 *   the element, to be called after the items are in the document.
 */
function usePlace<T>(virtualizer: ListVirtualizer, list: VirtualItems<T>) {
  const before = useRef(list);
  const old = before.current;
  before.current = list;
  const offset = virtualizer.scrollOffset ?? 0;
  // At the very start there is nothing above, and a jump sets the position itself.
  const hasJump = list.jump !== undefined && list.jump !== old.jump;
  const isKept = old.items !== list.items && !hasJump && offset > 0;
  const kept = isKept ? findKept(virtualizer, old, list) : undefined;
  let distance = 0;
  return {
    move: () => {
      if (kept === undefined) return;
      // Forces the layout of the changed items.
      virtualizer.getTotalSize();
      distance = (virtualizer.measurementsCache[kept.index]?.start ?? kept.start) - kept.start;
      virtualizer.scrollOffset = offset + distance;
    },
    moveElement: () => {
      // Measuring may have moved it further in the meantime.
      if (distance !== 0) virtualizer.scrollElement?.scrollTo(0, virtualizer.scrollOffset ?? 0);
    },
  };
}

/** Finds the first visible item that remains after a change: its previous start, and its new index. */
function findKept<T>(
  virtualizer: ListVirtualizer,
  { items: old, getKey }: VirtualItems<T>,
  { items, findIndex }: VirtualItems<T>,
): { readonly start: number; readonly index: number } | undefined {
  const first = virtualizer.getVirtualItemForOffset(virtualizer.scrollOffset ?? 0);
  if (first === undefined || findIndex === undefined) return undefined;
  const seen = virtualizer.measurementsCache.slice(first.index, first.index + MAX_TRIED);
  for (const { start, index: at } of seen) {
    const index = withItem(old, at, findIndex, -1);
    if (index !== -1 && withItem(items, index, getKey, "") === withItem(old, at, getKey, 0))
      return { start, index };
  }
  return undefined;
}

/** Applies a function to an item of an array; returns `otherwise` if there is no such item. */
export function withItem<T, R>(items: readonly T[], index: number, use: (item: T) => R, otherwise: R): R {
  const item = items[index];
  return item === undefined ? otherwise : use(item);
}
