/**
 * Number of frames without movement that must pass before scrolling. The list itself scrolls to the row of an entry, and again
 * when newly drawn rows change their heights.
 */
const STILL_FRAMES = 3;

/** Number of frames after which scrolling is left to the reader. */
const MAX_FRAMES = 40;

/** Pixels kept free around a scroll target; the same value as in the style sheet. */
const SCROLL_MARGIN = 8;

/** Minimum visible height of text for a position to be revealed in it, in pixels. */
const MIN_SEEN = 80;

/**
 * Scrolls a result, or a position in an entry, into view after its list has stopped moving, because the target row may be taller
 * than the screen.
 *
 * @param getList - Returns the list that is currently in the document.
 * @param id - Id of the entry.
 * @param findSpot - Finds the position to reveal in the shown entry; undefined if there is nothing to reveal.
 * @returns A function that cancels the scrolling.
 */
export function bringIntoSight(
  getList: () => HTMLElement | undefined,
  id: string,
  findSpot: (entry: HTMLElement) => Range | undefined,
): () => void {
  let [frames, still, before] = [0, 0, Number.NaN];
  let request = requestAnimationFrame(function look() {
    const list = getList();
    const shown = list?.querySelector(".is-focused");
    if (++frames > MAX_FRAMES) return;
    if (list !== undefined && shown instanceof HTMLElement && shown.dataset["entry"] === id) {
      const { top } = shown.getBoundingClientRect();
      still = top === before ? still + 1 : 0;
      before = top;
      if (still === STILL_FRAMES && !scrollTo(list, shown, findSpot(shown))) return;
    }
    request = requestAnimationFrame(look);
  });
  return () => cancelAnimationFrame(request);
}

/** Scrolls to the target; returns whether the list moved. */
function scrollTo(list: HTMLElement, shown: HTMLElement, spot: Range | undefined): boolean {
  const before = list.scrollTop;
  // For other entries the list's own scrolling is enough.
  if (shown.matches(".tool-use")) scrollToResult(list, shown);
  if (spot !== undefined) scrollToSpot(list, spot);
  return list.scrollTop !== before;
}

function scrollToResult(list: HTMLElement, result: HTMLElement): void {
  // The heading of its turn stays in view if it is near; for a result taller than the screen, its beginning stays in view.
  const turn = result.closest(".entry") ?? result;
  const distance = result.getBoundingClientRect().top - turn.getBoundingClientRect().top;
  const shown = distance < list.clientHeight / 2 ? turn : result;
  const fits = shown.clientHeight + 2 * SCROLL_MARGIN <= list.clientHeight;
  shown.scrollIntoView({ block: fits ? "nearest" : "start" });
}

/** Scrolls the text that contains a position, and scrolls the list only as far as necessary. */
function scrollToSpot(list: HTMLElement, spot: Range): void {
  const text = spot.startContainer.parentElement?.closest(".code > *");
  const whole = list.getBoundingClientRect();
  if (text) {
    const frame = text.getBoundingClientRect();
    const { top, bottom } = spot.getBoundingClientRect();
    const [from, to] = [Math.max(frame.top, whole.top), Math.min(frame.bottom, whole.bottom)];
    const isOutside = top < from + SCROLL_MARGIN || bottom > to - SCROLL_MARGIN;
    // If no part of the text is in view, the list will show its upper part.
    const [seen, height] = to - from < MIN_SEEN ? [frame.top, frame.height] : [from, to - from];
    if (isOutside) text.scrollTop += top - seen - height / 3;
  }
  const { top, bottom } = spot.getBoundingClientRect();
  // A near spot moves as little as possible, so that the heading of its turn stays in view.
  const [below, above] = [bottom - whole.bottom + SCROLL_MARGIN, whole.top + SCROLL_MARGIN - top];
  const margin = Math.max(below, above) < whole.height / 2 ? 2 * SCROLL_MARGIN : whole.height / 3;
  if (below > 0) list.scrollTop += below + margin;
  else if (above > 0) list.scrollTop -= above + margin;
}
