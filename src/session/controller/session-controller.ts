import type { Summarize } from "../../core/compaction/request-summary.ts";
import { assertSettings, type CompactionSettings } from "../../core/compaction/settings.ts";
import { countByScript, type TokenCounter } from "../../core/compaction/tokens.ts";
import { assertSession } from "../../core/format/arguments.ts";
import { SessionError } from "../../core/format/errors.ts";
import {
  assertOptions,
  FLAG,
  makeNumberRule,
  type OptionRules,
  SIGNAL,
  TEXT,
} from "../../core/format/options.ts";
import { exportBranch, type SessionManager } from "../manager/session-manager.ts";
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
  type ForkResult,
  forkEntry,
  newSession,
  type SwitchResult,
  type SwitchSessionOptions,
  switchSession,
} from "./switch-session.ts";

/** Options for a controller. */
export interface SessionControllerOptions {
  /** Initial session. The controller closes it when it switches to another session. */
  readonly session: SessionManager;
  /** Hooks with which handlers are registered. By default, the controller creates its own. */
  readonly hooks?: SessionHooks | undefined;
  /**
   * Requests a summary from a model. If omitted, compactions are extracted without a model, and branch summaries come only from
   * handlers.
   */
  readonly summarize?: Summarize | undefined;
  /**
   * Settings that control when to compact and how much to keep. Default: `DEFAULT_COMPACTION_SETTINGS`. If the defaults exceed
   * half of a context window, a quarter of the window is reserved and a quarter is kept.
   */
  readonly settings?: CompactionSettings | undefined;
  /** Limits on the size of a branch summary's prompt. */
  readonly branchSummary?: BranchSummaryLimits | undefined;
  /**
   * Counts the tokens in a string. By default, counts one token per four characters of Latin text, per two characters of another
   * alphabet, or per character of any other script.
   */
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
 * Implements the session commands of an agent, such as `/new`, `/resume`, `/tree`, `/fork`, and `/compact`.
 *
 * A controller has one current session, `session`, and reports its actions to `hooks`. Appends are possible at any time. Long
 * operations record the state of the branch, and write only if the branch has not been left in the meantime.
 *
 * @remarks Source: docs/commands.md
 */
export class SessionController {
  /** Hooks with which handlers for the commands are registered. */
  readonly hooks: SessionHooks;
  readonly #host: ControllerHost;
  readonly #compactor: Compactor;
  readonly #now: () => number;

