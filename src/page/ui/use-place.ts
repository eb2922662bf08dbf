import { useCallback, useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import { NONE } from "../../tree/entry-tree.ts";
import { type Place, type Step, takeStep } from "../model/navigation.ts";
import type { SessionModel } from "../model/session-model.ts";
import { hashOf, placeOf } from "./location.ts";

/**
 * Keeps where somebody is, and the address in step with it, so that an address leads back to the same place. Another path
 * or view is a step in the browser's history; another entry of the same path is not.
 *
 * @param opening - Where the path ends at first.
 */
export function usePlace(session: SessionModel, opening: number): [Place, (step: Step) => void] {
  const [place, take] = useReducer(
    (before: Place, step: Step) => takeStep(session, before, step),
    undefined,
    () => placeOf(session, location.hash, opening),
  );
  const go = useCallback((step: Step) => take(step), []);
  const written = useRef(location.hash);
  const before = useRef(place);
  // With the drawing rather than after it: whoever sees an entry and reloads, or copies the address, gets that entry.
  useLayoutEffect(() => {
    const { end, view, asked } = before.current;
    // Whoever asks at an entry that was not looked at comes back to that entry.
    const left =
      place.asked === NONE || place.asked === asked
        ? before.current
        : { ...before.current, focus: place.asked };
    before.current = place;
    const hash = hashOf(session, place);
    if (hash === written.current) return;
    const isStep = end !== place.end || view !== place.view || asked !== place.asked;
    if (isStep) history.replaceState(null, "", addressOf(hashOf(session, left)));
    written.current = hash;
    history[isStep ? "pushState" : "replaceState"](null, "", addressOf(hash));
  }, [session, place]);
  useEffect(() => {
    const onChange = () => {
      written.current = location.hash;
      const place = placeOf(session, location.hash, opening);
      before.current = place;
      go({ go: "place", place });
    };
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, [session, opening, go]);
  return [place, go];
}

/** Writes a place as an address of this page. */
function addressOf(hash: string): string {
  return hash === "" ? location.pathname + location.search : hash;
}
