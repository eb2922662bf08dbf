import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type Jump, useVirtualizer, type VirtualItems, withItem } from "./use-virtualizer.ts";

export type { Jump };

/** Requests an item when `reason` changes, not when the list is only redrawn, longer, or folded. */
export function useJump(index: number, reason: unknown): Jump {
  return useMemo(() => ({ index, align: "auto" }), [reason]);
}

interface VirtualListProps<T> extends VirtualItems<T> {
  readonly class: string;
  readonly label: string;
  readonly render: (item: T, index: number) => ComponentChildren;
  /** Receives the range of visible items. */
  readonly onRange?: (first: number, last: number) => void;
  /** Called after each drawing. */
  readonly onDrawn?: (list: HTMLElement) => void;
  /** Additional role of the list for assistive technology, its active item, and its key handler. */
  readonly list?: {
    readonly role: "tree";
    /** The item that keys act on: its index, and the id of its element. */
    readonly active: { readonly index: number; readonly id: string };
    readonly onKeyDown: (event: KeyboardEvent) => void;
  };
}

/** List that keeps only the visible items in the document, so that 100,000 items scroll like ten. */
export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, render, onRange, onDrawn } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer(props, scroller);
  const { range } = virtualizer;
  useLayoutEffect(() => {
    if (range !== null) onRange?.(range.startIndex, range.endIndex);
    if (scroller.current !== null) onDrawn?.(scroller.current);
  });
  const shown = virtualizer.getVirtualItems();
  const Frame = props.list === undefined ? "section" : "div";
  const { active, ...attributes } = props.list ?? {};
  // An item outside the view has no element to refer to.
  const isActiveShown = shown.some(({ index }) => index === active?.index);
  return (
    // Scrollable content must be reachable by keyboard.
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
