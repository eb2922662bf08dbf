import { AsyncLocalStorage } from "node:async_hooks";
import { compactToFit, compactWithoutModel } from "../../core/compaction/compact-without-model.ts";
import {
  type CompactionPreparation,
  type CompactionSkipReason,
  planCompaction,
} from "../../core/compaction/plan.ts";
import { type CompactionSettings, fitSettingsToWindow } from "../../core/compaction/settings.ts";
import { type CompactionResult, compact } from "../../core/compaction/summarize.ts";
import { getSummaryRoom } from "../../core/compaction/summary-size.ts";
import { estimateAll } from "../../core/compaction/tokens.ts";
import { makeAbortedError, refuseAborted, waitUnlessAborted } from "../../core/format/abort.ts";
import type { CompactionEntry, SessionEntry } from "../../core/format/entry.ts";
import { getErrorMessage, isSessionError, SessionError } from "../../core/format/errors.ts";
import { explainCannotFit, shortenResults } from "./context-room.ts";
import {
  assertNotCompacted,
  assertNotLeft,
  assertSameSession,
  type BranchSnapshot,
  type ControllerHost,
  findFirstAppended,
  joinSignals,
  takeSnapshot,
} from "./controller-host.ts";
import type { CompactionReason, ExtensionCompaction, SessionHookEvents } from "./hook-events.ts";

/** Options for compaction on request. */
export interface CompactCommandOptions {
  /** Instructions from the user: a focus for the summary, or all of its instructions if `replaceInstructions` is set. */
  readonly instructions?: string | undefined;
  readonly replaceInstructions?: boolean | undefined;
  /** Size of the model's context window, in tokens. The default settings and the summary are adjusted to it. */
  readonly contextWindow?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Compaction that was appended. */
export interface CompletedCompaction extends CompactionResult {
  compactionEntry: CompactionEntry;
  /** Whether a handler created the summary. */
  fromExtension: boolean;
  /** Estimated size of the messages in the new context, in tokens. */
  estimatedTokensAfter: number;
  /** Whether the context is smaller than before, according to the same estimate. */
  shrank: boolean;
  /** Error that caused the summary to be extracted instead of written by the model. */
  summaryError?: SessionError;
  /** Ids of the entries whose tool results were shortened by context edits, to make the request fit. */
  shortenedResultIds?: string[];
}

/**
 * Reason why nothing was compacted: there is nothing to compact, another compaction is running, or the content that must be kept
 * leaves no room for a summary.
 */
export type NoCompactionReason = CompactionSkipReason | "running" | "cannotFit";

/** Requested compaction. */
interface CompactionRequest extends CompactCommandOptions {
  readonly reason: CompactionReason;
  readonly willRetry: boolean;
  /** Number of tokens in the window that other parts of a request use. */
  readonly overheadTokens?: number | undefined;
  /** Whether to create an extract if no summary can be written. */
  readonly extractsOnFailure?: boolean | undefined;
}

interface Attempt {
  readonly request: CompactionRequest;
  readonly snapshot: BranchSnapshot;
  readonly branchEntries: readonly SessionEntry[];
  readonly preparation: CompactionPreparation;
  /** Maximum number of tokens in the text of the summary. */
  readonly room: number;
  readonly signal: AbortSignal;
  fromExtension: boolean;
}

const CANCELLED = "Compaction cancelled";

const SKIPPED: { readonly [reason in Exclude<NoCompactionReason, "cannotFit">]: string } = {
  empty: "The context has no messages; compact when there are some.",
  justCompacted: "The last entry is a compaction; compact again when there are new messages.",
  noCutPoint:
    "The context cannot be cut without separating a tool result from its call; wait for the next turn.",
  nothingToSummarize:
    "Everything that is not summarized yet is recent; compact later, or keep fewer recent tokens.",
  running: "Another compaction of this session is running; wait for it, or abort it.",
};

/** Compacts the session of a controller, one compaction at a time. */
export class Compactor {
  readonly #host: ControllerHost;
  #running: Promise<CompletedCompaction> | undefined;
  /** Set within a running compaction. Functions that it calls must not wait for it. */
  readonly #inside = new AsyncLocalStorage<true>();
  #fruitless = 0;

  constructor(host: ControllerHost) {
    this.#host = host;
  }

  get fruitless(): number {
    return this.#fruitless;
  }

  /** Resets the number of compactions that did not shrink the context, because the context has changed. */
  resetFruitless(): void {
    this.#fruitless = 0;
  }

