import { dirname } from "node:path";
import { isSessionError, type SessionError } from "../../core/format/errors.ts";
import { type FileSystem, makeFolder } from "../fs/file-system.ts";
import { fileError } from "./file-errors.ts";
import type { FileLogOptions } from "./file-log-options.ts";
import { Lease, leaseTaken } from "./lease.ts";

const DEFAULT_WAIT_MS = 10_000;

/** The lease of one session file, if its options ask for one. */
export class LeaseSlot {
  readonly #fs: FileSystem;
  readonly #path: string;
  readonly #options: FileLogOptions;
  readonly #onLoss: ((error: SessionError) => void) | undefined;
  #lease: Lease | undefined;
  #isDenied = false;

  /** @param onLoss - Called when another process has taken the lease from this one. */
  constructor(fs: FileSystem, path: string, options: FileLogOptions, onLoss?: (error: SessionError) => void) {
    this.#fs = fs;
    this.#path = path;
    this.#options = options;
    this.#onLoss = onLoss;
  }

  /** Whether another process has the lease, so that the session may only be read. */
  get isDenied(): boolean {
    return this.#isDenied;
  }

  /** The error for a lease that another process has taken from this one; undefined if none has. */
  get loss(): SessionError | undefined {
    const taker = this.#lease?.taker;
    return taker && leaseTaken(this.#path, taker);
  }

  /** @throws {SessionError} `LEASE_HELD`, unless the options ask for read-only then. */
  take(): void {
    const { lease = "none", leaseWaitMs = DEFAULT_WAIT_MS, mode } = this.#options;
    if (lease === "none" || mode === "read-only") return;
    try {
      makeFolder(this.#fs, dirname(this.#path));
      this.#lease = Lease.take(this.#fs, this.#path, lease === "wait" ? leaseWaitMs : 0, () => {
        if (this.loss !== undefined) this.#onLoss?.(this.loss);
      });
    } catch (error) {
      if (!isSessionError(error)) throw fileError(this.#path, "write", error);
      if (lease !== "read-only" || error.code !== "LEASE_HELD") throw error;
      this.#isDenied = true;
    }
  }

  /** Releases the lease. Idempotent. */
  release(): void {
    this.#lease?.release();
  }
}
