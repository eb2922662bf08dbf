import { toRecord } from "../../../core/context/entry-fields.ts";
import { findModel, findThinkingLevel, type ModelChoice } from "../../../core/context/path-settings.ts";
import type { ToolPairRepair } from "../../../core/context/tool-pairs.ts";
import {
  type AgentMessage,
  type AnySessionEntry,
  convertToLlm,
  type Message,
  sessionEntryToContextMessages,
} from "../../../core.ts";
import { KINDS } from "../../text/entry-kind.ts";
import type { ContextSize } from "../../text/usage-text.ts";
import { ByOrdinal } from "./by-ordinal.ts";
import { type ContextChoice, chooseContext } from "./context-choice.ts";
import { findRepairs } from "./context-repairs.ts";
import { measureContext } from "./context-size.ts";
import type { EntryFacts } from "./entry-facts.ts";
import { rememberLatest } from "./latest-results.ts";
import { findLastValue } from "./path-search.ts";
import { findKnownKind, getPathTo, hasFailedAt, type SessionModel } from "./session-model.ts";
import { listShownItems } from "./shown-items.ts";

/**
 * State of an entry in the context at the end of the path:
 *
 * - `seen`: the model receives it as stored; `edited`: changed by a context edit; `removed`: dropped by one.
 * - `compacted`: a compaction replaces it.
 * - `aside`: the model never receives entries of its kind.
 */
export type ItemState = "seen" | "edited" | "removed" | "compacted" | "aside";

/** Labels of the states; empty if no label is needed, or if a notice has the information. */
export const STATE_WORDS: { readonly [state in ItemState]: string } = {
  seen: "",
  edited: "edited for the model",
  removed: "removed from the context",
  compacted: "",
  aside: "",
};

/** Hint for compacted entries. */
export const COMPACTED_HINT = "the model sees a summary instead";

/** Hints that explain the states; undefined if no hint is needed. */
export const STATE_HINTS: { readonly [state in ItemState]: string | undefined } = {
  seen: undefined,
  edited: "The model sees something else here, because of a context edit",
  removed: "Removed by a context edit: the model does not see this",
  compacted: `Compacted: ${COMPACTED_HINT}`,
  aside: "Kept for people and programs: the model does not see this",
};

/** Entry on a path, as the conversation shows it. Its body is parsed on access. */
export interface PathItem {
  readonly ordinal: number;
  readonly entry: AnySessionEntry;
  readonly state: ItemState;
  readonly hasFailed: boolean;
  /** Facts about the entry without its body; undefined until they are known. */
  readonly facts: EntryFacts | undefined;
}

/** Entry that contributes to the model's context, and the messages that it contributes. */
export interface ModelItem extends PathItem {
  readonly messages: readonly Message[];
  readonly state: "seen" | "edited";
}

/** A path from the root to an entry, and the model's context at that entry. */
export interface PathView {
  /** The last entry; NONE before the first. */
  readonly end: number;
  /** Number of entries. */
  readonly size: number;
  readonly items: readonly PathItem[];
  /** Entries that are shown unless the reader requests records of state, usage, and imports. */
  readonly shownItems: readonly PathItem[];
  /** Number of entries that a compaction replaces. */
  readonly compacted: number;
  /** Entries in the model's context, in context order. */
  readonly modelItems: readonly ModelItem[];
  /** Number of messages in the model's context. */
  readonly messageCount: number;
  /** Repairs that these messages need before a provider accepts them; empty until the facts of all entries are known. */
  readonly repairs: readonly ToolPairRepair[];
  /** The same, if they have been accessed before; otherwise, empty. */
  readonly knownRepairs: readonly ToolPairRepair[];
  readonly thinkingLevel: string;
  readonly model: ModelChoice | undefined;
  /** Size of the model's context; undefined until enough facts are known. */
  readonly contextSize: ContextSize | undefined;
  /** Index of each entry on the path, by ordinal. */
  readonly indices: Pick<ByOrdinal, "get" | "has">;
}

