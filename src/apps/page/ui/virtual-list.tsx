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
  /** Guesses the height of an item, in pixels. */
  readonly estimate: (item: T) => number;
  readonly render: (item: T, index: number) => ComponentChildren;
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

/** Pixels below the last item. */
const END_PADDING = 24;

/** A list of which only what is in sight is in the document, so that 10,000 items scroll like ten. */
export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, getKey, estimate, render, jump, onRange, onDrawn } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [, redraw] = useState(0);
  const made = useRef<Virtualizer<HTMLDivElement, HTMLDivElement> | null>(null);
  const options = {
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index: number) => withItem(items, index, estimate, 0),
    getItemKey: (index: number) => withItem(items, index, getKey, index),
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
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
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

function withItem<T, R>(items: readonly T[], index: number, use: (item: T) => R, otherwise: R): R {
  const item = items[index];
  return item === undefined ? otherwise : use(item);
}
