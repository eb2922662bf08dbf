import { isDeepStrictEqual } from "node:util";
import { getLastAssistantUsage, type TokenCounter } from "../../core/compaction/tokens.ts";
import { toRecord } from "../../core/context/entry-fields.ts";
import { countInputTokens, findUsage, ModelsInUse } from "../../core/facts/usage.ts";
import { type ModelUsage, UsageTally, type UsageTotals } from "../../core/facts/usage-tally.ts";
import type { SessionEntry } from "../../core/format/entry.ts";
import { isSessionError } from "../../core/format/errors.ts";
import { assertOptions, FLAG, makeNumberRule } from "../../core/format/options.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import { FileLog } from "../log/file-log.ts";
import { findNamedSessionPath } from "../log/session-paths.ts";
import { SessionManager } from "../manager/session-manager.ts";
import { estimateContextUsage } from "./compact-if-needed.ts";

/** Options for session statistics. */
export interface StatsOptions {
  /** Whether to count entries that a fork inherited. Default: false. */
  readonly includeInherited?: boolean | undefined;
  /** Whether to count only the path root → leaf instead of all branches. Default: false. */
  readonly pathOnly?: boolean | undefined;
  /** Size of the model's context window, in tokens; for `context.percent`. */
  readonly contextWindow?: number | undefined;
}

/** Usage of the context window at the leaf. */
export interface ContextUse {
  /** Size in tokens; null after a compaction until a model reports the new size. */
  tokens: number | null;
  contextWindow: number | null;
  /** `tokens` as a percentage of `contextWindow`. May exceed 100. Null if either is unknown. */
  percent: number | null;
}

/** Contents and cost of a session. Counts include all branches, unless `pathOnly` was set. */
export interface SessionStats {
  /** Undefined in memory. */
  sessionFile: string | undefined;
  sessionId: string;
  sessionName: string | undefined;
  cwd: string;
  /** Path of the session from which this one was forked. */
  parentSession: string | undefined;
  /** Time from the header; null if it has none. */
  createdAt: Date | null;
  /** Time since creation, in milliseconds. */
  ageMs: number | null;
  entries: number;
  /** Number of messages, in total and by role. Extension messages are counted as `custom`. */
  messages: { total: number; byRole: { [role: string]: number } };
  /** Number of tool calls by the model, in total and by tool name, and the number of results that report a failure. */
  toolCalls: { total: number; failed: number; byName: { [name: string]: number } };
  /** Usage of assistant messages, tool results, summaries, and `usage` entries. */
  usage: UsageTotals;
  /** Usage by model, most expensive first. A summary without a model is attributed to the model that answered last. */
  byModel: ModelUsage[];
  /** Share of the input that was read from a cache, from 0 to 1; null if there was no input. */
  cacheHitRate: number | null;
  /** Entries copied from the parent; included in the other counts only with `includeInherited`. */
  inherited: { entries: number; usage: UsageTotals };
  context: ContextUse;
}

/** Dependencies for counting. */
interface StatsSource {
  readonly session: SessionManager;
  readonly counter: TokenCounter | undefined;
  readonly nowMs: number;
  /** Default: determined from the session's header and its parent's file. */
  readonly isInherited: IsInherited | undefined;
  /** Called for each counted entry. */
  readonly onCounted?: (entry: SessionEntry) => void;
}

/** Counts the contents of a session; see `SessionController.getStats`. */
export function collectStats(source: StatsSource, options: StatsOptions): SessionStats {
  assertOptions(options, {
    includeInherited: FLAG,
    pathOnly: FLAG,
    contextWindow: makeNumberRule(0, "tokens"),
  });
  const { session } = source;
  const isInherited = source.isInherited ?? makeInheritedCheck(session);
  const models = new ModelsInUse();
  const own = new EntryTally(models);
  const inherited = new EntryTally(models);
  const entries = options.pathOnly === true ? session.getBranch() : session.getEntries();
  for (const entry of entries) {
    const isCopy = isInherited(entry);
    if (isCopy) inherited.add(entry);
    if (isCopy && options.includeInherited !== true) continue;
    own.add(entry);
    source.onCounted?.(entry);
  }
  return {
    ...getIdentity(session, source.nowMs),
    ...own.counts(),
    inherited: { entries: inherited.entries, usage: inherited.usage.total },
    context: getContextUse(source, options.contextWindow),
  };
}

function getIdentity(session: SessionManager, nowMs: number) {
  const header = session.getHeader();
  const createdMs = Date.parse(header?.timestamp ?? "");
  const isKnown = !Number.isNaN(createdMs);
  return {
    sessionFile: session.getSessionFile(),
    sessionId: session.getSessionId(),
    sessionName: session.getSessionName(),
    cwd: session.getCwd(),
    parentSession: header?.parentSession,
    createdAt: isKnown ? new Date(createdMs) : null,
    ageMs: isKnown ? nowMs - createdMs : null,
  };
}

function getContextUse({ session, counter }: StatsSource, contextWindow: number | undefined): ContextUse {
  const tokens = isSizeUnknown(session) ? null : estimateContextUsage(session, counter).tokens;
  const isWindowKnown = contextWindow !== undefined && contextWindow > 0;
  return {
    tokens,
    contextWindow: contextWindow ?? null,
    percent: tokens === null || !isWindowKnown ? null : (tokens / contextWindow) * 100,
  };
}