  /**
   * Waits until a running compaction ends, whether or not it succeeds. Returns false if the call comes from that compaction
   * itself, which would wait forever.
   */
  async othersEnded(signal: AbortSignal | undefined): Promise<boolean> {
    while (this.#running !== undefined) {
      if (this.#inside.getStore() === true) return false;
      await waitUnlessAborted(Promise.allSettled([this.#running]), signal, CANCELLED);
    }
    return true;
  }

  /** Compacts as `attempt` does; throws if there is nothing to compact. */
  async run(request: CompactionRequest): Promise<CompletedCompaction> {
    const done = await this.attempt(request);
    if (typeof done !== "string") return done;
    const room = { contextWindow: request.contextWindow ?? Number.POSITIVE_INFINITY, overheadTokens: 0 };
    const ids = done === "cannotFit" ? shortenResults(this.#host, room) : [];
    if (ids.length > 0) return { ...(await this.run(request)), shortenedResultIds: ids };
    const message = done === "cannotFit" ? explainCannotFit(this.#host, room) : SKIPPED[done];
    throw new SessionError("NOTHING_TO_COMPACT", message, { details: { reason: done } });
  }

  /**
   * Compacts, if there is anything to compact.
   *
   * @returns The compaction, or the reason why nothing was compacted, in which case no hooks were called.
   * @throws {SessionError} `ABORTED`, `SUMMARY_FAILED`, or `STALE_LEAF`, in which case nothing was written.
   */
  async attempt(request: CompactionRequest): Promise<CompletedCompaction | NoCompactionReason> {
    refuseAborted(request.signal, CANCELLED);
    if (this.#running !== undefined) return "running";
    this.#host.current.session.assertWritable();
    const attempt = this.#plan(request);
    if (typeof attempt === "string") return attempt;
    // Started in a later turn, because a handler that requests a compaction must find this one running.
    this.#running = this.#inside.run(true, () => Promise.resolve().then(() => this.#perform(attempt)));
    const { hooks } = this.#host;
    const { reason, willRetry } = request;
    try {
      const done = await this.#running.finally(() => {
        this.#running = undefined;
      });
      const { compactionEntry, fromExtension } = done;
      await hooks.emit("session_compact", { compactionEntry, fromExtension, reason, willRetry });
      return done;
    } catch (error) {
      const isCancelled = isSessionError(error, "ABORTED");
      await hooks.emit("session_compact_failed", {
        reason,
        aborted: isCancelled,
        willRetry,
        fromExtension: attempt.fromExtension,
        ...(!isCancelled && { errorMessage: getErrorMessage(error) }),
      });
      throw error;
    }
  }

  #plan(request: CompactionRequest): Attempt | CompactionSkipReason | "cannotFit" {
    const { current, counter } = this.#host;
    const { session, leaving } = current;
    const { contextWindow = Number.POSITIVE_INFINITY, overheadTokens = 0 } = request;
    const branchEntries = session.getBranch();
    const { model } = session.buildSessionContext();
    for (const settings of this.#settingsToTry(request.contextWindow)) {
      const plan = planCompaction(branchEntries, settings, { counter, model });
      if (plan.kind === "skip") return plan.reason;
      const { preparation } = plan;
      const room = getSummaryRoom(preparation, contextWindow - overheadTokens, counter);
      if (room === undefined) continue;
      const signal = joinSignals(leaving, request.signal);
      const snapshot = takeSnapshot(session);
      return { request, snapshot, branchEntries, preparation, room, signal, fromExtension: false };
    }
    return "cannotFit";
  }

  /** Returns the settings to try. If the host has not specified any, the defaults are followed by settings that keep less. */
  #settingsToTry(contextWindow: number | undefined): CompactionSettings[] {
    const settings = fitSettingsToWindow(this.#host.settings, contextWindow);
    if (this.#host.settings !== undefined) return [settings];
    const { keepRecentTokens } = settings;
    return [keepRecentTokens, keepRecentTokens / 4, 0].map((kept) => ({
      ...settings,
      keepRecentTokens: kept,
    }));
  }

  async #perform(attempt: Attempt): Promise<CompletedCompaction> {
    try {
      const { result, ...failure } = await this.#summaryOrExtract(attempt);
      refuseAborted(attempt.signal, CANCELLED);
      return { ...this.#commit(attempt, result), ...failure };
    } catch (error) {
      // An abort that the caller did not request means that the session was left.
      if (isSessionError(error, "ABORTED")) assertSameSession(attempt.snapshot, this.#host.current.session);
      throw error;
    }
  }

  /** Returns a summary. If no summary can be written and the request allows it, returns an extract and the error. */
  async #summaryOrExtract(
    attempt: Attempt,
  ): Promise<{ result: CompactionResult | ExtensionCompaction; summaryError?: SessionError }> {
    const { preparation, room, request } = attempt;
    try {
      const made = await this.#askHooks(attempt);
      attempt.fromExtension = made !== undefined;
      const result =
        made === undefined ? await this.#summarize(attempt) : checkExtensionCompaction(made, attempt);
      return { result };
    } catch (error) {
      if (request.extractsOnFailure !== true || !isSessionError(error, "SUMMARY_FAILED")) throw error;
      attempt.fromExtension = false;
      return {
        result: compactWithoutModel(preparation, room, this.#host.counter),
        summaryError: error,
      };
    }
  }

  async #askHooks(attempt: Attempt): Promise<ExtensionCompaction | undefined> {
    const { preparation, branchEntries, signal, request } = attempt;
    const { instructions, reason, willRetry } = request;
    const event: SessionHookEvents["session_before_compact"] = {
      preparation,
      branchEntries,
      ...(instructions !== undefined && { customInstructions: instructions }),
      reason,
      willRetry,
      signal,
    };
    try {
      const answer = await this.#host.hooks.emit("session_before_compact", event, signal);
      if (answer?.cancel === true) throw makeAbortedError(CANCELLED);
      return answer?.compaction ?? undefined;
    } catch (error) {
      throw isSessionError(error, "ABORTED") ? makeAbortedError(CANCELLED, error) : error;
    }
  }

  async #summarize({ preparation, room, request, signal }: Attempt): Promise<CompactionResult> {
    const { summarize, counter } = this.#host;
    if (summarize === undefined) return compactWithoutModel(preparation, room, counter);
    const { instructions: customInstructions, replaceInstructions } = request;
    const options = { customInstructions, replaceInstructions, signal };
    const { contextWindow } = request;
    return contextWindow === undefined
      ? compact(preparation, summarize, options)
      : compactToFit(preparation, summarize, options, { contextWindow, room, counter });
  }

  /** Appends the compaction synchronously, so that no other operation can intervene. */
  #commit(attempt: Attempt, result: CompactionResult | ExtensionCompaction): CompletedCompaction {
    const { snapshot, fromExtension } = attempt;
    const { session } = snapshot;
    assertNotLeft(snapshot, this.#host.current.session);
    assertNotCompacted(snapshot);
    const { summary, tokensBefore, details, usage } = result;
    // "Keep nothing" applies to the entries that were summarized. Entries appended later are kept.
    const firstKept = result.firstKeptEntryId ?? findFirstAppended(snapshot);
    const before = this.#estimate();
    const id = session.appendCompaction(
      summary,
      firstKept,
      tokensBefore,
      details,
      fromExtension || undefined,
      usage,
    );
    const compactionEntry = session.getEntry(id);
    if (compactionEntry?.type !== "compaction") throw new TypeError(`entry ${id} is not a compaction`);
    const estimatedTokensAfter = this.#estimate();
    const shrank = estimatedTokensAfter < before;
    this.#fruitless = shrank ? 0 : this.#fruitless + 1;
    const { firstKeptEntryId } = compactionEntry;
    return { ...result, firstKeptEntryId, compactionEntry, fromExtension, estimatedTokensAfter, shrank };
  }

  #estimate(): number {
    return estimateAll(this.#host.current.session.buildSessionContext().messages, this.#host.counter);
  }
}

/** Data used to check a handler's compaction. */
interface CompactedBranch {
  readonly branchEntries: readonly SessionEntry[];
  readonly preparation: CompactionPreparation;
}

/**
 * Rejects a handler's compaction that would lose entries without summarizing them.
 *
 * @param input - The compaction as the handler returned it. External code may violate the declared types.
 * @returns A copy in which an invalid size is replaced with the planned one.
 * @throws {SessionError} `SUMMARY_FAILED` if the summary has no text, or if the first kept entry is not on the branch.
 */
function checkExtensionCompaction(
  input: ExtensionCompaction,
  { branchEntries, preparation }: CompactedBranch,
): ExtensionCompaction {
  const summary: unknown = input.summary;
  if (typeof summary !== "string" || summary.trim() === "")
    throw makeUnusableError("its summary has no text");
  const firstKept: unknown = input.firstKeptEntryId;
  if (firstKept !== null && !branchEntries.some(({ id }) => id === firstKept)) {
    throw makeUnusableError(`its first kept entry ${JSON.stringify(firstKept)} is not on the branch`);
  }
  const tokensBefore = Number.isFinite(input.tokensBefore) ? input.tokensBefore : preparation.tokensBefore;
  return { ...input, tokensBefore };
}

function makeUnusableError(why: string): SessionError {
  const message = `The compaction returned by a handler of session_before_compact cannot be used: ${why}. Nothing was changed; correct the extension.`;
  return new SessionError("SUMMARY_FAILED", message, { details: { kind: "history" } });
}
