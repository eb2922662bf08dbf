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
  /** Another name for `parentSession`, in old files and in those of the Rust port: read, never written. */
  branchedFrom?: string;
  /** Settings at creation, in version-1 and Rust headers: the last resort when nothing on the path says more. */
  provider?: string;
  modelId?: string;
  thinkingLevel?: string;
  /** The session's name in files of oh-my-pi, until an entry sets another. */
  title?: string;
  /** Where the newer Rust port last stood: kept, not used. */
  leafId?: string;
}
