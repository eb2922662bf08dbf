import { fieldsOf } from "../context/entry-fields.ts";
import { textOf } from "../context/message-parts.ts";

/** Arguments that say most about a call, best first. */
const TELLING = [
  ...["path", "file_path", "filePath", "command", "cmd"],
  ...["pattern", "query", "url", "prompt", "name", "title"],
];

/** Returns the argument that says most about a tool call: its file, command or query; empty if none does. */
export function tellingArgument(input: unknown): string {
  const fields = fieldsOf(input);
  return TELLING.map((key) => textOf(fields[key])).find(Boolean) ?? "";
}
