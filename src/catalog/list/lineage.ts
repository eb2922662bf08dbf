import { addTo } from "../../core/format/group-by.ts";
import type { FileRow } from "../../session/files/session-row.ts";
import { namedSessionPath } from "../../session/log/session-paths.ts";

/** The fields that say which session another one was forked from. */
export type SessionLineage = Pick<FileRow, "path" | "id" | "parentSession">;

/** Parents and children among some sessions, as their headers say: by the parent's path or id. */
export class Descent<S extends SessionLineage> {
  readonly #byPath = new Map<string, S[]>();
  readonly #byId = new Map<string, S[]>();
  readonly #children = new Map<S, S[]>();

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
      this.#byPath.get(namedSessionPath(parentSession, path) ?? "") ??
      this.#byId.get(parentSession) ??
      [];
    return found.filter((parent) => parent.path !== path);
  }

  /** Returns sessions, all that they descend from, and all that descend from those. */
  familyOf(sessions: readonly S[]): ReadonlySet<S> {
    const family = new Set(sessions);
    // Elements added during the walk are walked as well.
    for (const one of family) for (const parent of this.parentsOf(one)) family.add(parent);
    for (const one of this.descendantsOf([...family])) family.add(one);
    return family;
  }

  /** Returns the descendants of sessions, without these, children before grandchildren; headers may form a cycle. */
  descendantsOf(ancestors: readonly S[]): S[] {
    const seen = new Set(ancestors);
    const found: S[] = [];
    // Elements added during the walk are walked as well.
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
