import type { Summarize } from "../../core/compaction/request-summary.ts";
import { assertSettings, type CompactionSettings } from "../../core/compaction/settings.ts";
import type { TokenCounter } from "../../core/compaction/tokens.ts";
import { SessionError } from "../../core/format/errors.ts";
import {
  assertOptions,
  FLAG,
  makeNumberRule,
  type OptionRules,
  SIGNAL,
  TEXT,
} from "../../core/format/options.ts";
import type { SessionManager } from "../manager/session-manager.ts";
import type { NewSessionOptions } from "../manager/session-options.ts";
import { type CompactCommandOptions, Compactor, type CompletedCompaction } from "./compact.ts";
import {
  type CompactIfNeededOptions,
  type CompactIfNeededResult,
  compactIfNeeded,
} from "./compact-if-needed.ts";
import type { BranchSummaryLimits, ControllerHost } from "./controller-host.ts";
import { CurrentSession } from "./current-session.ts";
import { SessionHooks } from "./hooks.ts";
import { type NavigateTreeOptions, type NavigateTreeResult, navigateTree } from "./navigate.ts";
import { collectStats, type SessionStats, type StatsOptions } from "./stats.ts";
import {
  type ForkOptions,
  type ForkResult,
  forkEntry,
  newSession,
  type SwitchResult,
  type SwitchSessionOptions,
  switchSession,
} from "./switch-session.ts";

/** Options of a controller. */
export interface SessionControllerOptions {
  /** The first session. The controller closes it when it switches to another one. */
  readonly session: SessionManager;
  /** Where handlers are registered. Default: its own. */
  readonly hooks?: SessionHooks | undefined;
  /**
   * Asks a model for a summary. Without it, compactions are extracts made without a model, and branch summaries come from
   * handlers only.
   */
  readonly summarize?: Summarize | undefined;
  /**
   * When to compact and how much to keep. Default: `DEFAULT_COMPACTION_SETTINGS`; in a context window of which they would
   * take more than half, a quarter of it is reserved, and a quarter kept.
   */
  readonly settings?: CompactionSettings | undefined;
  /** Sizes that the prompt of a branch summary must fit. */
  readonly branchSummary?: BranchSummaryLimits | undefined;
  /** Counts tokens instead of estimating them. */
  readonly counter?: TokenCounter | undefined;
  /** Returns Unix milliseconds, for tests. Default: the clock. */
  readonly now?: (() => number) | undefined;
}

const COMPACT_RULES: OptionRules<CompactCommandOptions> = {
  instructions: TEXT,
  replaceInstructions: FLAG,
  contextWindow: makeNumberRule(0, "tokens"),
  signal: SIGNAL,
};

/**
 * The session commands of an agent: what its `/new`, `/resume`, `/tree`, `/fork`, `/compact` and their like call.
 *
 * It has one current session, `session`, and reports what it does to `hooks`. Appends remain possible at any time: long
 * operations record the state of the branch, and write only if the branch was not left since.
 *
 * @remarks Source: docs/commands.md
 */
export class SessionController {
  /** Where handlers of the commands are registered. */
  readonly hooks: SessionHooks;
  readonly #host: ControllerHost;
  readonly #compactor: Compactor;
  readonly #now: () => number;

