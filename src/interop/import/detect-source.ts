import { assertText } from "../../core/format/arguments.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import { parseJson } from "../../core/jsonl/decode.ts";
import { detectDocumentSource, type ForeignSource, SourceFinder } from "../../core/jsonl/foreign-source.ts";

/**
 * Format of a text. If the format is in `SOURCE_NAMES`, its sessions can be imported. Sessions from pi and oh-my-pi can be opened
 * without an import.
 */
export type DetectedSource = ForeignSource | "pi" | "oh-my-pi";

/**
 * Detects the program that a session belongs to, based on the first record that identifies one.
 *
 * @param text - Content of a file, or the beginning of the content.
 * @returns Undefined if the format is unknown.
 */
export function detectSource(text: string): DetectedSource | undefined {
  assertText("text", text);
  const finder = new SourceFinder();
  const plain = text.replace(/^\uFEFF/, "");
  for (const line of iterateLines(plain)) {
    const value = parseJson(line)?.value;
    const own = isJsonRecord(value) ? detectOwnDialect(value) : undefined;
    if (own !== undefined) return own;
    finder.take(value);
    if (finder.isDecided) return finder.source;
  }
  return finder.source ?? detectDocumentSource(plain);
}

function detectOwnDialect(record: JsonRecord): "pi" | "oh-my-pi" | undefined {
  const { type } = record;
  if (type === "session") return "titleSource" in record || "title" in record ? "oh-my-pi" : "pi";
  return type === "title" && "v" in record ? "oh-my-pi" : undefined;
}

/** Yields the lines of a text lazily. */
function* iterateLines(text: string): Generator<string, void> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    yield text.slice(start, end === -1 ? text.length : end);
    if (end === -1) return;
    start = end + 1;
  }
}
