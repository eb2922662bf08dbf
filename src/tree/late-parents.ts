import { type IdKey, idOfKey } from "../schema/id-key.ts";

/** What became of an entry whose parent was not found before it. */
export interface LinkFinding {
  readonly ordinal: number;
  /** `missing`: made a root; `bridged`: hung on the entry before it; `cycle`: made a root to break a cycle. */
  readonly kind: "missing" | "bridged" | "cycle";
  readonly parentId: string;
  /** Whether it was found at an earlier time and holds no longer: the parent has come, or the cycle is none any more. */
  readonly isOver: boolean;
}

interface Waiting {
  readonly ordinal: number;
  readonly parent: IdKey;
  readonly fallback: number;
  /** Whether it was decided, and told, that the parent is not there. */
  isTold: boolean;
}

/** The entries whose parent has not arrived. */
export class LateParents {
  readonly #waiting = new Map<IdKey, Waiting[]>();
  #untold: Waiting[] = [];

  /** Whether any entry waits for its parent. */
  get isAnyWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Makes an entry wait for its parent. */
  wait(ordinal: number, parent: IdKey, fallback: number): void {
    const waiting = { ordinal, parent, fallback, isTold: false };
    const others = this.#waiting.get(parent);
    if (others) others.push(waiting);
    else this.#waiting.set(parent, [waiting]);
    this.#untold.push(waiting);
  }

  /** Lets those go that wait for this parent; returns what was told of them, which is over. */
  welcome(parent: IdKey): { ordinals: number[]; over: LinkFinding[] } | undefined {
    const waiting = this.#waiting.get(parent);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(parent);
    const told = waiting.filter((one) => one.isTold);
    return { ordinals: waiting.map((one) => one.ordinal), over: told.map((one) => findingOf(one, true)) };
  }

  /** Returns those whose parent has not come since they were added, and where each hangs now. */
  resolve(): { finding: LinkFinding; fallback: number }[] {
    const waiting = this.#untold.filter(({ parent }) => this.#waiting.has(parent));
    this.#untold = [];
    return waiting.map((one) => {
      one.isTold = true;
      return { finding: findingOf(one, false), fallback: one.fallback };
    });
  }
}

function findingOf({ ordinal, parent, fallback }: Waiting, isOver: boolean): LinkFinding {
  return { ordinal, kind: fallback < 0 ? "missing" : "bridged", parentId: idOfKey(parent), isOver };
}
