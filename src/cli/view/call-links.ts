import { fieldsOf } from "../../context/entry-fields.ts";
import { partsOf } from "../../context/message-parts.ts";
import type { AnySessionEntry } from "../../schema/entry.ts";
import { NONE } from "../../tree/entry-tree.ts";
import type { SessionView } from "../session-view.ts";

/** A call and its result stand at most so many entries apart. */
const FARTHEST = 50;

/** An entry and its place. */
export interface PlacedEntry {
  readonly ordinal: number;
  readonly entry: AnySessionEntry;
}

/** A call of a tool, and the answer that holds it. */
export interface FoundCall extends PlacedEntry {
  readonly name: string;
  readonly given: unknown;
}

/**
 * Finds the call that an entry is the result of, on the path to it.
 *
 * @returns Undefined if the entry is no result, or its call is not there.
 * @remarks Cost: O(1); at most 50 bodies are read.
 */
export function callOf(session: SessionView, ordinal: number): FoundCall | undefined {
  const { role, toolCallId } = messageOf(session.entryAt(ordinal));
  if (role !== "toolResult") return undefined;
  let at = session.tree.parentAt(ordinal);
  for (let climbed = 0; climbed < FARTHEST && at !== NONE; climbed++) {
    const entry = session.entryAt(at);
    const call = callsIn(entry).find(({ id }) => id === toolCallId);
    if (entry !== undefined && call !== undefined) {
      return { ordinal: at, entry, name: call.name, given: call.arguments };
    }
    at = session.tree.parentAt(at);
  }
  return undefined;
}

/**
 * Finds the results of the calls that an answer holds, behind it.
 *
 * @returns In the order of the tree; empty if the entry calls nothing.
 * @remarks Cost: O(1); at most 50 bodies are read.
 */
export function resultsOf(session: SessionView, ordinal: number): PlacedEntry[] {
  const ids = new Set<unknown>(callsIn(session.entryAt(ordinal)).map(({ id }) => id));
  if (ids.size === 0) return [];
  return behind(session, ordinal).filter(({ entry }) => {
    const { role, toolCallId } = messageOf(entry);
    return role === "toolResult" && ids.has(toolCallId);
  });
}

/** Finds the answer that a model gave after an entry; undefined if it gave none. */
export function nextAnswer(session: SessionView, ordinal: number): PlacedEntry | undefined {
  return behind(session, ordinal).find(({ entry }) => messageOf(entry)["role"] === "assistant");
}

/** The next entries below one, nearest first. */
function behind(session: SessionView, ordinal: number): PlacedEntry[] {
  const found: PlacedEntry[] = [];
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
function addChildren({ tree }: SessionView, ordinal: number, open: number[]): void {
  for (const child of tree.children(ordinal)) if (open.push(child) >= FARTHEST) return;
}

function messageOf(entry: AnySessionEntry | undefined) {
  return entry?.type === "message" ? fieldsOf(fieldsOf(entry)["message"]) : fieldsOf(undefined);
}

function callsIn(entry: AnySessionEntry | undefined) {
  const message = messageOf(entry);
  return message["role"] === "assistant"
    ? partsOf(message).flatMap((part) => (part.kind === "toolCall" ? part : []))
    : [];
}
