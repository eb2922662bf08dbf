import { useCallback, useLayoutEffect, useRef } from "preact/hooks";
import { findErrorLine } from "../model/entry-text.ts";
import type { Position } from "../model/navigation.ts";
import { bringIntoSight } from "./bring-into-sight.ts";
import { findErrorRange, findHitRange, findRanges, markRanges } from "./entry-ranges.ts";
import { usePage } from "./page-context.ts";

/**
 * Marks search hits and the line of the focused entry's error, and scrolls to the one that the reader navigated to.
 *
 * @returns A function to be called with the list after each drawing.
 */
export function useSpots(focus: number, reveal: Position["reveal"]): (list: HTMLElement) => void {
  const { find, session } = usePage();
  // Words are marked after the visible rows have been drawn; scrolling triggers this many times a second.
  const marked = useRef(0);
  const drawn = useRef<HTMLElement | undefined>(undefined);
  const focused = session.entryAt(focus);
  const errorLine = findErrorLine(focused);
  // A result is somewhere in the row of its call, and a hit or an error somewhere in a text; both may be taller than the screen.
  useLayoutEffect(() => {
    if (reveal === undefined || focused === undefined) return undefined;
    const findSpot = (shown: HTMLElement) =>
      reveal.isHit ? findHitRange(shown, find) : findErrorRange(shown, errorLine);
    return bringIntoSight(() => drawn.current, focused.id, findSpot);
  }, [reveal]);
  return useCallback(
    (list: HTMLElement) => {
      drawn.current = list;
      cancelAnimationFrame(marked.current);
      marked.current = requestAnimationFrame(() => {
        markRanges("found", findRanges(list, find.all));
        const shown = list.querySelector(".is-focused");
        const range = shown === null ? undefined : findErrorRange(shown, errorLine);
        markRanges("error-line", range === undefined ? [] : [range]);
      });
    },
    [find, errorLine],
  );
}
