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

/** How a session file is used. */
export interface FileLogOptions {
  /** `read-only` never writes and holds no descriptor. Default `read-write`. */
  readonly mode?: "read-write" | "read-only";
  /** When an append counts as done. `os` (default): it survives the process. `fsync`: it survives a power cut. */
  readonly durability?: "os" | "fsync";
  /** Bytes; longer lines are an issue. Default 256 MiB. */
  readonly maxLineBytes?: number;
  /** What to do if another process holds the lease: nothing (default), throw, only read, or wait for it. */
  readonly lease?: "none" | "fail" | "read-only" | "wait";
  /** How long `lease: "wait"` waits, in milliseconds; blocks the thread. Default 10,000. */
  readonly leaseWaitMs?: number;
  /** Whether to create a new session's file at once instead of with the first message. */
  readonly createAtOnce?: boolean;
  /**
   * Whether a session that is gone stays gone: opening it and appending to it throw `SESSION_NOT_FOUND`. Default false: a
   * missing path begins a session, and the next append recreates a file that was removed, unless this library deleted it.
   */
  readonly mustExist?: boolean;
  /** For tests. */
  readonly fs?: FileSystem;
}

/** What these options may be. */
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

/** Options of an asynchronous open. */
export interface LoadOptions {
  /** Called from time to time with the bytes read and the bytes in all. */
  readonly onProgress?: (loaded: number, total: number) => void;
  /** Ends the loading with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** What these options may be. */
export const LOAD_RULES: OptionRules<LoadOptions> = { onProgress: CALLBACK, signal: SIGNAL };
