import { fieldsOf } from "../context/entry-fields.ts";

/** Arguments that say most about a call, best first. */
const TELLING = [
  ...["path", "file_path", "filePath", "command", "cmd"],
  ...["pattern", "query", "url", "prompt", "name", "title"],
];

/** Returns the argument that says most about a tool call: its file, command or query; empty if none does. */
export function tellingArgument(input: unknown): string {
  const fields = fieldsOf(input);
  const found = TELLING.map((key) => fields[key]).find((value) => typeof value === "string" && value !== "");
  return typeof found === "string" ? found : "";
}
