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
  const place = usePlace(virtualizer, props);
  virtualizer.setOptions(options);
  place.move();
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  useLayoutEffect(place.moveElement);
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

/** Returns the functions that are called for every item: the same ones for the same items, since others have all of them laid out again. */
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

/** Items in sight among which one is looked for that is still an item after a change. */
const MAX_TRIED = 50;

/**
 * Keeps what is in sight in its place when items change above it.
 *
 * @returns What moves the virtualizer, once it knows the changed items, and the element, once they are in the document.
 */
function usePlace<T>(virtualizer: ListVirtualizer, props: VirtualListProps<T>) {
  const before = useRef(props);
  const old = before.current;
  before.current = props;
  const offset = virtualizer.scrollOffset ?? 0;
  // At the very beginning there is nothing above, and a jump decides by itself.
  const hasJump = props.jump !== undefined && props.jump !== old.jump;
  const isKept = old.items !== props.items && !hasJump && offset > 0;
  const kept = isKept ? findKept(virtualizer, old, props) : undefined;
  let distance = 0;
  return {
    move: () => {
      if (kept === undefined) return;
      // Has the changed items laid out.
      virtualizer.getTotalSize();
      distance = (virtualizer.measurementsCache[kept.index]?.start ?? kept.start) - kept.start;
      virtualizer.scrollOffset = offset + distance;
    },
    moveElement: () => {
      // Measuring may have moved it further meanwhile.
      if (distance !== 0) virtualizer.scrollElement?.scrollTo(0, virtualizer.scrollOffset ?? 0);
    },
  };
}

/** Finds the first item in sight that is still one: where it started before, and its index now. */
function findKept<T>(
  virtualizer: ListVirtualizer,
  { items: old, getKey }: VirtualListProps<T>,
  { items, findIndex }: VirtualListProps<T>,
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

function withItem<T, R>(items: readonly T[], index: number, use: (item: T) => R, otherwise: R): R {
  const item = items[index];
  return item === undefined ? otherwise : use(item);
}