  constructor(options: SessionControllerOptions) {
    if (options.settings !== undefined) assertSettings(options.settings);
    const { summarize, settings, counter, branchSummary = {}, now = Date.now } = options;
    const hooks = options.hooks ?? new SessionHooks();
    this.hooks = hooks;
    this.#now = now;
    this.#host = {
      current: new CurrentSession(options.session, hooks),
      hooks,
      copied: new WeakMap(),
      summarize,
      settings: settings && Object.freeze({ ...settings }),
      branchSummary,
      counter,
    };
    this.#compactor = new Compactor(this.#host);
  }

  /** The current session: another object after a command that switches sessions. */
  get session(): SessionManager {
    return this.#host.current.session;
  }

  /** Tells the handlers that the session is ready. Call it once all are registered. */
  async start(): Promise<void> {
    await this.hooks.emit("session_start", { reason: "startup" });
  }

  /** Restarts extensions with the same session. */
  async reload(): Promise<void> {
    await this.hooks.emit("session_shutdown", { reason: "reload" });
    await this.hooks.emit("session_start", { reason: "reload" });
  }

  /** Shuts the session down and closes it; commands throw `SESSION_CLOSED` from then on. Idempotent. */
  async close(): Promise<void> {
    await this.#host.current.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * `/new`: switches to a new session with the same working directory.
   *
   * @throws {SessionError} `INVALID_SESSION_ID`; `STALE_LEAF` if another command was faster.
   */
  async newSession(options: NewSessionOptions = {}): Promise<SwitchResult> {
    return this.#arrived(await newSession(this.#host, options));
  }

  /**
   * `/resume`: switches to the session of a file. If it cannot be opened, the current one stays.
   *
   * @throws {SessionError} `CWD_MISSING`, after which the call can be repeated with `cwd`: its details name
   * `sessionFile`, `sessionCwd` and `fallbackCwd`; `SESSION_NOT_FOUND`, `NOT_A_SESSION`, `LEASE_HELD` or `ABORTED`;
   * `STALE_LEAF` if another command was faster.
   */
  async switchSession(path: string, options: SwitchSessionOptions = {}): Promise<SwitchResult> {
    return this.#arrived(await switchSession(this.#host, path, options));
  }

  /**
   * `/fork`: copies the path up to an entry into a new session, and switches to it.
   *
   * @param entryId - With `position: "before"` a user message, whose text is returned for editing.
   * @throws {SessionError} `ENTRY_NOT_FOUND` or `ENTRY_INVALID`; `STALE_LEAF` if another command was faster.
   */
  async fork(entryId: string, options: ForkOptions = {}): Promise<ForkResult> {
    return this.#arrived(await forkEntry(this.#host, entryId, options));
  }

  /**
   * `/clone`: forks the whole active branch.
   *
   * @throws {SessionError} `ENTRY_NOT_FOUND` before the first entry.
   */
  async clone(): Promise<ForkResult> {
    const leafId = this.session.getLeafId();
    if (leafId !== null) return this.fork(leafId, { position: "at" });
    throw new SessionError(
      "ENTRY_NOT_FOUND",
      "There is nothing to clone before the first entry; append one.",
    );
  }

  /**
   * `/tree`: moves the leaf within the tree, with a summary of the branch that is left if wanted.
   *
   * A user message or one of an extension is a target for editing: the leaf becomes its parent, and its text is returned.
   * Navigating to the current leaf does nothing. Entries appended while the summary is written stay on the branch that is
   * left, and are not in the summary.
   *
   * @throws {SessionError} `ENTRY_NOT_FOUND`; `SUMMARY_FAILED`; `STALE_LEAF` if the branch was left meanwhile. Nothing
   * was written then.
   */
  async navigateTree(targetId: string, options: NavigateTreeOptions = {}): Promise<NavigateTreeResult> {
    const result = await navigateTree(this.#host, targetId, options);
    if (!result.cancelled) this.#compactor.resetFruitless();
    return result;
  }

  /**
   * `/name`: sets the display name; an empty one clears it.
   *
   * @returns The name as it is stored; undefined if it was cleared.
   */
  async setName(name: string): Promise<string | undefined> {
    this.session.appendSessionInfo(name);
    const stored = this.session.getSessionName();
    await this.hooks.emit("session_info_changed", { name: stored });
    return stored;
  }

  /**
   * `/session`: counts messages, tool calls, tokens and cost, of all branches.
   *
   * @remarks Cost: O(file), and O(parent's file) in heads for a fork.
   */
  getStats(options: StatsOptions = {}): SessionStats {
    const { session } = this;
    const copied = this.#host.copied.get(session);
    const isInherited = copied && (({ id }: { readonly id: string }) => copied.has(id));
    return collectStats({ session, counter: this.#host.counter, nowMs: this.#now(), isInherited }, options);
  }

  /**
   * `/compact`: summarizes the older part of the context, and appends the summary.
   *
   * Entries that are appended meanwhile stay in the context.
   *
   * @throws {SessionError} `ABORTED`, with the message "Compaction cancelled"; `NOTHING_TO_COMPACT`, with the reason in
   * its details, also while another compaction is running; `SUMMARY_FAILED`; `STALE_LEAF` if the branch was left or
   * compacted meanwhile. Nothing was written then.
   */
  async compact(options: CompactCommandOptions = {}): Promise<CompletedCompaction> {
    assertOptions(options, COMPACT_RULES);
    return this.#compactor.run({ ...options, reason: "manual", willRetry: false });
  }

  /**
   * Compacts if the context is too large for the model's window. Agents call it before each request.
   *
   * Waits for a running compaction, and then checks again. After two compactions in a row that did not shrink the context
   * it returns `notShrinking`, until a requested compaction shrinks the context, or the branch or session is left.
   *
   * @throws {SessionError} As `compact`, but for `NOTHING_TO_COMPACT`, which is a result here.
   */
  async compactIfNeeded(options: CompactIfNeededOptions): Promise<CompactIfNeededResult> {
    return compactIfNeeded(this.#host, this.#compactor, options);
  }

  /**
   * `/export`: writes the active branch to a new session file: re-chained, labels at its end, mode 0600.
   *
   * @returns The path, absolute.
   * @throws {SessionError} `SESSION_EXISTS` if the path is taken; `WRITE_FAILED`.
   * @remarks Cost: O(branch).
   */
  exportJsonl(path: string): string {
    return this.session.exportBranch(path);
  }

  /** Resets the state kept per session. */
  #arrived<Result extends SwitchResult>(result: Result): Result {
    if (!result.cancelled) this.#compactor.resetFruitless();
    return result;
  }
}
