import { LINE_BREAK } from "../../core/jsonl/line-scanner.ts";
import { hashSha256 } from "../../session/fs/digest.ts";
import { parseEntryFacts } from "../contract/line-facts.ts";
import type { NewEntryLine, NewLine, StoredLine } from "../contract/session-backend.ts";

const LF = 0x0a;

const encoder = new TextEncoder();

/** Rejects invalid UTF-8 and keeps a byte order mark, so that encoding the result returns the same bytes. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Number of bytes at which a batch of lines is sent. */
const BATCH_BYTES = 1024 * 1024;

/** Maximum number of lines sent in one batch. */
const BATCH_LINES = 500;

/** Decodes the bytes of a line, and adds the facts that the line can be queried by. */
export function toNewLine(bytes: Uint8Array, withSearchText: boolean): NewLine {
  const text = decodeText(bytes);
  if (text === undefined) return { text: Buffer.from(bytes).toString("base64"), encoding: "base64" };
  const entry = parseEntryFacts(text, withSearchText);
  return entry === undefined ? { text } : { text, entry };
}

/** Creates the line of an entry encoded by this library. */
export function makeEntryLine(text: string, withSearchText: boolean): NewEntryLine {
  const entry = parseEntryFacts(text, withSearchText);
  if (entry === undefined) throw new TypeError("a line to append must contain an entry with an id");
  return { text, entry };
}

/** Recognizes lines that repeat an earlier entry of the session. Repeated lines are kept but are not treated as entries. */
class SeenLines {
  readonly #digests = new Set<string>();

  /** Returns the line, without the facts of its entry if the line repeats an earlier line. */
  withoutRepeat(line: NewLine): NewLine {
    const { entry, ...rest } = line;
    if (entry === undefined) return line;
    const digest = hashSha256(line.text.trimEnd());
    if (this.#digests.has(digest)) return rest;
    this.#digests.add(digest);
    return line;
  }
}

/** Returns the bytes of a line, without a line break. */
export function toBytes({ text, encoding }: Pick<StoredLine, "text" | "encoding">): Uint8Array {
  return encoding === "base64" ? Buffer.from(text, "base64") : encoder.encode(text);
}

/** Joins the bytes of lines, with a line break after each line. The session's last line may lack a line break. */
export function joinLines(lines: readonly StoredLine[], isLast: boolean): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (const [i, line] of lines.entries()) {
    pieces.push(toBytes(line));
    const isOpen = isLast && i === lines.length - 1 && line.isUnterminated === true;
    if (!isOpen) pieces.push(LINE_BREAK);
  }
  return Buffer.concat(pieces);
}

/**
 * Splits bytes into lines without losing any bytes, in batches of about one megabyte.
 *
 * @param pieces - Pieces of any size, split anywhere. Each piece is read completely before the next one is requested.
 * @remarks Cost: O(bytes); memory O(batch + longest line).
 */
export async function* splitLineBatches(
  pieces: AsyncIterable<Uint8Array>,
  withSearchText: boolean,
): AsyncGenerator<NewLine[], void> {
  let carry: Uint8Array[] = [];
  let batch: NewLine[] = [];
  let bytes = 0;
  const seen = new SeenLines();
  const take = (end: Uint8Array): void => {
    const whole = carry.length === 0 ? end : Buffer.concat([...carry, end]);
    carry = [];
    bytes += whole.length;
    batch.push(seen.withoutRepeat(toNewLine(whole, withSearchText)));
  };
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(LF); end !== -1; end = piece.indexOf(LF, start)) {
      take(piece.subarray(start, end));
      start = end + 1;
      if (bytes < BATCH_BYTES && batch.length < BATCH_LINES) continue;
      yield batch;
      [batch, bytes] = [[], 0];
    }
    if (start < piece.length) carry.push(piece.slice(start));
  }
  if (carry.length > 0) {
    take(new Uint8Array(0));
    const last = batch.pop();
    if (last !== undefined) batch.push({ ...last, isUnterminated: true });
  }
  if (batch.length > 0) yield batch;
}

function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Yields one piece. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}
