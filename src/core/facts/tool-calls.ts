import { getMessageFields, toRecord } from "../context/entry-fields.ts";
import { getMessageParts, toText } from "../context/message-parts.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import { type EntryTree, NONE } from "../tree/entry-tree.ts";

/** Session as a tree of heads, with bodies read on demand. */
export interface ViewSource {
  readonly tree: EntryTree;
  /** Returns one entry, or undefined if its body is damaged. */
  entryAt(ordinal: number): AnySessionEntry | undefined;
  /** Calls `take` for each given entry, in order. An undefined entry means that the body is damaged. */
  readEntries(
    ordinals: Iterable<number>,
    take: (ordinal: number, entry: AnySessionEntry | undefined) => void,
  ): void;
}

/** Maximum number of entries between a call and its result. */
const FARTHEST = 50;

/** Tool call as stored in an assistant message. */
export interface StoredCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** Entry and its ordinal. */
export interface LocatedEntry {
  readonly ordinal: number;
  readonly entry: AnySessionEntry;
}

type CallSource = Pick<ViewSource, "entryAt" | "tree">;

/** Returns the tool calls of an entry; empty unless it is an assistant message. */
export function getToolCalls(entry: AnySessionEntry | undefined): StoredCall[] {
  const message = getMessageFields(entry);
  if (message["role"] !== "assistant") return [];
  return getMessageParts(message).flatMap((part) =>
    part.kind === "toolCall" ? { id: part.id, name: part.name, input: part.arguments } : [],
  );
}

/** Returns the call id of a tool result; empty for other entries. */
export function getResultCallId(entry: AnySessionEntry | undefined): string {
  const { role, toolCallId } = getMessageFields(entry);
  return role === "toolResult" ? toText(toolCallId) : "";
}

/** Returns the tool name of a tool result; empty for other entries. */
export function getResultToolName(entry: AnySessionEntry | undefined): string {
  const { role, toolName } = getMessageFields(entry);
  return role === "toolResult" ? toText(toolName) : "";
}

/**
 * Finds the call of a tool result among the 50 entries above it. Returns undefined if the entry is not a result or its call is
 * not found.
 */
export function findCall(session: CallSource, ordinal: number): (LocatedEntry & StoredCall) | undefined {
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

/**
 * Finds the assistant message for an entry: the entry itself, or the message that contains the call of a tool result. Returns
 * undefined for other entries.
 */
export function findAnswer(session: CallSource, ordinal: number): number | undefined {
  const { role } = getMessageFields(session.entryAt(ordinal));
  return role === "assistant" ? ordinal : findCall(session, ordinal)?.ordinal;
}

/** Finds the results of an assistant message's calls, among the next 50 entries, in tree order. */
export function findResults(session: CallSource, ordinal: number): LocatedEntry[] {
  const ids = new Set(getToolCalls(session.entryAt(ordinal)).map(({ id }) => id));
  if (ids.size === 0) return [];
  return findFollowing(session, ordinal).filter(({ entry }) => {
    const id = getResultCallId(entry);
    return id !== "" && ids.has(id);
  });
}

/** Finds the model's next answer after an entry; undefined if there is none. */
export function findNextAnswer(session: CallSource, ordinal: number): LocatedEntry | undefined {
  return findFollowing(session, ordinal).find(({ entry }) => getMessageFields(entry)["role"] === "assistant");
}

/** Returns the nearest descendants of an entry, nearest first. */
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

/** Adds the children of an entry. If there are very many, adds only the first ones. */
function addChildren({ tree }: CallSource, ordinal: number, open: number[]): void {
  for (const child of tree.children(ordinal)) if (open.push(child) >= FARTHEST) return;
}

/** Most informative arguments of a call, in order of preference. Some tools take several commands or files at once. */
const TELLING = [
  ...["path", "file_path", "filePath", "command", "cmd", "commands", "files", "paths"],
  ...["pattern", "query", "url", "prompt", "name", "title"],
];

/** Arguments that contain the words of one command if they are an array. */
const COMMANDS: ReadonlySet<string> = new Set(["command", "cmd"]);

/** Returns the most informative argument of a tool call: its file, command, or query; empty if it has none. */
export function getTellingArgument(input: unknown): string {
  const fields = toRecord(input);
  return TELLING.map((key) => formatArgument(key, fields[key])).find(Boolean) ?? "";
}

/** Returns a string, or joins the words of a command, or an array of strings, or of records with a path or command. */
function formatArgument(key: string, value: unknown): string {
  if (!Array.isArray(value)) return toText(value);
  if (COMMANDS.has(key)) return joinCommand(value);
  return value
    .map((one) => toText(one) || toText(toRecord(one)["path"]) || toText(toRecord(one)["command"]))
    .filter(Boolean)
    .join("; ");
}

/** Returns a command given as an array: the last element of `bash -lc …`, or all words. */
export function joinCommand(command: readonly unknown[]): string {
  const words = command.map(toText).filter(Boolean);
  return /^-\w*c$/.test(words[1] ?? "") && words.length === 3 ? (words[2] ?? "") : words.join(" ");
}
