import { estimateContextTokens } from "../../../core/compaction/tokens.ts";
import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { isContextEdit } from "../../../core/context/project-entry.ts";
import { ARRAY, assertArgument } from "../../../core/format/arguments.ts";
import type { Usage } from "../../../core/format/content.ts";
import { asSessionEntry, type SessionEntry } from "../../../core/format/entry.ts";
import { SessionError } from "../../../core/format/errors.ts";
import { hashText } from "../../../core/format/ids.ts";
import { isJsonRecord, type JsonObject, toSafeString } from "../../../core/format/json.ts";
import { UNKNOWN_NAME } from "../../../core/format/message.ts";
import { assertOptions } from "../../../core/format/options.ts";
import type { DraftMaker, EntryDraft } from "../../../session/manager/entry-draft.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import { toUsage } from "../../convert/answer.ts";
import { followClears } from "../cleared-history.ts";
import { isPlain, loadData, spellCanonically, toStoredData } from "../stored-data.ts";
import { collectOperations, type HistoryPart, readHistory, readOperations } from "./item-history.ts";
import type { Answerer } from "./item-message.ts";
import {
  type AppliedOperation,
  countAnswers,
  editDraft,
  ITEMS_CUSTOM_TYPE,
  makeCompactionDraft,
  makeItemDrafts,
  makeMarkerDraft,
} from "./item-record.ts";

/** An item in the SDK's sessions, such as a message, a call, or a result. Corresponds to the SDK's `AgentInputItem`. */
export type AgentsItem = object;

/** A change to the history that is applied atomically and only once. */
export type AgentsHistoryTransaction<Item extends AgentsItem = AgentsItem> =
  | { type: "append_items"; items: Item[] }
  | { type: "replace_suffix"; expectedSuffix: Item[]; replacement: Item[] };

/** Replacement of an item in the history. */
export interface AgentsHistoryMutation<Item extends AgentsItem = AgentsItem> {
  type: "replace_function_call";
  callId: string;
  replacement: Item;
}

/** Identifies the model that responded, for readers of the session that do not use the SDK. Items and runs do not contain it. */
export interface OpenAIAgentsSessionOptions {
  /** Default: `openai-responses`. */
  readonly api?: string;
  /** Default: `openai`. */
  readonly provider?: string;
  /** Id of the model. Default: `unknown`. */
  readonly model?: string;
}

/**
 * Implements the OpenAI Agents SDK's `Session` interface on top of a session.
 *
 * Stores items unchanged, together with a message that has the same content, and returns deep-equal copies. The items of one
 * answer share an entry. The history is the active branch, which `session.branch(id)` changes. If another process clears the
 * history, this object also clears it. Nothing is deleted: popped, cleared, and replaced items remain on other branches. Every
 * promise resolves once the change is durable.
 *
 * @throws {SessionError} Thrown by every method that writes: `WRITE_FAILED`, `SESSION_NOT_FOUND` if the session was deleted, and
 *   the other errors of `append`.
 * @remarks Cost of a call: O(context). Source: docs/adapters.md#openai-agents-sdk
 */
export class OpenAIAgentsSession<Item extends AgentsItem = AgentsItem> {
  readonly #session: SessionManager;
  /** Makes the runner pass its run's context, which contains the usage of the answers. */
  readonly acceptsRunContext = true;
  readonly #answerer: Answerer;
  readonly #usage = new RunUsage();
  /** Reads entries written by other processes. */
  readonly #update: () => Promise<void>;
  /** Operations that other writers have applied since this object was created, by id. */
  readonly #others = new Map<string, { readonly digest: string; readonly entryId: string }>();

  /**
   * @param session - You may also use it directly, but not for two conversations at the same time.
   */
  constructor(session: SessionManager, options: OpenAIAgentsSessionOptions = {}) {
    assertOptions<object>(options, {});
    const { api = "openai-responses", provider = "openai", model = UNKNOWN_NAME } = options;
    this.#session = session;
    this.#answerer = { api, provider, model };
    this.#update = followClears(session, ITEMS_CUSTOM_TYPE);
    session.on("foreign_entries", ({ entries }) => {
      for (const entry of entries.map(asSessionEntry)) {
        for (const { id, digest } of collectOperations([entry]))
          this.#others.set(id, { digest, entryId: entry.id });
      }
    });
  }

