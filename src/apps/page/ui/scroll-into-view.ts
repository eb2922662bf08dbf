/** The list itself scrolls to the row of an entry, and again when rows that are drawn first change their heights. */
const STILL_FRAMES = 3;

/** After so many frames the list is left to the reader. */
const MOST_FRAMES = 40;

/** Pixels that stay free around what is scrolled to; the style sheet has the same. */
const SCROLL_MARGIN = 8;

/** Pixels of a text that must be in sight for a spot to be shown there. */
const LEAST_SEEN = 80;

/** What is brought into sight. */
export interface Wanted {
  /** Id of the entry. */
  readonly id: string;
  /** Finds the spot in what the entry shows that the reader came for; undefined if there is none. */
  readonly spotIn: (entry: HTMLElement) => Range | undefined;
}

/**
 * Scrolls a result, or a spot in an entry, into sight once its list stands still: its row, to which the list scrolls, may be
 * longer than the screen.
 *
 * @param listOf - Gives the list that is in the document at the moment.
 * @returns Gives up.
 */
export function bringIntoSight(listOf: () => HTMLElement | undefined, { id, spotIn }: Wanted): () => void {
  let [frames, still, before] = [0, 0, Number.NaN];
  let request = requestAnimationFrame(function look() {
    const list = listOf();
    const shown = list?.querySelector(".is-focused");
    if (++frames > MOST_FRAMES) return;
    if (list !== undefined && shown instanceof HTMLElement && shown.dataset["entry"] === id) {
      const { top } = shown.getBoundingClientRect();
      still = top === before ? still + 1 : 0;
      before = top;
      if (still === STILL_FRAMES && !scrollTo(list, shown, spotIn(shown))) return;
    }
    request = requestAnimationFrame(look);
  });
  return () => cancelAnimationFrame(request);
}

/** Tells whether that moved the list. */
function scrollTo(list: HTMLElement, shown: HTMLElement, spot: Range | undefined): boolean {
  const before = list.scrollTop;
  // Of other entries the list does enough.
  if (shown.matches(".tool-use")) scrollToResult(list, shown);
  if (spot !== undefined) scrollToSpot(list, spot);
  return list.scrollTop !== before;
}

function scrollToResult(list: HTMLElement, result: HTMLElement): void {
  // The heading of its turn stays in sight if it is near; of what is longer than the screen, the beginning does.
  const turn = result.closest(".entry") ?? result;
  const distance = result.getBoundingClientRect().top - turn.getBoundingClientRect().top;
  const shown = distance < list.clientHeight / 2 ? turn : result;
  const fits = shown.clientHeight + 2 * SCROLL_MARGIN <= list.clientHeight;
  shown.scrollIntoView({ block: fits ? "nearest" : "start" });
}

/** Scrolls the text in which a spot stands, and the list only as far as that does not show the spot. */
function scrollToSpot(list: HTMLElement, spot: Range): void {
  const text = spot.startContainer.parentElement?.closest(".code > *");
  const whole = list.getBoundingClientRect();
  if (text) {
    const frame = text.getBoundingClientRect();
    const { top, bottom } = spot.getBoundingClientRect();
    const [from, to] = [Math.max(frame.top, whole.top), Math.min(frame.bottom, whole.bottom)];
    const isOutside = top < from + SCROLL_MARGIN || bottom > to - SCROLL_MARGIN;
    // Of a text of which nothing is in sight the list will show the upper part.
    const [seen, height] = to - from < LEAST_SEEN ? [frame.top, frame.height] : [from, to - from];
    if (isOutside) text.scrollTop += top - seen - height / 3;
  }
  const { top, bottom } = spot.getBoundingClientRect();
  // What is near stays where it is as far as possible, with the heading of its turn.
  const [below, above] = [bottom - whole.bottom + SCROLL_MARGIN, whole.top + SCROLL_MARGIN - top];
  const margin = Math.max(below, above) < whole.height / 2 ? 2 * SCROLL_MARGIN : whole.height / 3;
  if (below > 0) list.scrollTop += below + margin;
  else if (above > 0) list.scrollTop -= above + margin;
}
