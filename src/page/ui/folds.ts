import { createContext } from "preact";

/** Which folds are open: kept apart from what is drawn, so that a fold that leaves the screen comes back as it was. */
export class Folds {
  readonly #chosen = new Map<string, boolean>();
  readonly #entries = new Set<number>();
  #areAllOpen: boolean;

  /** @param areAllOpen - Whether folds that nobody has touched are open. */
  constructor(areAllOpen = false) {
    this.#areAllOpen = areAllOpen;
  }

  /** Whether folds that nobody has touched are open. */
  get areAllOpen(): boolean {
    return this.#areAllOpen;
  }

  /** Tells whether a fold is open. */
  isOpen(ordinal: number, key: string): boolean {
    return this.#chosen.get(`${ordinal}:${key}`) ?? (this.#areAllOpen || this.#entries.has(ordinal));
  }

  /** Opens or closes a fold. */
  set(ordinal: number, key: string, isOpen: boolean): void {
    this.#chosen.set(`${ordinal}:${key}`, isOpen);
  }

  /** Opens or closes all folds of an entry. */
  setEntry(ordinal: number, isOpen: boolean): void {
    this.#forget((key) => key.startsWith(`${ordinal}:`));
    if (isOpen) this.#entries.add(ordinal);
    else this.#entries.delete(ordinal);
  }

  /** Tells whether somebody has opened all folds of an entry. */
  isEntryOpen(ordinal: number): boolean {
    return this.#entries.has(ordinal);
  }

  /** Opens or closes all folds that there are. */
  setAll(areOpen: boolean): void {
    this.#forget(() => true);
    this.#entries.clear();
    this.#areAllOpen = areOpen;
  }

  #forget(isMeant: (key: string) => boolean): void {
    for (const key of this.#chosen.keys()) if (isMeant(key)) this.#chosen.delete(key);
  }
}

/** The folds of the page. */
export const FoldsContext = createContext(new Folds());
