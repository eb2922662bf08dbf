import { isJsonRecord, type JsonRecord } from "../format/json.ts";

// A byte order mark at the start of a line is text; the scanner removes the one at the start of a file.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Decodes UTF-8; replaces invalid sequences with U+FFFD. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Parses JSON. Returns undefined if the string is not valid JSON. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Parses a line as a record. Returns undefined if it is not a JSON object. */
export function decodeRecord(bytes: Uint8Array): JsonRecord | undefined {
  return parseRecord(decodeText(bytes));
}

/** Parses the text of a line as a record. Returns undefined if it is not a JSON object. */
export function parseRecord(text: string): JsonRecord | undefined {
  const value = parseJson(text)?.value;
  return isJsonRecord(value) ? value : undefined;
}
