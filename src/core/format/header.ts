/**
 * First record of a session file, which identifies the session.
 *
 * @remarks Source: docs/format.md#header
 */
export interface SessionHeader {
  type: "session";
  /** Format version; absent means 1. */
  version?: number;
  /** Session id: a UUIDv7 unless the caller specified a different id. */
  id: string;
  /** Time of creation, ISO 8601 in UTC. */
  timestamp: string;
  /** Working directory at creation. */
  cwd: string;
  /** Path of the session from which this one was forked. */
  parentSession?: string;
  /** Alternative name for `parentSession` in old files and Rust port files. Read, but never written. */
  branchedFrom?: string;
  /** Initial settings, in version 1 headers and Rust port headers. Used only if no entry on the path sets them. */
  provider?: string;
  modelId?: string;
  thinkingLevel?: string;
  /** Name of the session in oh-my-pi files, until an entry sets another name. */
  title?: string;
  /** Last leaf, in files written by the newer Rust port. Kept, but not used. */
  leafId?: string;
}
