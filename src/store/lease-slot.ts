import { dirname } from "node:path";
import { isSessionError } from "../errors.ts";
import { fileError } from "./file-errors.ts";
import type { FileLogOptions } from "./file-log-options.ts";
import { type FileSystem, makeFolder } from "./file-system.ts";
import { Lease } from "./lease.ts";

const DEFAULT_WAIT_MS = 10_000;

/** The lease of one session file, if its options ask for one. */
export class LeaseSlot {
  readonly #fs: FileSystem;
  readonly #path: string;
  readonly #options: FileLogOptions;
  #lease: Lease | undefined;
  #isDenied = false;

  constructor(fs: FileSystem, path: string, options: FileLogOptions) {
    this.#fs = fs;
    this.#path = path;
    this.#options = options;
  }

  /** Whether another process has the lease, and the session may only be read for that. */
  get isDenied(): boolean {
    return this.#isDenied;
  }

  /** @throws {SessionError} `LEASE_HELD`, unless the options say to go on read-only. */
  take(): void {
    const { lease = "none", leaseWaitMs = DEFAULT_WAIT_MS, mode } = this.#options;
    if (lease === "none" || mode === "read-only") return;
    try {
      makeFolder(this.#fs, dirname(this.#path));
      this.#lease = Lease.take(this.#fs, this.#path, lease === "wait" ? leaseWaitMs : 0);
    } catch (error) {
      if (!isSessionError(error)) throw fileError(this.#path, "write", error);
      if (lease !== "read-only" || error.code !== "LEASE_HELD") throw error;
      this.#isDenied = true;
    }
  }

  /** Gives the lease up. Idempotent. */
  release(): void {
    this.#lease?.release();
  }
}