  /** Returns the session's id, which never changes. */
  async getSessionId(): Promise<string> {
    return this.#session.getSessionId();
  }

  /**
   * Returns copies of the items, in order.
   *
   * @param limit - Maximum number of items, counted from the end. Default: all.
   * @param run - Context of the run, passed by the runner.
   */
  async getItems(limit?: number, run?: object): Promise<Item[]> {
    this.#usage.begin(run);
    await this.#update();
    const items = getItems(readHistory(this.#session));
    const wanted = limit === undefined ? items : limit <= 0 ? [] : items.slice(-Math.ceil(limit));
    return wanted.map((item) => this.#load(item));
  }

  /**
   * Appends all items or none.
   *
   * @param run - Context of the run, passed by the runner. Its usage is assigned to the answers.
   * @throws {TypeError} If an item cannot be represented as JSON.
   */
  async addItems(items: Item[], run?: object): Promise<void> {
    assertArgument("items", items, ARRAY);
    const added = items.map(toStoredItem);
    await this.#update();
    if (added.length > 0)
      this.#append(added, run, (usages) => makeItemDrafts(added, this.#answerer, [], usages));
    await this.#session.flush();
  }

  /** Moves the leaf to the position before the last item, and returns that item; undefined if the history is empty. */
  async popItem(): Promise<Item | undefined> {
    await this.#update();
    const parts = readHistory(this.#session);
    const items = getItems(parts);
    const last = items.at(-1);
    if (last === undefined) return undefined;
    this.#replaceFrom(parts, items.length - 1, []);
    await this.#session.flush();
    return this.#load(last);
  }

  /** Starts a new history by moving the leaf to the position before the first entry. */
  async clearSession(): Promise<void> {
    await this.#update();
    if (readHistory(this.#session).length > 0)
      this.#session.appendAll([makeMarkerDraft([])], { parentId: null, mustExist: true });
    await this.#session.flush();
  }

  /**
   * Replaces the history with a provider's compaction and the items after it.
   *
   * @param items - The compaction item, followed by the other items.
   * @param run - Context of the run, passed by the runner. Its usage is assigned to the answers.
   * @throws {TypeError} If the first item is not a compaction.
   */
  async replaceHistoryWithCompaction(items: Item[], run?: object): Promise<void> {
    assertArgument("items", items, ARRAY);
    const [compaction, ...rest] = items.map(toStoredItem);
    if (compaction?.["type"] !== "compaction") {
      throw new TypeError(
        "A compacted history begins with an item of type compaction; use addItems for other items.",
      );
    }
    await this.#update();
    const { tokens } = estimateContextTokens(this.#session.buildSessionContext().messages);
    this.#append(rest, run, (usages) => [
      makeCompactionDraft(compaction, tokens),
      ...makeItemDrafts(rest, this.#answerer, [], usages),
    ]);
    await this.#session.flush();
  }

  /**
   * Changes the history in a single write, once per operation id and branch. Applying the same transaction again has no effect.
   * If another writer has applied it to the same history, the leaf moves to that writer's position.
   *
   * @throws {TypeError} If the id was used for a different transaction, or if the transaction is malformed, including unknown
   *   fields, computed properties, and non-enumerable properties.
   * @throws {SessionError} `STALE_LEAF` if the history does not end with the expected items. Nothing has changed then.
   */
  async applyHistoryTransaction(
    args: { operationId: string; transaction: AgentsHistoryTransaction<Item> },
    run?: object,
  ): Promise<void> {
    const { operationId: id } = args;
    await this.#update();
    if (typeof id !== "string" || id.trim() === "")
      throw new TypeError("A transaction needs a nonempty operationId.");
    const transaction = readTransaction(args.transaction);
    const { added, digest } = transaction;
    await this.#session.refreshAsync();
    if (!this.#isApplied(id, digest, readOperations(this.#session).get(id))) {
      const parts = readHistory(this.#session);
      const keep = countKept(transaction, getItems(parts));
      if (!this.#followOther(id, digest, keep === undefined ? undefined : this.#cut(parts, keep).parentId)) {
        if (keep === undefined) throw makeSuffixError(id, this.#session.getLeafId());
        this.#replaceFrom(parts, keep, added, { id, digest }, run);
      }
    }
    await this.#session.flush();
  }

  /** Returns whether the operation was already applied. Throws if it was applied with a different transaction. */
  #isApplied(id: string, digest: string, applied: string | undefined): boolean {
    if (applied === undefined || applied === digest) return applied !== undefined;
    throw new TypeError(
      `Operation ${id} was applied with a different transaction; use a new id for each transaction.`,
    );
  }

  /**
   * Moves the leaf to where another writer applied the operation to this history, or to where that writer has since continued.
   *
   * @param parentId - Id of the entry after which this object would apply the operation; undefined if the history does not end as
   *   expected.
   * @returns False if no other writer has applied the operation to this history.
   */
  #followOther(id: string, digest: string, parentId: string | null | undefined): boolean {
    const other = this.#others.get(id);
    if (other === undefined) return false;
    const path = new Set(this.#session.getPathIds(other.entryId));
    const isHere = [this.#session.getLeafId(), parentId].some(
      (from) => from === null || (from !== undefined && path.has(from)),
    );
    if (!isHere || !this.#isApplied(id, digest, other.digest)) return false;
    const last = this.#session.getEntries().at(-1)?.id ?? other.entryId;
    const isBehind = this.#session.getPathIds(last).includes(other.entryId);
    this.#session.branch(isBehind ? last : other.entryId);
    return true;
  }

  /**
   * Replaces function calls by call id. Uses context edits, so that earlier leaves keep the old calls.
   *
   * If several calls have the same id, the first call is replaced and the others are removed. An unknown id has no effect.
   */
  async applyHistoryMutations({ mutations }: { mutations: AgentsHistoryMutation<Item>[] }): Promise<void> {
    await this.#update();
    const before = readHistory(this.#session);
    let parts = before;
    for (const { callId, replacement } of mutations)
      parts = withCall(parts, callId, toStoredItem(replacement));
    const edits = parts
      .filter((part) => !before.includes(part))
      .map(({ entry, items }) => editDraft(entry.id, items, this.#answerer));
    this.#session.appendAll(edits, { mustExist: true });
    await this.#session.flush();
  }

  /** Keeps the first items of the history, and appends other items and an operation, in a single write. */
  #replaceFrom(
    parts: readonly HistoryPart[],
    keep: number,
    added: readonly JsonObject[],
    operation?: AppliedOperation,
    run?: object,
  ): void {
    const { parentId, remaining } = this.#cut(parts, keep);
    const branch = this.#session.getBranch();
    const end = branch.findIndex(({ id }) => id === parentId) + 1;
    const left = branch.slice(end);
    const operations = [...collectOperations(left), ...(operation === undefined ? [] : [operation])];
    const items = [...remaining, ...added];
    // If the leaf moved without a new entry, the move would be lost when the session is reopened.
    const edits = findEdits(branch.slice(0, end), left);
    const draftsWith = (usages: readonly Usage[]) =>
      items.length === 0
        ? [makeMarkerDraft(operations)]
        : makeItemDrafts(items, this.#answerer, operations, usages);
    this.#append(added, run, (usages) => [...edits, ...draftsWith(usages)], { parentId });
  }

  /** Appends the drafts for new items, and the usage of their answers, in a single write. */
  #append(
    added: readonly JsonObject[],
    run: object | undefined,
    draftsWith: (usages: readonly Usage[]) => readonly (DraftMaker | EntryDraft)[],
    options: { parentId?: string | null } = {},
  ): void {
    const answers = countAnswers(added);
    this.#session.appendAll(draftsWith(this.#usage.of(run, answers)), { ...options, mustExist: true });
    this.#usage.count(run, answers);
  }

  /** Finds the entry where a history of `keep` items ends, and the items that must be appended again after it. */
  #cut(
    parts: readonly HistoryPart[],
    keep: number,
  ): { parentId: string | null; remaining: readonly JsonObject[] } {
    const path = this.#session.getPathIds();
    const [first] = parts;
    const start = first?.entry.type === "compaction" ? path.indexOf(first.entry.id) : -1;
    let before = 0;
    for (const { entry, items } of parts) {
      if (before + items.length > keep) {
        // The messages kept by a compaction precede it on the branch, so a leaf there would not begin with its summary.
        if (path.indexOf(entry.id) <= start)
          return { parentId: null, remaining: getItems(parts).slice(0, keep) };
        return { parentId: entry.parentId, remaining: items.slice(0, keep - before) };
      }
      before += items.length;
    }
    return { parentId: this.#session.getLeafId(), remaining: [] };
  }

  #load(kept: JsonObject): Item {
    const item = loadData(kept);
    if (this.#isItem(item)) return item;
    throw new SessionError("ENTRY_INVALID", "An item of the session is not an object; repair the session.");
  }

  /** Items are returned exactly as they were stored. The caller specifies their type and knows what was stored. */
  #isItem(value: unknown): value is Item {
    return isJsonRecord(value);
  }
}

function toStoredItem(item: unknown): JsonObject {
  return toStoredData(item, "item");
}

/**
 * Returns the number of items that a transaction keeps; undefined if the history does not end with the expected items.
 */
function countKept({ expected }: ReadTransaction, items: readonly JsonObject[]): number | undefined {
  const keep = items.length - expected.length;
  const isExpected =
    keep >= 0 && expected.every((item, i) => spellCanonically(item) === spellCanonically(items[keep + i]));
  return isExpected ? keep : undefined;
}

function getItems(parts: readonly HistoryPart[]): JsonObject[] {
  return parts.flatMap(({ items }) => items);
}

/** Returns the latest edit of each kept entry on the abandoned part of the branch, so that it can be applied again. */
function findEdits(kept: readonly SessionEntry[], left: readonly SessionEntry[]): EntryDraft[] {
  const ids = new Set(kept.map(({ id }) => id));
  const edits = left.filter(isContextEdit).filter(({ targetId }) => ids.has(targetId));
  return [...new Map(edits.map((edit) => [edit.targetId, { ...edit }])).values()];
}

/** Replaces the first call with the given id, and removes the others. */
function withCall(parts: readonly HistoryPart[], callId: string, replacement: JsonObject): HistoryPart[] {
  let isPlaced = false;
  return parts.map((part) => {
    const isCall = (item: JsonObject) => item["type"] === "function_call" && item["callId"] === callId;
    if (!part.items.some(isCall)) return part;
    const items = part.items.flatMap((item) => {
      if (!isCall(item)) return [item];
      if (isPlaced) return [];
      isPlaced = true;
      return [replacement];
    });
    return { entry: part.entry, items };
  });
}

function makeSuffixError(operationId: string, leafId: string | null): SessionError {
  const message = `The history does not end with the items that operation ${operationId} replaces. Nothing changed; read the history again, and retry.`;
  return new SessionError("STALE_LEAF", message, { details: { operationId, leafId } });
}

/**
 * Tracks which requests of each run have been counted in a session. The SDK passes the context of each run, which lists the
 * usage of the run's requests.
 */
class RunUsage {
  /** Number of requests counted so far, by run. */
  readonly #counted = new WeakMap<object, number>();

  /** Skips usage from before this session's first call, because a resumed run also lists usage from another process. */
  begin(run: object | undefined): void {
    if (run !== undefined && !this.#counted.has(run)) this.#counted.set(run, getRequests(run).length);
  }

  /**
   * Returns the usage of requests that have not been counted yet, in order. For a run that did not begin here, returns only the
   * usage of the answers.
   */
  of(run: object | undefined, answers: number): Usage[] {
    if (run === undefined || answers === 0) return [];
    const requests = getRequests(run);
    const counted = this.#counted.get(run) ?? Math.max(0, requests.length - answers);
    return requests.slice(counted).map(toRequestUsage);
  }

  /** Marks all requests made so far as counted, after their answers have been stored. */
  count(run: object | undefined, answers: number): void {
    if (run !== undefined && answers > 0) this.#counted.set(run, getRequests(run).length);
  }
}

function getRequests(run: object): readonly unknown[] {
  return toArray(toRecord(toRecord(run)["usage"])["requestUsageEntries"]);
}

/** Converts the SDK's usage counts. Its input count includes cached tokens. */
function toRequestUsage(request: unknown): Usage {
  const { inputTokens, outputTokens, totalTokens, inputTokensDetails, outputTokensDetails } =
    toRecord(request);
  const { cached_tokens, cache_write_tokens } = toRecord(inputTokensDetails);
  return toUsage({
    inputWithCache: inputTokens,
    output: outputTokens,
    cacheRead: cached_tokens,
    cacheWrite: cache_write_tokens,
    reasoning: toRecord(outputTokensDetails)["reasoning_tokens"],
    total: totalTokens,
  });
}

/** A parsed transaction: the items that must be at the end of the history, and the items that replace them. */
interface ReadTransaction {
  readonly expected: readonly JsonObject[];
  readonly added: readonly JsonObject[];
  /** Digest that is identical for equal transactions. */
  readonly digest: string;
}

/** Field names of each transaction type, except `type`. */
const FIELDS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["append_items", ["items"]],
  ["replace_suffix", ["expectedSuffix", "replacement"]],
]);

/**
 * Parses a transaction.
 *
 * A retry must be recognizable as the same transaction, so anything that storing would silently lose is rejected: unknown fields,
 * computed properties, and non-enumerable properties.
 *
 * @throws {TypeError} If the transaction is malformed, or one of its items cannot be represented as JSON.
 */
function readTransaction(transaction: unknown): ReadTransaction {
  const fields = isJsonRecord(transaction) ? transaction : {};
  const type = fields["type"];
  const names = FIELDS.get(type);
  if (names === undefined) {
    throw new TypeError(
      "A transaction must be of type append_items or replace_suffix; update the adapter for other types.",
    );
  }
  assertPlain(fields, "transaction", new Set());
  if (Object.keys(fields).length !== names.length + 1 || names.some((name) => !Array.isArray(fields[name])))
    throw new TypeError(
      `A transaction of type ${toSafeString(type)} must have the arrays ${names.join(" and ")}, and no other fields.`,
    );
  const [added = [], expected = []] = names.map((name) => toStoredList(fields[name])).reverse();
  return { expected, added, digest: hashText(spellCanonically({ type, expected, added })) };
}

function toStoredList(items: unknown): JsonObject[] {
  return Array.isArray(items) ? items.map((item) => toStoredData(item, "item")) : [];
}

/** Rejects properties, at any depth, that would be missing from a copy. */
function assertPlain(value: unknown, path: string, seen: Set<object>): void {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array || seen.has(value)) return;
  seen.add(value);
  const isList = Array.isArray(value);
  const descriptors = Object.getOwnPropertyDescriptors(value);
  const keys = Reflect.ownKeys(value);
  // An array has a length property in addition to its elements.
  if (isList ? keys.length !== value.length + 1 : !isPlain(value)) throw notPlain(path);
  for (const key of keys) {
    const descriptor = descriptors[String(key)];
    if (isList && key === "length") continue;
    if (typeof key === "symbol" || descriptor?.enumerable !== true || !("value" in descriptor))
      throw notPlain(`${path}.${String(key)}`);
    assertPlain(descriptor.value, isList ? `${path}[${key}]` : `${path}.${key}`, seen);
  }
}

function notPlain(path: string): TypeError {
  return new TypeError(
    `${path} cannot be stored: it is not a plain object, is not enumerable, is computed, or has gaps; pass plain data.`,
  );
}
