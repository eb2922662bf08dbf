import { cachedProjection } from "../../../../src/core/context/cached-projection.ts";
import type { EntryPath } from "../../../../src/core/context/entry-path.ts";
import type { SettingsFallback } from "../../../../src/core/context/path-settings.ts";
import { PathProjection } from "../../../../src/core/context/session-context.ts";
import type { AnySessionEntry } from "../../../../src/core/format/entry.ts";

/** Context that grows with appended entries, and is otherwise rebuilt, as in a session. */
export class GrowingContext {
  readonly #project = cachedProjection();
  #projection: PathProjection | undefined;

  get(path: () => EntryPath, fallback?: SettingsFallback): PathProjection {
    this.#projection ??= new PathProjection(path(), fallback, this.#project);
    return this.#projection;
  }

  extend(entry: AnySessionEntry): void {
    if (this.#projection?.extend(entry) === false) this.clear();
  }

  clear(): void {
    this.#projection = undefined;
  }
}
