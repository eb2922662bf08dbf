import type { AnySessionEntry } from "../schema/entry.ts";
import { traceOf } from "../schema/errors.ts";

/** What a session tells its listeners, by name. */
export interface SessionEventMap {
  /** This object appended an entry. */
  entry_appended: { readonly entry: AnySessionEntry };
  /** Another process appended entries; the own leaf stays. */
  foreign_entries: { readonly entries: readonly AnySessionEntry[] };
  /** The next entry will hang elsewhere. */
  leaf_changed: { readonly leafId: string | null; readonly previousLeafId: string | null };
  /** Whether what is appended gets to where it is kept. */
  persistence_state: { readonly state: "ok" | "degraded"; readonly error?: Error };
  /** The session was closed. */
  closed: Record<string, never>;
}

/** Name of a session event. */
export type SessionEventName = keyof SessionEventMap;

/** Takes one kind of session event. Nobody waits for one that is asynchronous; if it rejects, that is a warning. */
export type SessionListener<Name extends SessionEventName> = (event: SessionEventMap[Name]) => void;

type Listeners = { [Name in SessionEventName]: Set<SessionListener<Name>> };

/** Calls listeners in order of registration; one that throws or rejects harms neither the others nor the session. */
export class SessionEvents {
  readonly #listeners: Listeners = {
    entry_appended: new Set(),
    foreign_entries: new Set(),
    leaf_changed: new Set(),
    persistence_state: new Set(),
    closed: new Set(),
  };

  /** @returns A function that takes the listener away again. */
  on<Name extends SessionEventName>(name: Name, listener: SessionListener<Name>): () => void {
    const listeners: Set<SessionListener<Name>> = this.#listeners[name];
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /** Tells whether anybody listens, so that an event nobody wants need not be made. */
  has(name: SessionEventName): boolean {
    return this.#listeners[name].size > 0;
  }

  emit<Name extends SessionEventName>(name: Name, event: SessionEventMap[Name]): void {
    const listeners: Set<SessionListener<Name>> = this.#listeners[name];
    for (const listener of [...listeners]) {
      try {
        const given: unknown = listener(event);
        if (given !== undefined) onRejection(given, (error) => warn(name, error));
      } catch (error) {
        warn(name, error);
      }
    }
  }
}

/** Takes the rejection of what a callback gave, if that is a promise: one that nobody takes ends the program. */
export function onRejection(given: unknown, onError: (error: unknown) => void): void {
  new Promise((resolve) => resolve(given)).catch(onError);
}

/** Tells of a listener's error without letting it stop the program. */
function warn(name: SessionEventName, error: unknown): void {
  process.emitWarning(`A listener of "${name}" threw: ${traceOf(error)}`, { code: "SESSIONTREE_LISTENER" });
}
