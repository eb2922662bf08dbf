import type { LoadOptions } from "../log/file-log-options.ts";
import type { SessionLog } from "../log/session-log.ts";
import type { SessionHeader } from "../schema/header.ts";
import type { SessionOptions } from "./session-options.ts";

/** Where the sessions live that are made from another one, if neither in files nor only in memory. */
export interface DerivedSessions {
  /** Begins a session of a header, and of lines behind it if there are any. */
  begin(header: SessionHeader, lines?: Iterable<string | Uint8Array>): SessionLog;
  /** Opens the session with an id. */
  load(id: string, load: LoadOptions): Promise<SessionLog>;
}

/** How a session is run whose kin live in a home of their own. */
export interface LogSessionOptions extends SessionOptions {
  readonly derivedSessions?: DerivedSessions;
}
