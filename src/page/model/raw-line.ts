import type { SessionIssue } from "../../core.ts";

/** Bytes of a damaged place that are shown. */
const MOST_BYTES = 600;

/** Returns the beginning of the bytes that an issue is about, as text; what is no UTF-8 becomes U+FFFD. */
export function rawTextOf(bytes: Uint8Array, { offset, length }: SessionIssue): string {
  const shown = bytes.subarray(offset, offset + Math.min(length, MOST_BYTES));
  const text = new TextDecoder().decode(shown);
  return length > MOST_BYTES ? `${text}…` : text;
}
