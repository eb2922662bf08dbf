import { getMessageFields, toRecord } from "../context/entry-fields.ts";
import { getMessageParts, toText } from "../context/message-parts.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import { type EntryTree, NONE } from "../tree/entry-tree.ts";

/** A session as this room reads it: a tree of heads, and bodies where they are wanted. */
export interface ViewSource {
  readonly tree: EntryTree;
  /** Returns one entry, or undefined if its body is damaged. */
  entryAt(ordinal: number): AnySessionEntry | undefined;
  /** Calls `take` for each of some entries, in their order; undefined stands for a damaged body. */
  readEntries(
    ordinals: Iterable<number>,
    take: (ordinal: number, entry: AnySessionEntry | undefined) => void,
  ): void;
}

/** A call and its result stand at most so many entries apart. */
const FARTHEST = 50;

/** A call of a tool, as an answer of the model holds it. */
export interface StoredCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** An entry and its ordinal. */
export interface LocatedEntry {
  readonly ordinal: number;
  readonly entry: AnySessionEntry;
}

/** A call of a tool, and the answer that holds it. */
interface LocatedCall extends LocatedEntry, StoredCall {}

type CallSource = Pick<ViewSource, "entryAt" | "tree">;

/** Returns the tool calls of an entry; empty for everything but answers of a model. */
export function getToolCalls(entry: AnySessionEntry | undefined): StoredCall[] {
  const message = getMessageFields(entry);
  if (message["role"] !== "assistant") return [];
  return getMessageParts(message).flatMap((part) =>
    part.kind === "toolCall" ? { id: part.id, name: part.name, input: part.arguments } : [],
  );
}

/** Returns the id of the call that an entry is the result of; empty for entries that are no result. */
export function getResultCallId(entry: AnySessionEntry | undefined): string {
  const { role, toolCallId } = getMessageFields(entry);
  return role === "toolResult" ? toText(toolCallId) : "";
}

/** Returns the name of the tool that an entry is the result of; empty for entries that are no result. */
export function getResultToolName(entry: AnySessionEntry | undefined): string {
  const { role, toolName } = getMessageFields(entry);
  return role === "toolResult" ? toText(toolName) : "";
}

/** Finds the call that an entry is the result of, at most 50 entries above it; undefined if the entry is no result, or its call is not there. */
export function findCall(session: CallSource, ordinal: number): LocatedCall | undefined {
  const id = getResultCallId(session.entryAt(ordinal));
  if (id === "") return undefined;
  let at = session.tree.parentAt(ordinal);
  for (let climbed = 0; climbed < FARTHEST && at !== NONE; climbed++) {
    const entry = session.entryAt(at);
    const call = getToolCalls(entry).find((one) => one.id === id);
    if (entry !== undefined && call !== undefined) return { ...call, ordinal: at, entry };
    at = session.tree.parentAt(at);
  }
  return undefined;
}

/** Finds the answer of a model that an entry is, or that made the call which it is the result of; undefined for others. */
export function findAnswer(session: CallSource, ordinal: number): number | undefined {
  const { role } = getMessageFields(session.entryAt(ordinal));
  return role === "assistant" ? ordinal : findCall(session, ordinal)?.ordinal;
}

/** Finds the results of the calls that an answer holds, within 50 entries behind it, in the order of the tree. */
export function findResults(session: CallSource, ordinal: number): LocatedEntry[] {
  const ids = new Set(getToolCalls(session.entryAt(ordinal)).map(({ id }) => id));
  if (ids.size === 0) return [];
  return findFollowing(session, ordinal).filter(({ entry }) => {
    const id = getResultCallId(entry);
    return id !== "" && ids.has(id);
  });
}

/** Finds the answer that a model gave after an entry; undefined if it gave none. */
export function findNextAnswer(session: CallSource, ordinal: number): LocatedEntry | undefined {
  return findFollowing(session, ordinal).find(({ entry }) => getMessageFields(entry)["role"] === "assistant");
}

/** The next entries below one, nearest first. */
function findFollowing(session: CallSource, ordinal: number): LocatedEntry[] {
  const found: LocatedEntry[] = [];
  const open: number[] = [];
  addChildren(session, ordinal, open);
  for (let looked = 0; looked < FARTHEST; looked++) {
    const at = open.shift();
    if (at === undefined) break;
    const entry = session.entryAt(at);
    if (entry !== undefined) found.push({ ordinal: at, entry });
    addChildren(session, at, open);
  }
  return found;
}

/** Adds what hangs on an entry; where very many branches begin, the first of them. */
function addChildren({ tree }: CallSource, ordinal: number, open: number[]): void {
  for (const child of tree.children(ordinal)) if (open.push(child) >= FARTHEST) return;
}

/** Arguments that say most about a call, best first. */
const TELLING = [
  ...["path", "file_path", "filePath", "command", "cmd"],
  ...["pattern", "query", "url", "prompt", "name", "title"],
];

/** Returns the argument that says most about a tool call: its file, command or query; empty if none does. */
export function getTellingArgument(input: unknown): string {
  const fields = toRecord(input);
  return TELLING.map((key) => toText(fields[key])).find(Boolean) ?? "";
}
