import { SessionError } from "../../core/format/errors.ts";
import type { SessionManager } from "../manager/session-manager.ts";
import type { SessionHooks } from "./hooks.ts";

/** A session that is about to replace the current one. */
export interface Replacement {
  readonly reason: "new" | "resume" | "fork";
  readonly from: SessionManager;
  /** Path of its file; undefined in memory. */
  readonly path: string | undefined;
  /** Opens the session. Called after the old session was closed. */
  readonly open: () => SessionManager | Promise<SessionManager>;
}

/** Manages the current session of a controller. All code that replaces the session uses this class. */
export class CurrentSession {
  #session: SessionManager;
  #leaving = new AbortController();
  readonly #hooks: SessionHooks;
  #isBeingLeft = false;
  #hasEnded = false;

  constructor(session: SessionManager, hooks: SessionHooks) {
    this.#session = session;
    this.#hooks = hooks;
  }

  get session(): SessionManager {
    return this.#session;
  }

  /** Signal that is aborted when the current session is left, so that work for it stops. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Throws if the session has been left in the meantime. */
  assertNotLeft(from: SessionManager): void {
    if (this.#hasEnded) throw makeClosedError();
    if (from === this.#session && !this.#isBeingLeft) return;
    throw new SessionError(
      "STALE_LEAF",
      "Another session is already replacing this one; nothing was done. Read the session again, and retry.",
    );
  }

  /**
   * Shuts down the current session, closes it, and starts the next session.
   *
   * Later writes to the old session fail with `SESSION_CLOSED` and never reach the new session.
   *
   * @throws {SessionError} The same as `assertNotLeft`. If closing the old session fails, throws that error after the new session
   *   has started.
   */
  async replace({ reason, from, path, open }: Replacement): Promise<void> {
    this.assertNotLeft(from);
    const previous = from.getSessionFile();
    const closing = await this.#leave({ reason, from, path, open });
    if (this.#hasEnded) {
      await this.#session.close();
      throw makeClosedError();
    }
    await this.#hooks.emit("session_start", {
      reason,
      ...(previous !== undefined && { previousSessionFile: previous }),
    });
    if (closing.status === "rejected") throw closing.reason;
  }

  /** Shuts down the current session and closes it permanently. Idempotent. */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    // A command that is leaving the session detects this and closes the next session.
    if (this.#isBeingLeft) return;
    await this.#hooks.emit("session_shutdown", { reason: "quit" });
    this.#leaving.abort();
    await this.#session.close();
  }

  async #leave({ reason, from, path, open }: Replacement): Promise<PromiseSettledResult<void>> {
    this.#isBeingLeft = true;
    try {
      const target = path === undefined ? {} : { targetSessionFile: path };
      await this.#hooks.emit("session_shutdown", { reason, ...target });
      const [outcome] = await Promise.allSettled([from.close()]);
      const left = this.#leaving;
      this.#session = await open();
      this.#leaving = new AbortController();
      left.abort();
      return outcome;
    } finally {
      this.#isBeingLeft = false;
    }
  }
}

function makeClosedError(): SessionError {
  return new SessionError("SESSION_CLOSED", "The controller is closed; create another one.");
}
