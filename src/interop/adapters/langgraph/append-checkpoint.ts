import type { Checkpoint as LangGraphCheckpoint } from "@langchain/langgraph-checkpoint";
import { addTo } from "../../../core/format/group-by.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import type { DraftMaker, EntryDraft } from "../../../session/manager/entry-draft.ts";
import type { OpenSession } from "../session-pool.ts";
import { diffLists, type ListChange, makeCheckpointDraft } from "./checkpoint-entries.ts";
import type { DumpedValue } from "./message-cache.ts";
import {
  editDraft,
  findEditableTarget,
  findMessageId,
  type HeldMessage,
  holdMessage,
  type ListedMessage,
  makeMessageDraft,
} from "./message-entries.ts";
import type { StoredValue } from "./stored-value.ts";
import type { Checkpoint, ThreadState } from "./thread-state.ts";

/** A checkpoint to append, and the values to store in its entry. */
export interface NewCheckpoint {
  readonly ns: string;
  readonly parentId: string | undefined;
  /** Checkpoints of the graphs that enclose a subgraph, by namespace. */
  readonly parents: JsonRecord;
  readonly checkpoint: LangGraphCheckpoint;
  readonly values: ReadonlyMap<string, DumpedValue>;
  readonly metadata: StoredValue;
}

/** Appends a checkpoint in a single write: its new messages, its changes to older messages, and then the checkpoint itself. */
export function appendCheckpoint(
  { session, state }: OpenSession<ThreadState>,
  { ns, parentId, parents, checkpoint, values, metadata }: NewCheckpoint,
): void {
  const above = findCheckpointAbove(state, ns, parentId, parents);
  const { v, id, ts, channel_versions: versions, versions_seen: seen } = checkpoint;
  const timestamp = Number.isFinite(Date.parse(ts)) ? Date.parse(ts) : Date.now();
  const lists = new Lists(state, above, timestamp, (entryId) => session.getEntry(entryId));
  const others = new Map<string, StoredValue>();
  for (const [channel, value] of values) {
    if (!("messages" in value)) others.set(channel, value);
    else if (!lists.add(channel, value.messages)) others.set(channel, { json: [] });
  }
  const isSameGraph = above?.head.ns === ns;
  const drafts = isSameGraph ? lists.drafts() : lists.newMessages();
  const head = { ns, id, ...(parentId !== undefined && { parentId }), v, ts, versions, seen };
  const last: DraftMaker = () => makeCheckpointDraft({ ...head, lists: lists.changes() }, others, metadata);
  session.appendAll([...drafts, last], { parentId: state.getTail(above) });
}

