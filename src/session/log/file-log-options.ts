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
  /** Condition for a successful append. `os` (default): it survives the process. `fsync`: it survives a power failure. */
  readonly durability?: "os" | "fsync";
  /** Maximum number of bytes of a line; a longer line is an issue. Default: 256 MiB. */
  readonly maxLineBytes?: number;
  /** Behavior if another process holds the lease: ignore it (default), throw, read only, or wait for it. */
  readonly lease?: "none" | "fail" | "read-only" | "wait";
  /** Maximum wait for `lease: "wait"`, in milliseconds; blocks the thread. Default: 10,000. */
  readonly leaseWaitMs?: number;
  /** Whether to create a new session's file immediately instead of with the first message. */
  readonly createAtOnce?: boolean;
  /**
   * Whether a missing session is an error: opening it and appending to it throw `SESSION_NOT_FOUND`. Default: false; a missing
   * path begins a session, and the next append recreates a file that was removed, unless this library deleted it.
   */
  readonly mustExist?: boolean;
  /** For tests. */
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
  /** Aborts loading with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** Validation rules for these options. */
export const LOAD_RULES: OptionRules<LoadOptions> = { onProgress: CALLBACK, signal: SIGNAL };
