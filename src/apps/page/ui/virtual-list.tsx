import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

/** A wish to see an item; a new object is a new wish. */
export interface Jump {
  readonly index: number;
  /** `auto` scrolls only as far as is needed. */
  readonly align: "start" | "end" | "auto";
}

/** Asks for an item when `reason` is another one, and not when the list is only drawn anew, longer or folded. */
export function useJump(index: number, reason: unknown): Jump {
  return useMemo(() => ({ index, align: "auto" }), [reason]);
}

interface VirtualListProps<T> {
  readonly class: string;
  readonly label: string;
  readonly items: readonly T[];
  readonly getKey: (item: T) => string | number;
  /** Returns the estimated height of an item, in pixels; called once for each item of a list. */
  readonly estimate: (item: T) => number;
  readonly render: (item: T, index: number) => ComponentChildren;
  /** Returns the index of an item of the list as it was before, so that the list can change around what is in sight; -1 for none. */
  readonly findIndex?: (item: T) => number;
  readonly jump?: Jump | undefined;
  /** Told which items are in sight. */
  readonly onRange?: (first: number, last: number) => void;
  /** Told after each drawing. */
  readonly onDrawn?: (list: HTMLElement) => void;
  /** What else the list is, to assistive technology, and what its keys do. */
  readonly list?: {
    readonly role: "tree";
    /** The item that keys act on: its place, and the id of its element. */
    readonly active: { readonly index: number; readonly id: string };
    readonly onKeyDown: (event: KeyboardEvent) => void;
  };
}

type ListVirtualizer = Virtualizer<HTMLDivElement, HTMLDivElement>;

/** Pixels below the last item. */
const END_PADDING = 24;

/** A list of which only what is in sight is in the document, so that 100,000 items scroll like ten. */
export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, render, jump, onRange, onDrawn } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [, redraw] = useState(0);
  const made = useRef<ListVirtualizer | null>(null);
  const options = {
    count: items.length,
    getScrollElement: () => scroller.current,
    ...useSizes(props),
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw((times) => times + 1),
    overscan: 8,
    paddingEnd: END_PADDING,
    // The end of the list is the very end.
    scrollPaddingEnd: END_PADDING,
    // The frame around an entry that is looked at is whole.
    scrollPaddingStart: 8,
  };
  made.current ??= new Virtualizer(options);
  const virtualizer = made.current;
  const keepPlace = usePlace(virtualizer, props);
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  useLayoutEffect(keepPlace);
  useLayoutEffect(() => {
    if (jump !== undefined && jump.index >= 0) virtualizer.scrollToIndex(jump.index, { align: jump.align });
  }, [virtualizer, jump]);
  const { range } = virtualizer;
  useLayoutEffect(() => {
    if (range !== null) onRange?.(range.startIndex, range.endIndex);
    if (scroller.current !== null) onDrawn?.(scroller.current);
  });
  const shown = virtualizer.getVirtualItems();
  const Frame = props.list === undefined ? "section" : "div";
  const { active, ...attributes } = props.list ?? {};
  // An item that is out of sight has no element to name.
  const isActiveShown = shown.some(({ index }) => index === active?.index);
  return (
    // What scrolls must be reachable by keyboard.
    <Frame
      class={props.class}
      aria-label={props.label}
      aria-activedescendant={isActiveShown ? active?.id : undefined}
      ref={scroller}
      tabIndex={0}
      {...attributes}
    >
      <div role="presentation" class="virtual-space" style={{ height: `${virtualizer.getTotalSize()}px` }}>
        <div
          role="presentation"
          class="virtual-window"
          style={{ transform: `translateY(${shown[0]?.start ?? 0}px)` }}
        >
          {shown.map(({ key, index }) => (
            <div
              role="presentation"
              key={key}
              data-index={index}
              class="virtual-item"
              ref={virtualizer.measureElement}
            >
              {withItem(items, index, (item) => render(item, index), null)}
            </div>
          ))}
        </div>
      </div>
    </Frame>
  );
}

/** The functions that tell of all items: the same ones as long as the items are the same, since others have every item measured. */
function useSizes<T>({ items, getKey, estimate }: VirtualListProps<T>) {
  return useMemo(() => {
    const heights = new Float64Array(items.length);
    const estimateSize = (index: number) => {
      heights[index] ||= withItem(items, index, estimate, 0);
      return heights[index] ?? 0;
    };
    return { estimateSize, getItemKey: (index: number) => withItem(items, index, getKey, index) };
  }, [items]);
}

/**
 * Keeps what is in sight in its place when items change above it.
 *
 * @returns What does so, once the changed list is in the document.
 */
function usePlace<T>(
  virtualizer: ListVirtualizer,
  { items, findIndex, jump }: VirtualListProps<T>,
): () => void {
  const before = useRef({ items, jump });
  const { items: old, jump: oldJump } = before.current;
  before.current = { items, jump };
  const offset = virtualizer.scrollOffset ?? 0;
  // At the very beginning there is nothing above, and a jump decides by itself.
  if (old === items || jump !== oldJump || findIndex === undefined || offset === 0) return () => undefined;
  const first = virtualizer.getVirtualItemForOffset(offset);
  return () => {
    const index = first === undefined ? -1 : withItem(old, first.index, findIndex, -1);
    const start = index === -1 ? undefined : virtualizer.measurementsCache[index]?.start;
    if (first === undefined || start === undefined || start === first.start) return;
    virtualizer.scrollElement?.scrollBy(0, start - first.start);
  };
}

function withItem<T, R>(items: readonly T[], index: number, use: (item: T) => R, otherwise: R): R {
  const item = items[index];
  return item === undefined ? otherwise : use(item);
}
