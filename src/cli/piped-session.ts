import type { CliIo } from "./io.ts";
import { TemporaryCopies } from "./store/temporary-copies.ts";
import { UsageError } from "./usage-error.ts";

/** Names the session that comes from stdin. */
export const PIPED = "-";

/** The session that comes from stdin, read when it is named: a copy of it, which is only looked at. */
export class PipedSession {
  readonly #io: CliIo;
  #copies: TemporaryCopies | undefined;
  #path: Promise<string> | undefined;
  #known: string | undefined;

  constructor(io: CliIo) {
    this.#io = io;
  }

  /**
   * Gives the path of the copy, which is made once.
   *
   * @throws {UsageError} If stdin is a terminal, from which no session comes.
   * @throws {SessionError} `WRITE_FAILED` if there is no room for the copy.
   */
  async path(): Promise<string> {
    this.#path ??= this.#write();
    this.#known = await this.#path;
    return this.#known;
  }

  /** Whether a path is that of the copy. */
  isAt(path: string): boolean {
    return path === this.#known;
  }

  /** Removes the copy. Idempotent. */
  remove(): void {
    this.#copies?.remove();
    this.#copies = undefined;
  }

  async #write(): Promise<string> {
    const { stdin } = this.#io;
    if (stdin === undefined || stdin.isTTY === true) {
      throw new UsageError('"-" reads a session from stdin; pipe one in, as in "sessiontree tree - < FILE".');
    }
    this.#copies = new TemporaryCopies();
    return this.#copies.write("stdin", bytesOf(stdin));
  }
}

async function* bytesOf(pieces: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array, void> {
  for await (const piece of pieces) yield typeof piece === "string" ? Buffer.from(piece) : piece;
}
