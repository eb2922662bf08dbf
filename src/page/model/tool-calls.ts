import { fieldsOf, listOf } from "../../context/entry-fields.ts";
import { textOf } from "../../context/message-parts.ts";
import type { AnySessionEntry } from "../../core.ts";

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

/** A call stands at most so many entries above its result. */
const FARTHEST = 50;

/** A call, and the answer of the model that holds it. */
export interface PlacedCall extends StoredCall {
  readonly answer: number;
}

/** What is needed to go up from an entry. */
interface Ancestry {
  readonly entries: readonly AnySessionEntry[];
  readonly parents: Int32Array;
}

/** Finds the call that an entry is the result of, on the path to it; undefined if there is none. */
export function callOfResult({ entries, parents }: Ancestry, ordinal: number): PlacedCall | undefined {
  const id = resultCallId(entries[ordinal]);
  if (id === "") return undefined;
  let at = ordinal;
  for (let climbed = 0; climbed < FARTHEST && at >= 0; climbed++) {
    const call = callsIn(entries[at]).find((one) => one.id === id);
    if (call !== undefined) return { ...call, answer: at };
    at = parents[at] ?? -1;
  }
  return undefined;
}

/** Finds the answer of a model that an entry is, or that made the call which it is the result of; undefined for others. */
export function answerOf(session: Ancestry, ordinal: number): number | undefined {
  const { role } = fieldsOf(fieldsOf(session.entries[ordinal])["message"]);
  return role === "assistant" ? ordinal : callOfResult(session, ordinal)?.answer;
}
