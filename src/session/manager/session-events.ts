import { assertArgument } from "../../core/format/arguments.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { getErrorTrace } from "../../core/format/errors.ts";
import { assertKnownName } from "../../core/format/known-names.ts";
import { CALLBACK } from "../../core/format/options.ts";

/** Events of a session, by name. */
export interface SessionEventMap {
  /** This object appended an entry. */
  entry_appended: { readonly entry: AnySessionEntry };
  /** Another process appended entries. This object's leaf does not move. */
  foreign_entries: { readonly entries: readonly AnySessionEntry[] };
  /** The store had lost entries, for example in a failover. This object has appended them again. */
  entries_restored: { readonly entries: readonly AnySessionEntry[] };
  /** The leaf moved. */
  leaf_changed: { readonly leafId: string | null; readonly previousLeafId: string | null };
  /** Writing started to fail, or succeeds again. */
  persistence_state: { readonly state: "ok" | "degraded"; readonly error?: Error };
  /** The session was closed. */
  closed: Record<string, never>;
}

/** Handles one kind of session event. An asynchronous listener is not awaited; its rejection is reported as a warning. */
export type SessionListener<Name extends keyof SessionEventMap> = (event: SessionEventMap[Name]) => void;

type Listeners = { [Name in keyof SessionEventMap]: Set<SessionListener<Name>> };

/**
 * Calls listeners in registration order. A listener that throws or rejects does not affect other listeners or the session.
 */
export class SessionEvents {
  readonly #listeners: Listeners = {
    entry_appended: new Set(),
    foreign_entries: new Set(),
    entries_restored: new Set(),
    leaf_changed: new Set(),
    persistence_state: new Set(),
    closed: new Set(),
  };

  /** @returns A function that removes the listener. */
  on<Name extends keyof SessionEventMap>(name: Name, listener: SessionListener<Name>): () => void {
    assertKnownName("event", name, Object.keys(this.#listeners));
    assertArgument("listener", listener, CALLBACK);
    const listeners: Set<SessionListener<Name>> = this.#listeners[name];
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /** Returns whether an event has listeners, so that callers can avoid creating unneeded events. */
  has(name: keyof SessionEventMap): boolean {
    return this.#listeners[name].size > 0;
  }

  emit<Name extends keyof SessionEventMap>(name: Name, event: SessionEventMap[Name]): void {
    const listeners: Set<SessionListener<Name>> = this.#listeners[name];
    for (const listener of [...listeners]) {
      try {
        const given: unknown = listener(event);
        if (given !== undefined) onRejection(given, (error) => warnOfListener(name, error));
      } catch (error) {
        warnOfListener(name, error);
      }
    }
  }
}

/** Handles the rejection if a callback returned a promise. An unhandled rejection would end the process. */
export function onRejection(given: unknown, onError: (error: unknown) => void): void {
  new Promise((resolve) => resolve(given)).catch(onError);
}

/** Reports a listener's error as a warning. */
function warnOfListener(name: keyof SessionEventMap, error: unknown): void {
  process.emitWarning(`A listener of "${name}" threw: ${getErrorTrace(error)}`, {
    code: "SESSIONTREE_LISTENER",
  });
}
