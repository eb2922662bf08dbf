import { fromIdKey, type IdKey } from "../format/id-key.ts";

/** The outcome for an entry whose parent was not found when it was added. */
export interface LinkFinding {
  readonly ordinal: number;
  /**
   * `missing`: made a root; `bridged`: made a child of the entry before; `unstated`: likewise, since no entry states a parent;
   * `cycle`: made a root to break a cycle.
   */
  readonly kind: "missing" | "bridged" | "unstated" | "cycle";
  readonly parentId: string;
  /** Whether an earlier finding no longer holds: the parent has arrived, or the cycle is gone. */
  readonly isOver: boolean;
}

interface Waiting {
  readonly ordinal: number;
  readonly parent: IdKey;
  readonly fallback: number;
  /** Whether the missing parent was reported. */
  isReported: boolean;
}

/** The entries whose parent has not arrived. */
export class LateParents {
  readonly #waiting = new Map<IdKey, Waiting[]>();
  #unreported: Waiting[] = [];

  /** Whether any entry waits for its parent. */
  get isAnyWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Makes an entry wait for its parent. */
  wait(ordinal: number, parent: IdKey, fallback: number): void {
    const waiting = { ordinal, parent, fallback, isReported: false };
    const others = this.#waiting.get(parent);
    if (others) others.push(waiting);
    else this.#waiting.set(parent, [waiting]);
    this.#unreported.push(waiting);
  }

  /** Releases the entries that wait for this parent; returns their earlier findings, which are over. */
  welcome(parent: IdKey): { ordinals: number[]; over: LinkFinding[] } | undefined {
    const waiting = this.#waiting.get(parent);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(parent);
    const reported = waiting.filter((one) => one.isReported);
    return {
      ordinals: waiting.map((one) => one.ordinal),
      over: reported.map((one) => makeFinding(one, true)),
    };
  }

  /** Returns the entries whose parent has not arrived, with their fallbacks. */
  resolve(): { finding: LinkFinding; fallback: number }[] {
    const waiting = this.#unreported.filter(({ parent }) => this.#waiting.has(parent));
    this.#unreported = [];
    return waiting.map((one) => {
      one.isReported = true;
      return { finding: makeFinding(one, false), fallback: one.fallback };
    });
  }
}

function makeFinding({ ordinal, parent, fallback }: Waiting, isOver: boolean): LinkFinding {
  return { ordinal, kind: fallback < 0 ? "missing" : "bridged", parentId: fromIdKey(parent), isOver };
}