/** Number of remembered paths: one for each view that a reader switches between. */
const MAX_VIEWS = 2;

/**
 * Projects the path to an entry, or returns one of the latest projections.
 *
 * @remarks Cost: O(path) in heads and facts. Parses only the bodies of compactions, entries that they keep, and context edits,
 *   plus bodies at the end of the path until it finds the settings and the size of the context.
 */
export const viewPath = rememberLatest(
  (session: SessionModel, end: number): PathView => new StoredPath(session, end),
  MAX_VIEWS,
);

class StoredPath implements PathView {
  readonly end: number;
  readonly indices: ByOrdinal;
  readonly contextSize: ContextSize | undefined;
  readonly model: ModelChoice | undefined;
  readonly thinkingLevel: string;
  readonly #session: SessionModel;
  readonly #ordinals: readonly number[];
  readonly #choice: ContextChoice;
  #items: readonly PathItem[] | undefined;
  #shownItems: readonly PathItem[] | undefined;
  #compacted: number | undefined;
  #knownSent: SentItems | undefined;
  #repairs: readonly ToolPairRepair[] | undefined;

  constructor(session: SessionModel, end: number) {
    const ordinals = getPathTo(session, end);
    this.end = end;
    this.#session = session;
    this.#ordinals = ordinals;
    this.indices = new ByOrdinal(session.size);
    for (const [index, ordinal] of ordinals.entries()) this.indices.set(ordinal, index);
    const path = { ordinals, indices: this.indices };
    this.#choice = chooseContext(session, path);
    this.contextSize = measureContext(session, path, this.#choice);
    this.model = findPathModel(session, ordinals);
    this.thinkingLevel = findPathLevel(session, ordinals);
  }

  get size(): number {
    return this.#ordinals.length;
  }

  get items(): readonly PathItem[] {
    this.#items ??= listItems(this.#session, this.#ordinals, this.#choice);
    return this.#items;
  }

  get compacted(): number {
    this.#compacted ??= this.items.reduce((sum, { state }) => (state === "compacted" ? sum + 1 : sum), 0);
    return this.#compacted;
  }

  get shownItems(): readonly PathItem[] {
    this.#shownItems ??= listShownItems(this.#session, this.items, {});
    return this.#shownItems;
  }

  get modelItems(): readonly ModelItem[] {
    return this.#sent.items;
  }

  get messageCount(): number {
    return this.#sent.messageCount;
  }

  get repairs(): readonly ToolPairRepair[] {
    this.#repairs ??= findRepairs(this.#session, this.modelItems);
    return this.#repairs;
  }

  get knownRepairs(): readonly ToolPairRepair[] {
    return this.#repairs ?? [];
  }

  get #sent(): SentItems {
    this.#knownSent ??= listSent(this.#session, this.#choice);
    return this.#knownSent;
  }
}

/** Entries in a context, and the number of their messages. */
interface SentItems {
  readonly items: readonly ModelItem[];
  readonly messageCount: number;
}

function listSent(session: SessionModel, choice: ContextChoice): SentItems {
  const readMessages = makeMessagesReader(session, choice);
  const items: ModelItem[] = [];
  let messageCount = 0;
  for (const ordinal of choice.ordinals) {
    const state = getStateAt(session, ordinal, true, choice);
    if (state !== "seen" && state !== "edited") continue;
    const item = new ContextItem(session, ordinal, state, readMessages);
    items.push(item);
    // An entry that is sent as stored is one message, unless it is a summary.
    const isOne = state === "seen" && session.facts[ordinal]?.kind.tone !== "summary";
    messageCount += isOne ? 1 : item.messages.length;
  }
  return { items, messageCount };
}

/**
 * Creates the function that returns the messages that the model receives from an entry; it returns the same array as long as the
 * entry stays parsed.
 */
