import { refuseAborted } from "../../core/format/abort.ts";
import { assertArgument } from "../../core/format/arguments.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { assertValidSessionId } from "../../core/format/ids.ts";
import type { OptionRule } from "../../core/format/options.ts";
import { detectForeignSource } from "../../core/jsonl/foreign-source.ts";
import { notASession } from "../../core/jsonl/not-a-session.ts";
import { SessionIndex } from "../../core/jsonl/session-index.ts";

/** Maximum number of bytes searched for a header, which must be at the very beginning. */
const MAX_HEADER_BYTES = 16 * 1024 * 1024;

const PIECES: OptionRule = {
  fits: (value) => typeof Reflect.get(Object(value), Symbol.asyncIterator) === "function",
  words: "an async iterable of bytes",
};

/** Bytes of a session whose header has already been read. */
export interface HeadedBytes {
  readonly header: SessionHeader;
  /** All pieces, including the pieces that have already been read. */
  readonly pieces: AsyncGenerator<Uint8Array, void>;
  /** Closes the source, whether or not any pieces were read. */
  close(): Promise<void>;
}

/** Reads pieces until the header is known. */
export async function readHeaderFirst(
  pieces: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<HeadedBytes> {
  assertArgument("pieces", pieces, PIECES);
  const index = new SessionIndex({ readBytes: () => new Uint8Array(0) });
  const front: Uint8Array[] = [];
  const iterator = pieces[Symbol.asyncIterator]();
  const close = async () => {
    await iterator.return?.();
  };
  const isDone = () => index.header !== undefined || index.isRejected || index.position > MAX_HEADER_BYTES;
  try {
    while (!isDone()) {
      refuseAborted(signal);
      const { value, done } = await iterator.next();
      if (done) break;
      front.push(value.slice());
      index.feed(value);
    }
    if (!isDone()) index.end();
    const { header } = index;
    if (header === undefined) throw makeNoHeaderError(front);
    assertValidSessionId(header.id);
    return { header, pieces: joinFront(front, iterator, signal), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Creates the error for bytes without a header. The error identifies the program that wrote the bytes, if it is known. */
function makeNoHeaderError(front: readonly Uint8Array[]): SessionError {
  const source = detectForeignSource(() => front);
  if (source !== undefined) return notASession("This", {}, source);
  return new SessionError(
    "NOT_A_SESSION",
    "The bytes are not a session: there is no session header among the first records. Check where they come from.",
  );
}

async function* joinFront(
  front: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* front;
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      refuseAborted(signal);
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}