/** Returns whether the context begins with a compaction and no model has reported its size since then. */
function isSizeUnknown(session: SessionManager): boolean {
  for (const entry of session.walkUp()) {
    if (entry.type === "compaction") return true;
    if (getLastAssistantUsage([entry]) !== undefined) return false;
  }
  return false;
}

class EntryTally {
  entries = 0;
  readonly usage = new UsageTally();
  readonly #roles = new Map<string, number>();
  readonly #calls = new Map<string, number>();
  readonly #models: ModelsInUse;
  #failed = 0;

  constructor(models: ModelsInUse) {
    this.#models = models;
  }

  add(entry: SessionEntry): void {
    this.entries++;
    const fields = toRecord(entry);
    const usage = findUsage(entry);
    if (usage !== undefined) this.usage.add(usage, this.#models.of(entry));
    if (fields["type"] === "message") this.#addMessage(fields["message"]);
    else if (fields["type"] === "custom_message") addCount(this.#roles, "custom");
  }

  counts() {
    const { total, byModel } = this.usage;
    const input = countInputTokens(total);
    return {
      entries: this.entries,
      messages: { total: sumCounts(this.#roles), byRole: Object.fromEntries(this.#roles) },
      toolCalls: {
        total: sumCounts(this.#calls),
        failed: this.#failed,
        byName: Object.fromEntries(this.#calls),
      },
      usage: total,
      byModel,
      cacheHitRate: input === 0 ? null : total.cacheRead / input,
    };
  }

  #addMessage(message: unknown): void {
    const { role, content, isError } = toRecord(message);
    addCount(this.#roles, typeof role === "string" ? role : "unknown");
    if (role === "toolResult" && isError === true) this.#failed++;
    if (role !== "assistant" || !Array.isArray(content)) return;
    for (const block of content) {
      const { type, name } = toRecord(block);
      if (type === "toolCall") addCount(this.#calls, typeof name === "string" ? name : "unknown");
    }
  }
}

function addCount(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function sumCounts(counts: ReadonlyMap<string, number>): number {
  return Array.from(counts.values()).reduce((total, times) => total + times, 0);
}

/** Returns whether an entry of a fork was copied from its parent. */
type IsInherited = (entry: SessionEntry) => boolean;

/** Fields that contain ids. In files without ids, the values of these fields differ in each copy of an entry. */
const ID_FIELDS = ["id", "parentId", "firstKeptEntryId"];

/**
 * Returns a function that identifies the entries that a fork inherited from its parent.
 *
 * A copy keeps its id and time, so an entry is inherited if the parent session has an entry with the same id and time. Version 1
 * files contain no ids, and derived ids differ, so for these files, the common beginning of both sessions is inherited. If the
 * parent's file cannot be read or is on another machine, the entries that are older than the fork's header are considered
 * inherited.
 *
 * @remarks Cost: O(parent file) head reads if the session specifies a parent, plus its bodies if the file has no ids.
 */
function makeInheritedCheck(session: SessionManager): IsInherited {
  const header = session.getHeader();
  if (!header?.parentSession) return () => false;
  const path = findNamedSessionPath(header.parentSession, session.getSessionFile());
  const parent = path === undefined ? undefined : readParentTree(path);
  const createdMs = Date.parse(header.timestamp);
  if (path === undefined || parent === undefined) return ({ timestamp }) => Date.parse(timestamp) < createdMs;
  const isById = ({ id, timestamp }: SessionEntry) => isSameTime(parent, parent.find(id), timestamp);
  const entries = session.getEntries();
  const [first] = entries;
  // A comparison is worthwhile only if both begin with entries that have the same time but different ids.
  if (first === undefined || isById(first) || !isSameTime(parent, 0, first.timestamp)) return isById;
  const shared = new Set(getSharedStart(entries, readSessionEntries(path)).map(({ id }) => id));
  return (entry) => shared.has(entry.id) || isById(entry);
}

function isSameTime(tree: EntryTree, ordinal: number, timestamp: string): boolean {
  if (ordinal === NONE || ordinal >= tree.size) return false;
  return Object.is(tree.timeAt(ordinal), Date.parse(timestamp));
}

/** Returns the entries at the beginning of a fork that equal those of its parent, except for ids. */
function getSharedStart(entries: readonly SessionEntry[], parents: readonly SessionEntry[]): SessionEntry[] {
  const end = entries.findIndex((entry, i) => !isDeepStrictEqual(withoutIds(entry), withoutIds(parents[i])));
  return end === -1 ? [...entries] : entries.slice(0, end);
}

function withoutIds(entry: SessionEntry | undefined): object {
  return Object.fromEntries(Object.entries(entry ?? {}).filter(([name]) => !ID_FIELDS.includes(name)));
}

function readSessionEntries(path: string): SessionEntry[] {
  return SessionManager.open(path, { mode: "read-only" }).getEntries();
}

function readParentTree(path: string): EntryTree | undefined {
  try {
    return FileLog.open(path, { mode: "read-only" })?.index.tree;
  } catch (error) {
    if (isSessionError(error, "NOT_A_SESSION") || isSessionError(error, "READ_FAILED")) return undefined;
    throw error;
  }
}