function makeMessagesReader(
  session: SessionModel,
  { project }: ContextChoice,
): (ordinal: number) => readonly Message[] {
  const known = new WeakMap<AnySessionEntry, readonly Message[]>();
  return (ordinal) => {
    const entry = session.entryAt(ordinal);
    const messages = (entry && known.get(entry)) ?? convertToLlm(project(ordinal));
    if (entry !== undefined) known.set(entry, messages);
    return messages;
  };
}

function findPathModel(session: SessionModel, path: readonly number[]): ModelChoice | undefined {
  const { tree } = session;
  const mayName = (ordinal: number) => {
    const kind = findKnownKind(session, ordinal);
    const isAnswer = tree.typeAt(ordinal) === "message" && (kind === undefined || kind === KINDS.assistant);
    return isAnswer || tree.typeAt(ordinal) === "model_change";
  };
  return findLastValue(session, path, mayName, findModel)?.value;
}

function findPathLevel(session: SessionModel, path: readonly number[]): string {
  const { tree } = session;
  const type = "thinking_level_change";
  if (!tree.hasType(type)) return "off";
  const setsLevel = (ordinal: number) => tree.typeAt(ordinal) === type;
  return findLastValue(session, path, setsLevel, findThinkingLevel)?.value ?? "off";
}

/** Types of entries that usually contribute to a context; used until more is known about an entry. */
const SENT_TYPES: ReadonlySet<string> = new Set([
  "message",
  "custom_message",
  "compaction",
  "branch_summary",
]);

function listItems(session: SessionModel, path: readonly number[], choice: ContextChoice): StoredItem[] {
  const chosen = new Uint8Array(session.size);
  for (const ordinal of choice.ordinals) chosen[ordinal] = 1;
  return path.map(
    (ordinal) =>
      new StoredItem(session, ordinal, getStateAt(session, ordinal, chosen[ordinal] === 1, choice)),
  );
}

/** @param isChosen - Whether the entry was chosen for the context. */
function getStateAt(
  { facts, tree, entryAt }: SessionModel,
  ordinal: number,
  isChosen: boolean,
  { compaction, edits, project }: ContextChoice,
): ItemState {
  const type = tree.typeAt(ordinal);
  const isSent = facts[ordinal]?.isSent ?? SENT_TYPES.has(type);
  if (!isSent) return "aside";
  if (!isChosen || (type === "compaction" && ordinal !== compaction)) return "compacted";
  if (!edits.has(ordinal)) return "seen";
  const [message] = project(ordinal);
  const entry = entryAt(ordinal);
  if (message === undefined || entry === undefined) return "removed";
  const [own] = sessionEntryToContextMessages(entry);
  return getContent(message) !== getContent(own) ? "edited" : "seen";
}

function getContent(message: AgentMessage | undefined): unknown {
  return toRecord(message)["content"];
}

class StoredItem<State extends ItemState = ItemState> implements PathItem {
  readonly #session: SessionModel;
  readonly ordinal: number;
  readonly state: State;

  constructor(session: SessionModel, ordinal: number, state: State) {
    this.#session = session;
    this.ordinal = ordinal;
    this.state = state;
  }

  get hasFailed(): boolean {
    return hasFailedAt(this.#session, this.ordinal);
  }

  get facts(): EntryFacts | undefined {
    return this.#session.facts[this.ordinal];
  }

  get entry(): AnySessionEntry {
    const entry = this.#session.entryAt(this.ordinal);
    if (entry === undefined) throw new RangeError(`the session has no entry ${this.ordinal}`);
    return entry;
  }
}

class ContextItem extends StoredItem<"seen" | "edited"> implements ModelItem {
  readonly #readMessages: (ordinal: number) => readonly Message[];

  constructor(
    session: SessionModel,
    ordinal: number,
    state: "seen" | "edited",
    readMessages: (ordinal: number) => readonly Message[],
  ) {
    super(session, ordinal, state);
    this.#readMessages = readMessages;
  }

  get messages(): readonly Message[] {
    return this.#readMessages(this.ordinal);
  }
}
