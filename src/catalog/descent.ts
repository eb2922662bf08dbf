import { resolve } from "node:path";
import type { FileRow } from "./session-row.ts";

/** What of a session says from which other one it comes. */
export type SessionLineage = Pick<FileRow, "path" | "id" | "parentSession">;

/** Who descends from whom among some sessions, as their headers say: by the path of the parent, or by its id. */
export class Descent<S extends SessionLineage> {
  readonly #byPath = new Map<string, S[]>();
  readonly #byId = new Map<string, S[]>();
  readonly #children = new Map<S, S[]>();

  /** @remarks Cost: O(sessions). */
  constructor(sessions: readonly S[]) {
    for (const session of sessions) {
      addTo(this.#byPath, session.path, session);
      addTo(this.#byId, session.id, session);
    }
    for (const session of sessions)
      for (const parent of this.parentsOf(session)) addTo(this.#children, parent, session);
  }

  /** Returns the sessions that a session names as its parent: none, one, or all that have the id it names. */
  parentsOf({ path, parentSession }: S): readonly S[] {
    if (parentSession === undefined) return [];
    const found =
      this.#byPath.get(parentSession) ??
      this.#byPath.get(resolve(path, "..", parentSession)) ??
      this.#byId.get(parentSession) ??
      [];
    return found.filter((parent) => parent.path !== path);
  }

  /**
   * Returns all that descend from some sessions, children before grandchildren, those sessions themselves left out.
   *
   * @remarks Cost: O(sessions), also where the headers go round in a circle.
   */
  descendantsOf(ancestors: readonly S[]): S[] {
    const seen = new Set(ancestors);
    const found: S[] = [];
    // What is added while it is walked is walked, too.
    const queue = [...ancestors];
    for (const one of queue) {
      for (const child of this.#children.get(one) ?? []) {
        if (seen.has(child)) continue;
        seen.add(child);
        found.push(child);
        queue.push(child);
      }
    }
    return found;
  }
}

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
