/** The list itself scrolls to the row of an entry, and again when rows that are drawn first change their heights. */
const STILL_FRAMES = 3;

/** After so many frames the list is left to the reader. */
const MOST_FRAMES = 40;

/** Pixels that stay free around what is scrolled to; the style sheet has the same. */
const SCROLL_MARGIN = 8;

/**
 * Scrolls a result into sight once its list stands still: its row, to which the list scrolls, may be longer than the screen.
 *
 * @param listOf - Gives the list that is in the document at the moment.
 * @param id - Entry of the result; of other entries the list does enough.
 * @returns Gives up.
 */
export function bringIntoSight(listOf: () => HTMLElement | undefined, id: string): () => void {
  let [frames, still, before] = [0, 0, Number.NaN];
  let request = requestAnimationFrame(function look() {
    const list = listOf();
    const result = list?.querySelector(".tool-use.is-focused");
    if (++frames > MOST_FRAMES) return;
    if (list !== undefined && result instanceof HTMLElement && result.dataset["entry"] === id) {
      const { top } = result.getBoundingClientRect();
      still = top === before ? still + 1 : 0;
      before = top;
      if (still === STILL_FRAMES && !scrollTo(list, result)) return;
    }
    request = requestAnimationFrame(look);
  });
  return () => cancelAnimationFrame(request);
}

/** Tells whether that moved anything. */
function scrollTo(list: HTMLElement, result: HTMLElement): boolean {
  const before = list.scrollTop;
  // The heading of its turn stays in sight if it is near; of what is longer than the screen, the beginning does.
  const turn = result.closest(".entry") ?? result;
  const distance = result.getBoundingClientRect().top - turn.getBoundingClientRect().top;
  const shown = distance < list.clientHeight / 2 ? turn : result;
  const fits = shown.clientHeight + 2 * SCROLL_MARGIN <= list.clientHeight;
  shown.scrollIntoView({ block: fits ? "nearest" : "start" });
  return list.scrollTop !== before;
}
