import { useCallback, useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import { type Place, type Step, takeStep } from "../model/navigation.ts";
import type { SessionModel } from "../model/session-model.ts";
import { hashOf, placeOf } from "./location.ts";

/**
 * Keeps where somebody is, and the address in step with it, so that an address leads back to the same place.
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
  // With the drawing rather than after it: whoever sees an entry and reloads, or copies the address, gets that entry.
  useLayoutEffect(() => {
    const hash = hashOf(session, place);
    if (hash === written.current) return;
    written.current = hash;
    history.replaceState(null, "", hash === "" ? location.pathname + location.search : hash);
  }, [session, place]);
  useEffect(() => {
    const onChange = () => {
      written.current = location.hash;
      go({ go: "place", place: placeOf(session, location.hash, opening) });
    };
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, [session, opening, go]);
  return [place, go];
}