  constructor(options: SessionControllerOptions) {
    assertOptions<object>(options, {});
    assertSession(options.session);
    if (options.settings !== undefined) assertSettings(options.settings);
    const { summarize, settings, counter = countByScript, branchSummary = {}, now = Date.now } = options;
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

  /** Current session. Commands that switch sessions replace this object. */
  get session(): SessionManager {
    return this.#host.current.session;
  }

  /** Notifies handlers that the session is ready. Call this method after registering all handlers. */
  async start(): Promise<void> {
    await this.hooks.emit("session_start", { reason: "startup" });
  }

  /** Restarts extensions with the same session. */
  async reload(): Promise<void> {
    await this.hooks.emit("session_shutdown", { reason: "reload" });
    await this.hooks.emit("session_start", { reason: "reload" });
  }

  /** Shuts down and closes the session. Later commands throw `SESSION_CLOSED`. Idempotent. */
  async close(): Promise<void> {
    await this.#host.current.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * `/new`: switches to a new session with the same working directory.
   *
   * @throws {SessionError} `INVALID_SESSION_ID`; `STALE_LEAF` if another command has replaced the session.
   */
  async newSession(options: NewSessionOptions = {}): Promise<SwitchResult> {
    return this.#arrived(await newSession(this.#host, options));
  }

  /**
   * `/resume`: switches to the session in a file. If it cannot be opened, the current session is kept.
   *
   * @throws {SessionError} `CWD_MISSING` if the working directory does not exist; repeat the call with `cwd`. The error's details
   *   contain `sessionFile`, `sessionCwd`, and `fallbackCwd`. `SESSION_NOT_FOUND`, `NOT_A_SESSION`, `LEASE_HELD`, or `ABORTED`;
   *   `STALE_LEAF` if another command has replaced the session.
   */
  async switchSession(path: string, options: SwitchSessionOptions = {}): Promise<SwitchResult> {
    return this.#arrived(await switchSession(this.#host, path, options));
  }

  /**
   * `/fork`: copies the path up to an entry to a new session and switches to it.
   *
   * @param entryId - With `position: "before"` (the default), id of a user message whose text is returned for editing. With
   *   `"at"`, id of the last entry to copy.
   * @throws {SessionError} `ENTRY_NOT_FOUND` or `ENTRY_INVALID`; `STALE_LEAF` if another command has replaced the session.
   */
  async fork(
    entryId: string,
    options: { readonly position?: "before" | "at" | undefined } = {},
  ): Promise<ForkResult> {
    return this.#arrived(await forkEntry(this.#host, entryId, options));
  }

  /**
   * `/clone`: forks the whole active branch.
   *
   * @throws {SessionError} `ENTRY_NOT_FOUND` if the leaf is before the first entry.
   */
  async clone(): Promise<ForkResult> {
    const leafId = this.session.getLeafId();
    if (leafId !== null) return this.fork(leafId, { position: "at" });
    throw new SessionError(
      "ENTRY_NOT_FOUND",
      "There is nothing to clone before the first entry; append an entry.",
    );
  }

  /**
   * `/tree`: moves the leaf within the tree and optionally appends a summary of the abandoned branch.
   *
   * If the target is a message from the user or an extension, its parent becomes the leaf and its text is returned for editing.
   * Navigating to the current leaf has no effect. Entries appended while the summary is being written remain on the abandoned
   * branch and are not part of the summary.
   *
   * @throws {SessionError} `ENTRY_NOT_FOUND`; `SUMMARY_FAILED`; `STALE_LEAF` if the branch was left in the meantime. In these
   *   cases, nothing was written.
   */
  async navigateTree(targetId: string, options: NavigateTreeOptions = {}): Promise<NavigateTreeResult> {
    const result = await navigateTree(this.#host, targetId, options);
    if (!result.cancelled) this.#compactor.resetFruitless();
    return result;
  }

  /**
   * `/name`: sets the display name. An empty name clears the display name.
   *
   * @returns The stored name; undefined if it was cleared.
   */
  async setName(name: string): Promise<string | undefined> {
    this.session.appendSessionInfo(name);
    const stored = this.session.getSessionName();
    await this.hooks.emit("session_info_changed", { name: stored });
    return stored;
  }

  /**
   * `/session`: counts the messages, tool calls, tokens, and cost of all branches.
   *
   * @remarks Cost: O(file), plus O(parent's file) head reads for a fork.
   */
  getStats(options: StatsOptions = {}): SessionStats {
    const { session } = this;
    const copied = this.#host.copied.get(session);
    const isInherited = copied && (({ id }: { readonly id: string }) => copied.has(id));
    return collectStats({ session, counter: this.#host.counter, nowMs: this.#now(), isInherited }, options);
  }

  /**
   * `/compact`: summarizes the older part of the context and appends the summary.
   *
   * Entries appended in the meantime remain in the context.
   *
   * @throws {SessionError} `ABORTED`, with the message `Compaction cancelled`; `NOTHING_TO_COMPACT`, with the reason in its
   *   details, which may be that another compaction is running; `SUMMARY_FAILED`; `STALE_LEAF` if the branch was left or
   * compacted in the meantime. In these cases, nothing was written.
   */
  async compact(options: CompactCommandOptions = {}): Promise<CompletedCompaction> {
    assertOptions(options, COMPACT_RULES);
    return this.#compactor.run({ ...options, reason: "manual", willRetry: false });
  }

  /**
   * Compacts if the context is too large for the model's window. Agents call this method before each request.
   *
   * Waits for a running compaction, and then checks again. After two consecutive compactions that did not shrink the context,
   * returns `notShrinking` until a requested compaction shrinks it, or until the branch or session is left. A tool result that
   * does not fit in the window is shortened by a context edit.
   *
   * @throws {SessionError} `ABORTED`; `STALE_LEAF`; `SUMMARY_FAILED` with `onSummaryFailure: "throw"`.
   */
  async compactIfNeeded(options: CompactIfNeededOptions): Promise<CompactIfNeededResult> {
    return compactIfNeeded(this.#host, this.#compactor, options);
  }

  /**
   * `/export`: writes the active branch to a new session file with mode 0600. Parents are relinked without label entries, and the
   * current labels are at the end.
   *
   * @returns Absolute path of the file.
   * @throws {SessionError} `SESSION_EXISTS` if the path already exists; `WRITE_FAILED`.
   * @remarks Cost: O(branch).
   */
  exportJsonl(path: string): string {
    return exportBranch(this.session, path);
  }

  /** Resets the state that is kept for the previous session. */
  #arrived<Result extends SwitchResult>(result: Result): Result {
    if (!result.cancelled) this.#compactor.resetFruitless();
    return result;
  }
}
