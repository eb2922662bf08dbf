import { toRecord } from "../../core/context/entry-fields.ts";
import type { JsonRecord } from "../../core/format/json.ts";
import { parseJson } from "../../core/jsonl/decode.ts";
import type { CliIo } from "./io.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Reads the JSON that an agent writes to a hook.
 *
 * Always reads stdin to the end, because an agent that writes to a closed pipe may fail.
 *
 * @param maxBytes - Maximum number of bytes that are parsed.
 * @returns Empty if the input is not a JSON object.
 * @throws {UsageError} If there is no stdin, or the input is too long.
 */
export async function readHookInput({ stdin }: CliIo, maxBytes: number): Promise<JsonRecord> {
  if (stdin === undefined || stdin.isTTY === true)
    throw new UsageError("--hook reads from stdin; an agent writes to it.");
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const piece of stdin) {
    bytes += piece.length;
    if (bytes <= maxBytes)
      text += typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
  }
  if (bytes > maxBytes)
    throw new UsageError(`--hook reads at most ${maxBytes} bytes; the input has ${bytes}.`);
  return toRecord(parseJson(text)?.value);
}
