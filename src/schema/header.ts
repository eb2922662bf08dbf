/**
 * The first record of a session file: whose session it is.
 *
 * @remarks Source: docs/format.md#header
 */
export interface SessionHeader {
  type: "session";
  /** Format version; absent means 1. */
  version?: number;
  /** Session id: a UUIDv7 unless the caller chose one. */
  id: string;
  /** Time of creation, ISO 8601 in UTC. */
  timestamp: string;
  /** Working directory at creation. */
  cwd: string;
  /** Path of the session that this one was forked from. */
  parentSession?: string;
}
