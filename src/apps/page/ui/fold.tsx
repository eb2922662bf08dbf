import { type ComponentChildren, createContext } from "preact";
import { useContext, useLayoutEffect, useState } from "preact/hooks";
import { ChevronIcon } from "./icons.tsx";

/** What an entry says that has no other folds: open until the reader closes it. */
export const BODY = "body";

/** Which folds are open: kept apart from what is drawn, so that a fold that leaves the screen comes back as it was. */
export class Folds {
  readonly #chosen = new Map<string, boolean>();
  readonly #entries = new Map<number, boolean>();
  /** What draws each fold in the document anew, by entry and name. */
  readonly #shown = new Map<number, Map<string, () => void>>();
  #areAllOpen: boolean;

  /** @param areAllOpen - Whether untouched folds are open. */
  constructor(areAllOpen = false) {
    this.#areAllOpen = areAllOpen;
  }

  /** Whether untouched folds are open. */
  get areAllOpen(): boolean {
    return this.#areAllOpen;
  }

  /** Tells whether a fold is open. */
  isOpen(ordinal: number, name: string): boolean {
    const chosen = this.#chosen.get(`${ordinal}:${name}`) ?? this.#entries.get(ordinal);
    return chosen ?? (this.#areAllOpen || name === BODY);
  }

  /** Opens or closes a fold. */
  set(ordinal: number, name: string, isOpen: boolean): void {
    this.#chosen.set(`${ordinal}:${name}`, isOpen);
    this.#shown.get(ordinal)?.get(name)?.();
  }

  /** Opens or closes all folds of an entry. */
  setEntry(ordinal: number, isOpen: boolean): void {
    for (const key of this.#chosen.keys()) if (key.startsWith(`${ordinal}:`)) this.#chosen.delete(key);
    this.#entries.set(ordinal, isOpen);
    for (const redraw of this.#shown.get(ordinal)?.values() ?? []) redraw();
  }

  /**
   * Opens all folds of an entry, or closes them if all that are in the document are open.
   *
   * @returns Whether there are any.
   */
  toggleEntry(ordinal: number): boolean {
    const names = [...(this.#shown.get(ordinal)?.keys() ?? [])];
    if (names.length > 0) this.setEntry(ordinal, !names.every((name) => this.isOpen(ordinal, name)));
    return names.length > 0;
  }

  /** Opens or closes all folds that there are; those in the document are drawn anew by the caller. */
  setAll(areOpen: boolean): void {
    this.#chosen.clear();
    this.#entries.clear();
    this.#areAllOpen = areOpen;
  }

  /**
   * Has a fold in the document drawn anew when it is opened or closed.
   *
   * @returns Ends that.
   */
  show(ordinal: number, name: string, redraw: () => void): () => void {
    const shown = this.#shown.get(ordinal) ?? new Map<string, () => void>();
    this.#shown.set(ordinal, shown.set(name, redraw));
    return () => {
      if (shown.get(name) === redraw) shown.delete(name);
      if (shown.size === 0) this.#shown.delete(ordinal);
    };
  }
}

/** The folds of the page. */
export const FoldsContext = createContext(new Folds());

interface FoldProps {
  /** The entry that it belongs to. */
  readonly ordinal: number;
  /** Tells the folds of an entry apart. */
  readonly name: string;
  readonly class?: string;
  /** What is always shown. */
  readonly summary: ComponentChildren;
  /** What can be done with it, next to the summary. */
  readonly actions?: ComponentChildren;
  /** What else is known of it, at the right edge. */
  readonly notes?: ComponentChildren;
  /** Returns what is shown when it is open. */
  readonly children: () => ComponentChildren;
}

/** Something that can be opened; its content is made only then. */
export function Fold({ ordinal, name, class: extra = "", summary, actions, notes, children }: FoldProps) {
  const folds = useContext(FoldsContext);
  const [, redraw] = useState(0);
  useLayoutEffect(
    () => folds.show(ordinal, name, () => redraw((times) => times + 1)),
    [folds, ordinal, name],
  );
  const isOpen = folds.isOpen(ordinal, name);
  if (isOpen && name === BODY) return <>{children()}</>;
  const toggle = () => folds.set(ordinal, name, !isOpen);
  return (
    <div class={`fold ${extra} ${isOpen ? "is-open" : ""}`}>
      <div class="fold-line">
        <button type="button" class="fold-summary" aria-expanded={isOpen} onClick={toggle}>
          <ChevronIcon />
          {summary}
        </button>
        {actions}
        {notes !== undefined && <span class="fold-notes">{notes}</span>}
      </div>
      {isOpen && <div class="fold-body">{children()}</div>}
    </div>
  );
}
