/**
 * First record of a session file, which identifies the session.
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
  /** Path of the session from which this one was forked. */
  parentSession?: string;
  /** Alternative name of `parentSession`, in old files and in those of the Rust port: read, never written. */
  branchedFrom?: string;
  /** Settings at creation, in version-1 and Rust headers: used only if no entry on the path sets them. */
  provider?: string;
  modelId?: string;
  thinkingLevel?: string;
  /** Name of the session in files of oh-my-pi, until an entry sets another. */
  title?: string;
  /** Last leaf in files of the newer Rust port: kept, not used. */
  leafId?: string;
}
