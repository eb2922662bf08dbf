import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { listenToWindow } from "./listen-to-window.ts";

/** Last link followed in a list, and its position. */
interface Place {
  readonly href: string;
  /** Pixels from the top of the window. */
  readonly top: number;
}

/**
 * Returns the address of the link through which the reader left this page before coming back; undefined if the reader did not
 * come back.
 */
export function getLeftThrough(): string | undefined {
  return readPlace()?.href;
}

interface PlaceProps {
  /** The scrolling element. */
  readonly main: RefObject<HTMLElement | null>;
  /** Whether all links are rendered. */
  readonly isReady: boolean;
  /** Whether their positions are final. */
  readonly isComplete: boolean;
}

/** Stores the followed link in the page's history entry, and restores its position when the reader comes back. */
export function usePlace({ main, isReady, isComplete }: PlaceProps): void {
  const place = useRef(readPlace());
  const restored = useRef<Element | undefined>(undefined);
  useEffect(() => {
    history.scrollRestoration = "manual";
    const onClick = ({ target }: Event) => {
      const link = target instanceof Element ? target.closest("main a[href]") : null;
      if (link !== null) writePlace({ href: getHref(link), top: link.getBoundingClientRect().top });
    };
    return listenToWindow("click", onClick, { capture: true });
  }, []);
  useLayoutEffect(() => {
    const [wanted, scroller] = [place.current, main.current];
    if (!isReady || wanted === undefined || scroller === null) return;
    const link = [...scroller.querySelectorAll<HTMLElement>("a[href]")].find(
      (one) => getHref(one) === wanted.href,
    );
    // A reader who has moved in the meantime stays there.
    const hasMoved = restored.current !== undefined && document.activeElement !== restored.current;
    if (link !== undefined && !hasMoved) {
      link.focus({ preventScroll: true });
      scroller.scrollTop += link.getBoundingClientRect().top - wanted.top;
      restored.current = link;
    }
    if (isComplete || hasMoved) place.current = undefined;
  }, [main, isReady, isComplete]);
}

function getHref(link: Element): string {
  return link.getAttribute("href") ?? "";
}

function readPlace(): Place | undefined {
  const { href, top } = toRecord(toRecord(history.state)["place"]);
  return toText(href) === "" ? undefined : { href: toText(href), top: toNumber(top) };
}

function writePlace(place: Place): void {
  history.replaceState({ place }, "");
}
