import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { TEMPORARY_FOLDER_PREFIX } from "../../fs/temporary-files.ts";
import { fileError } from "../../log/file-errors.ts";

/** What ends a program that nobody is asked about. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Ids of which a file's name can be made. */
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

/** A folder for copies of sessions that only its owner can enter, and that goes with the program however that ends. */
export class TemporaryCopies {
  #written = 0;
  readonly folder = mkdtempSync(join(tmpdir(), TEMPORARY_FOLDER_PREFIX));
  readonly #remove = () => rmSync(this.folder, { recursive: true, force: true });
  readonly #end = (signal: NodeJS.Signals) => {
    this.remove();
    // Nobody listens any more, so that it has its usual effect.
    process.kill(process.pid, signal);
  };

  constructor() {
    process.once("exit", this.#remove);
    for (const signal of SIGNALS) process.once(signal, this.#end);
  }

  /**
   * Writes a copy.
   *
   * @param id - Of the session: the name of the file, so that whoever names the file names the session.
   * @returns Its path.
   * @throws {SessionError} `WRITE_FAILED`, or what the pieces throw.
   */
  async write(id: string, pieces: AsyncIterable<Uint8Array>): Promise<string> {
    this.#written++;
    const folder = join(this.folder, String(this.#written));
    mkdirSync(folder, { mode: 0o700 });
    const path = join(folder, SAFE_NAME.test(id) ? id : "session");
    const file = createWriteStream(path, { flags: "wx", mode: 0o600 });
    try {
      await pipeline(copied(pieces), file);
    } catch (error) {
      throw fileError(path, "write", error);
    }
    return path;
  }

  /** Removes the folder. Idempotent. */
  remove(): void {
    this.#remove();
    process.off("exit", this.#remove);
    for (const signal of SIGNALS) process.off(signal, this.#end);
  }
}

/** A piece is valid until the next one is asked for, and a stream asks before it has written. */
async function* copied(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const piece of pieces) yield piece.slice();
}
