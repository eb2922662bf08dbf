import { useCallback, useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { type Position, type Step, takeStep, type View } from "../model/navigation.ts";
import { readAddressQuery, withQuery } from "../model/query-address.ts";
import { getPathTo, type SessionModel } from "../model/session-model.ts";
import { listenToWindow } from "./listen-to-window.ts";

/**
 * Keeps the reader's position in sync with the address, so that an address restores the same position. Another path or view adds
 * a step to the browser's history; another entry on the same path does not. The query in the address is kept.
 *
 * @param opening - Initial end of the path.
 */
export function usePosition(session: SessionModel, opening: number): [Position, (step: Step) => void] {
  const [position, take] = useReducer(
    (before: Position, step: Step) => takeStep(session, before, step),
    undefined,
    () => parseHash(session, location.hash, opening),
  );
  const go = useCallback((step: Step) => take(step), []);
  const written = useRef(location.hash);
  const before = useRef(position);
  // In the layout phase, not after it, so that a reader who sees an entry and reloads, or copies the address, gets that entry.
  useLayoutEffect(() => {
    const { end, view, asked } = before.current;
    // A reader who opens the context of an entry without focusing it returns to that entry.
    const left =
      position.asked === NONE || position.asked === asked
        ? before.current
        : { ...before.current, focus: position.asked };
    before.current = position;
    const query = readAddressQuery(location.hash);
    const hash = withQuery(formatHash(session, position), query);
    if (hash === written.current) return;
    const isStep = end !== position.end || view !== position.view || asked !== position.asked;
    const leftHash = isStep ? withQuery(formatHash(session, left), query) : written.current;
    if (leftHash !== written.current) history.replaceState(null, "", makeAddress(leftHash));
    written.current = hash;
    history[isStep ? "pushState" : "replaceState"](null, "", makeAddress(hash));
  }, [session, position]);
  useEffect(() => {
    const onChange = () => {
      written.current = location.hash;
      const position = parseHash(session, location.hash, opening);
      before.current = position;
      go({ go: "position", position });
    };
    return listenToWindow("hashchange", onChange);
  }, [session, opening, go]);
  return [position, go];
}

/** Formats the part starting with `#`, which may be empty, as an address of this page. */
export function makeAddress(hash: string): string {
  return hash === "" ? location.pathname + location.search : hash;
}

const VIEWS: readonly View[] = ["path", "model", "beside", "changes", "usage", "issues"];

/** Formats a position as the part of an address starting with `#`; empty for the default position. */
export function formatHash(
  session: SessionModel,
  { end, focus, view, asked, beside = NONE, areRecordsShown = false }: Position,
): string {
  const { entryAt, leaf, newestTip } = session;
  const parts = new URLSearchParams();
  const [entry, last] = [entryAt(focus), entryAt(end)];
  if (entry !== undefined) parts.set("entry", entry.id);
  // Without an end the link opens the leaf's path if the entry is on it, otherwise the newest path through the entry.
  const usual = entry === undefined || getPathTo(session, leaf).includes(focus) ? leaf : newestTip[focus];
  // An empty value denotes the position before the first entry.
  if (end !== usual) parts.set("end", last?.id ?? "");
  if (view !== "path") parts.set("view", view);
  const other = view === "beside" ? entryAt(beside) : undefined;
  if (other !== undefined) parts.set("beside", other.id);
  const about = entryAt(asked);
  if (about !== undefined) parts.set("saw", about.id);
  if (areRecordsShown) parts.set("records", "shown");
  const text = parts.toString();
  return text === "" ? "" : `#${text}`;
}

/**
 * Formats the address of an entry, starting with `#`; unpaired surrogates, which an address cannot contain, are replaced with
 * U+FFFD.
 */
export function makeLinkTo(id: string): string {
  return `#${new URLSearchParams({ entry: id })}`;
}

/**
 * Reads a position from the part of an address starting with `#`.
 *
 * @param opening - End of the path if the address does not specify one.
 * @returns The position; ignores ids in the address that do not exist in the session.
 */
export function parseHash(session: SessionModel, hash: string, opening: number): Position {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const { tree, newestTip } = session;
  const findOrdinal = (name: string) => tree.find(parts.get(name) ?? "");
  const [focus, named] = [findOrdinal("entry"), findOrdinal("end")];
  const isBeforeFirst = focus === NONE && named === NONE && parts.get("end") === "";
  const ends = [named, opening, newestTip[focus] ?? opening];
  const end = isBeforeFirst
    ? NONE
    : ends.find((one) => one !== NONE && (focus === NONE || getPathTo(session, one).includes(focus)));
  const beside = findOrdinal("beside");
  const wanted = VIEWS.find((one) => one === parts.get("view")) ?? "path";
  const view = wanted === "beside" && beside === NONE ? "path" : wanted;
  const asked = view === "path" ? NONE : findOrdinal("saw");
  const other = view === "beside" ? { beside } : {};
  return {
    end: end ?? opening,
    focus,
    view,
    asked,
    ...other,
    ...(parts.get("records") === "shown" && { areRecordsShown: true }),
    reveal: getReveal(session, end ?? opening, focus),
  };
}

/**
 * Returns the initial scroll request: a path with a compaction opens at its end, because the entries before it are folded and
 * old.
 */
function getReveal(session: SessionModel, end: number, focus: number): Position["reveal"] {
  if (focus !== NONE) return { align: "start" };
  const isCompacted = getPathTo(session, end).some(
    (ordinal) => session.tree.typeAt(ordinal) === "compaction",
  );
  return isCompacted ? { align: "end" } : undefined;
}
