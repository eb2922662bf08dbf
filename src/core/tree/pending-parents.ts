import { fromIdKey, type IdKey } from "../format/id-key.ts";

/** Outcome for an entry whose parent was not found when the entry was added. */
export interface LinkFinding {
  readonly ordinal: number;
  /**
   * Kind of outcome.
   *
   * `missing`: the entry became a root. `bridged`: the entry became a child of the previous entry. `unstated`: the entry became a
   * child of the previous entry because no entry states a parent. `cycle`: the entry became a root to break a cycle.
   */
  readonly kind: "missing" | "bridged" | "unstated" | "cycle";
  readonly parentId: string;
  /** Whether an earlier finding no longer applies: the parent has arrived, or the cycle no longer exists. */
  readonly isOver: boolean;
}

interface Waiting {
  readonly ordinal: number;
  readonly parent: IdKey;
  readonly fallback: number;
  /** Whether the missing parent was reported. */
  isReported: boolean;
}

/** Entries whose parent has not arrived. */
export class LateParents {
  readonly #waiting = new Map<IdKey, Waiting[]>();
  #unreported: Waiting[] = [];

  /** Whether any entry is waiting for its parent. */
  get isAnyWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Registers an entry whose parent has not arrived. */
  wait(ordinal: number, parent: IdKey, fallback: number): void {
    const waiting = { ordinal, parent, fallback, isReported: false };
    const others = this.#waiting.get(parent);
    if (others) others.push(waiting);
    else this.#waiting.set(parent, [waiting]);
    this.#unreported.push(waiting);
  }

  /** Releases the entries that wait for this parent. Returns their earlier findings, which no longer apply. */
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
