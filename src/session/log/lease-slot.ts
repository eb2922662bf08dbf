import { dirname } from "node:path";
import { isSessionError, type SessionError } from "../../core/format/errors.ts";
import { type FileSystem, makeFolder } from "../fs/file-system.ts";
import { toFileError } from "./file-errors.ts";
import type { FileLogOptions } from "./file-log-options.ts";
import { Lease, makeLeaseTakenError } from "./lease.ts";

const DEFAULT_WAIT_MS = 10_000;

/** Lease of a session file, if the options request one. */
export class LeaseSlot {
  readonly #fs: FileSystem;
  readonly #path: string;
  readonly #options: FileLogOptions;
  /** Called when another process has taken the lease from this one. */
  onLoss: ((error: SessionError) => void) | undefined;
  #lease: Lease | undefined;
  #isDenied = false;

  constructor(fs: FileSystem, path: string, options: FileLogOptions) {
    this.#fs = fs;
    this.#path = path;
    this.#options = options;
  }

  /** Acquires the lease of a session file if the options request one. */
  static of(fs: FileSystem, path: string, options: FileLogOptions): LeaseSlot | undefined {
    const { lease = "none", mode } = options;
    if (lease === "none" || mode === "read-only") return undefined;
    const slot = new LeaseSlot(fs, path, options);
    slot.take();
    return slot;
  }

  /** Whether another process holds the lease, so that the session is read-only. */
  get isDenied(): boolean {
    return this.#isDenied;
  }

  /** Error for a lease that another process has taken from this one; otherwise, undefined. */
  get loss(): SessionError | undefined {
    const taker = this.#lease?.taker;
    return taker && makeLeaseTakenError(this.#path, taker);
  }

  /**
   * @throws {SessionError} `LEASE_HELD` if another process holds the lease, unless the options specify `read-only` for that case.
   */
  take(): void {
    const { lease = "none", leaseWaitMs = DEFAULT_WAIT_MS, mode } = this.#options;
    if (lease === "none" || mode === "read-only") return;
    try {
      makeFolder(this.#fs, dirname(this.#path));
      this.#lease = Lease.take(this.#fs, this.#path, lease === "wait" ? leaseWaitMs : 0, () => {
        if (this.loss !== undefined) this.onLoss?.(this.loss);
      });
    } catch (error) {
      if (!isSessionError(error)) throw toFileError(this.#path, "write", error);
      if (lease !== "read-only" || error.code !== "LEASE_HELD") throw error;
      this.#isDenied = true;
    }
  }

  /** Releases the lease. Idempotent. */
  release(): void {
    this.#lease?.release();
  }
}
