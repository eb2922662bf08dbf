import type { LoadOptions } from "../log/file-log-options.ts";
import type { SessionLog } from "../log/session-log.ts";
import type { SessionHeader } from "../schema/header.ts";
import type { SessionOptions } from "./session-options.ts";

/** Makes and opens the sessions derived from another one, if they are neither in files nor in memory. */
export interface DerivedSessions {
  /** Begins a session with a header and optional lines. */
  begin(header: SessionHeader, lines?: Iterable<string | Uint8Array>): SessionLog;
  /** Opens the session with an id. */
  load(id: string, load: LoadOptions): Promise<SessionLog>;
}

/** Options of a session whose derived sessions are in a store. */
export interface LogSessionOptions extends SessionOptions {
  readonly derivedSessions?: DerivedSessions;
}
