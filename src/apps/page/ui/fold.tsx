import { type ComponentChildren, createContext } from "preact";
import { useContext, useLayoutEffect, useState } from "preact/hooks";
import { ChevronIcon } from "./icons.tsx";

/** Name of the fold around the content of an entry without other folds. It is open until the reader closes it. */
export const BODY = "body";

/** State of the folds, stored apart from the rendered components, so that a fold that leaves the screen returns unchanged. */
export class Folds {
  readonly #chosen = new Map<string, boolean>();
  readonly #entries = new Map<number, boolean>();
  /** Functions that redraw the folds in the document, by entry and name. */
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

  /** Returns whether a fold is open. */
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
   * Opens all folds of an entry, or closes them if all of its folds in the document are open.
   *
   * @returns Whether the entry has folds in the document.
   */
  toggleEntry(ordinal: number): boolean {
    const names = [...(this.#shown.get(ordinal)?.keys() ?? [])];
    if (names.length > 0) this.setEntry(ordinal, !names.every((name) => this.isOpen(ordinal, name)));
    return names.length > 0;
  }

  /** Opens or closes all folds; the caller redraws those in the document. */
  setAll(areOpen: boolean): void {
    this.#chosen.clear();
    this.#entries.clear();
    this.#areAllOpen = areOpen;
  }

  /**
   * Registers a fold in the document, to be redrawn when it is opened or closed.
   *
   * @returns A function that unregisters it.
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

/** Folds of the page. */
export const FoldsContext = createContext(new Folds());

interface FoldProps {
  /** The entry that it belongs to. */
  readonly ordinal: number;
  /** Name that distinguishes the folds of an entry. */
  readonly name: string;
  readonly class?: string;
  /** Content that is always shown. */
  readonly summary: ComponentChildren;
  /** Actions, next to the summary. */
  readonly actions?: ComponentChildren;
  /** Additional facts, at the right edge. */
  readonly notes?: ComponentChildren;
  /** Returns the content of the open fold. */
  readonly children: () => ComponentChildren;
}

/** Element that can be opened; its content is created only then. */
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
