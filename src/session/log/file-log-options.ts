import {
  CALLBACK,
  FLAG,
  makeChoiceRule,
  makeNumberRule,
  OBJECT,
  type OptionRules,
  SIGNAL,
} from "../../core/format/options.ts";
import type { FileSystem } from "../fs/file-system.ts";

/** Options for using a session file. */
export interface FileLogOptions {
  /** Access mode. `read-only` never writes and keeps no descriptor open. Default: `read-write`. */
  readonly mode?: "read-write" | "read-only";
  /**
   * Level of durability that an append waits for. `os` (default): the entry survives the process. `fsync`: it survives a power
   * failure.
   */
  readonly durability?: "os" | "fsync";
  /** Maximum length of a line, in bytes. Longer lines are reported as issues. Default: 256 MiB. */
  readonly maxLineBytes?: number;
  /**
   * Behavior if another process holds the lease. `none` (default): ignore leases. `fail`: throw. `read-only`: open the session
   * read-only. `wait`: wait for the lease.
   */
  readonly lease?: "none" | "fail" | "read-only" | "wait";
  /** Maximum time to wait with `lease: "wait"`, in milliseconds. Blocks the thread. Default: 10,000. */
  readonly leaseWaitMs?: number;
  /** Whether to create a new session's file immediately instead of with the first message. */
  readonly createAtOnce?: boolean;
  /**
   * Whether opening or appending to a missing session throws `SESSION_NOT_FOUND`. Default: false. Opening a missing path then
   * creates a session, and the next append recreates a file that was removed, unless this library deleted it.
   */
  readonly mustExist?: boolean;
  /** File system to use, for tests. */
  readonly fs?: FileSystem;
}

/** Validation rules for these options. */
export const FILE_LOG_RULES: OptionRules<FileLogOptions> = {
  mode: makeChoiceRule("read-write", "read-only"),
  durability: makeChoiceRule("os", "fsync"),
  maxLineBytes: makeNumberRule(1, "bytes"),
  lease: makeChoiceRule("none", "fail", "read-only", "wait"),
  leaseWaitMs: makeNumberRule(0, "milliseconds"),
  createAtOnce: FLAG,
  mustExist: FLAG,
  fs: OBJECT,
};

/** Options for an asynchronous open. */
export interface LoadOptions {
  /** Called periodically with the number of bytes read and the total number of bytes. */
  readonly onProgress?: (loaded: number, total: number) => void;
  /** Signal that aborts loading. The call then throws `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** Validation rules for these options. */
export const LOAD_RULES: OptionRules<LoadOptions> = { onProgress: CALLBACK, signal: SIGNAL };
