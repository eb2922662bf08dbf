import type { AnySessionEntry } from "../../core.ts";
import { fieldsOf, listOf, textOf } from "./fields.ts";

/** A call of a tool, as an answer of the model holds it. */
export interface StoredCall {
  readonly id: string;
  readonly name: string;
  readonly given: unknown;
}

/** Lists the tool calls of an entry; empty for everything but answers of a model. */
export function callsIn(entry: AnySessionEntry | undefined): StoredCall[] {
  const { role, content } = fieldsOf(fieldsOf(entry)["message"]);
  if (role !== "assistant") return [];
  return listOf(content)
    .map(fieldsOf)
    .filter(({ type }) => type === "toolCall")
    .map(({ id, name, arguments: given }) => ({ id: textOf(id), name: textOf(name), given }));
}

/** Returns the id of the call that an entry is the result of; empty for entries that are no result. */
export function resultCallId(entry: AnySessionEntry | undefined): string {
  const { role, toolCallId } = fieldsOf(fieldsOf(entry)["message"]);
  return role === "toolResult" ? textOf(toolCallId) : "";
}

/** Returns the name of the tool that an entry is the result of; empty for entries that are no result. */
export function resultToolName(entry: AnySessionEntry | undefined): string {
  const { role, toolName } = fieldsOf(fieldsOf(entry)["message"]);
  return role === "toolResult" ? textOf(toolName) : "";
}