/** Returns the parent or, for a subgraph's first checkpoint, the enclosing graph's checkpoint. */
function findCheckpointAbove(
  state: ThreadState,
  ns: string,
  parentId: string | undefined,
  parents: JsonRecord,
): Checkpoint | undefined {
  const parent = parentId === undefined ? undefined : state.find(ns, parentId);
  if (parent !== undefined) return parent;
  // The innermost graph has the longest namespace.
  const around = Object.entries(parents).sort(([a], [b]) => b.length - a.length);
  for (const [outer, id] of around) {
    const found = outer === ns || typeof id !== "string" ? undefined : state.find(outer, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A list element: an existing entry, or a message for which an entry is created. */
type Element = { readonly entryId: string } | { readonly made: NewMessage };

/** A message for which this append creates an entry. */
interface NewMessage {
  readonly listed: ListedMessage;
  readonly held: HeldMessage;
  /** Id of the message entry that it changes. */
  readonly targetId?: string;
  /** The id is known only after the entry has been created. */
  entryId: string;
}

/** Message lists of a new checkpoint, compared with those of the checkpoint above it. */
class Lists {
  readonly #state: ThreadState;
  readonly #timestamp: number;
  readonly #getEntry: (id: string) => Parameters<typeof findEditableTarget>[0];
  readonly #before = new Map<string, readonly string[]>();
  readonly #after = new Map<string, Element[]>();
  /** Number of unchanged elements at the start of each list, by channel. */
  readonly #unchanged = new Map<string, number>();
  readonly #made: NewMessage[] = [];

  constructor(
    state: ThreadState,
    above: Checkpoint | undefined,
    timestamp: number,
    getEntry: (id: string) => Parameters<typeof findEditableTarget>[0],
  ) {
    this.#state = state;
    this.#timestamp = timestamp;
    this.#getEntry = getEntry;
    for (const channel of above?.listNames ?? []) this.#before.set(channel, state.listAt(above, channel));
  }

  /** Adds a channel's list. Returns false if the list is empty and was empty before, because it is then not a message list. */
  add(channel: string, messages: readonly ListedMessage[]): boolean {
    const before = this.#before.get(channel) ?? [];
    if (messages.length === 0 && before.length === 0) return false;
    const count = this.#countUnchanged(before, messages);
    const kept = before.slice(0, count);
    const rest = messages.slice(count);
    const pool = rest.length === 0 ? new Map<string, Element[]>() : this.#pool(channel, before, count);
    const known = rest.map(({ digest }) => pool.get(digest)?.shift());
    const former = this.#formerOnes(before.slice(count), known);
    const after = rest.map((listed, at) => known[at] ?? this.#make(listed, former));
    this.#unchanged.set(channel, count);
    this.#after.set(channel, [...kept.map((entryId) => ({ entryId })), ...after]);
    return true;
  }

  /** Returns the number of unchanged elements at the start of a list. */
  #countUnchanged(before: readonly string[], messages: readonly ListedMessage[]): number {
    const end = Math.min(before.length, messages.length);
    for (let at = 0; at < end; at++)
      if (this.#state.findMessage(before[at] ?? "")?.digest !== messages[at]?.digest) return at;
    return end;
  }

  /** Returns the elements that are no longer in a list, by message id. */
  #formerOnes(before: readonly string[], known: readonly (Element | undefined)[]): Map<string, string> {
    const kept = new Set(known.map((element) => element && "entryId" in element && element.entryId));
    const former = new Map<string, string>();
    for (const entryId of before) {
      const id = kept.has(entryId) ? undefined : findMessageId(this.#getEntry(entryId));
      if (id !== undefined) former.set(id, entryId);
    }
    return former;
  }

  /**
   * Returns reusable elements by digest: first from the previous list, excluding its unchanged start, and then from other lists.
   */
  #pool(channel: string, before: readonly string[], count: number): Map<string, Element[]> {
    const pool = new Map<string, Element[]>();
    const others = Array.from(this.#before).flatMap(([name, list]) => (name === channel ? [] : list));
    const ids = new Set([...before.slice(count), ...others]);
    if (others.length > 0) for (const entryId of before.slice(0, count)) ids.delete(entryId);
    const put = (digest: string | undefined, element: Element) => {
      if (digest !== undefined) addTo(pool, digest, element);
    };
    for (const entryId of ids) put(this.#state.findMessage(entryId)?.digest, { entryId });
    for (const made of this.#made) put(made.listed.digest, { made });
    return pool;
  }

  /**
   * Creates a message's entry: a new entry, or a change to the entry with the same message id, unless that entry was redacted.
   */
  #make(listed: ListedMessage, formerOnes: Map<string, string>): Element {
    const formerId = listed.id === undefined ? undefined : formerOnes.get(listed.id);
    if (listed.id !== undefined) formerOnes.delete(listed.id);
    if (formerId !== undefined && this.#state.isRedacted(formerId)) return { entryId: formerId };
    const former = formerId === undefined ? undefined : findEditableTarget(this.#getEntry(formerId));
    const held = holdMessage(listed, this.#timestamp);
    const target = former?.role === held.message.role ? former : undefined;
    const made = { listed, held, entryId: "", ...(target && { targetId: target.id }) };
    this.#made.push(made);
    return { made };
  }

  /** Creates entries for the new messages on a branch that follows another graph's conversation. */
  newMessages(): DraftMaker[] {
    return this.#made.map((made) => noteMessage(made, () => makeMessageDraft(made.held, this.#isCopy(made))));
  }

  /** Creates the entries for new messages, changed messages, and messages that were removed from all lists. */
  drafts(): (DraftMaker | EntryDraft)[] {
    const changed = new Set(this.#made.map(({ targetId }) => targetId));
    const removed = this.#removed().flatMap((entryId) => {
      const target = findEditableTarget(this.#getEntry(entryId));
      return target === undefined || changed.has(target.id) ? [] : [editDraft(target.id, null)];
    });
    const made = this.#made.map((one) =>
      noteMessage(one, () =>
        one.targetId === undefined
          ? makeMessageDraft(one.held, this.#isCopy(one))
          : editDraft(one.targetId, one.held),
      ),
    );
    return [...removed, ...made];
  }

  #isCopy({ listed }: NewMessage): boolean {
    return this.#state.hasMessage(listed.id);
  }

  #removed(): string[] {
    const gone = new Set<string>();
    for (const [channel, count] of this.#unchanged)
      for (const entryId of this.#before.get(channel)?.slice(count) ?? []) gone.add(entryId);
    if (gone.size === 0) return [];
    for (const [channel, before] of this.#before)
      if (!this.#after.has(channel)) for (const entryId of before) gone.delete(entryId);
    for (const list of this.#after.values())
      for (const element of list) if ("entryId" in element) gone.delete(element.entryId);
    return [...gone];
  }

  /** Returns the changes to each list. Call this only after the entries have been created. */
  changes(): { [channel: string]: ListChange[] } {
    const changes = Array.from(this.#after, ([channel, list]) => {
      const after = list.map((element) => ("entryId" in element ? element.entryId : element.made.entryId));
      const unchanged = this.#unchanged.get(channel) ?? 0;
      return [channel, diffLists(this.#before.get(channel) ?? [], after, unchanged)] as const;
    });
    return Object.fromEntries(changes);
  }
}

function noteMessage(made: NewMessage, make: () => EntryDraft): DraftMaker {
  return (id) => {
    made.entryId = id;
    return make();
  };
}
