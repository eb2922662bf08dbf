import type { Summarize } from "../../core/compaction/request-summary.ts";
import { assertSettings, type CompactionSettings } from "../../core/compaction/settings.ts";
import { countByScript, type TokenCounter } from "../../core/compaction/tokens.ts";
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
  /** First session. The controller closes it when it switches to another one. */
  readonly session: SessionManager;
  /** Hooks at which handlers are registered. Default: the controller's own. */
  readonly hooks?: SessionHooks | undefined;
  /**
   * Requests a summary from a model. Without it, compactions are extracts made without a model, and branch summaries come from
   * handlers only.
   */
  readonly summarize?: Summarize | undefined;
  /**
   * Settings for when to compact and how much to keep. Default: `DEFAULT_COMPACTION_SETTINGS`; if they would exceed half of a
   * context window, a quarter of it is reserved, and a quarter kept.
   */
  readonly settings?: CompactionSettings | undefined;
  /** Sizes that the prompt of a branch summary must fit. */
  readonly branchSummary?: BranchSummaryLimits | undefined;
  /**
   * Counts the tokens of a text. Default: one token for four characters of Latin text, for two of another alphabet, or for one of
   * any other script.
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
 * Session commands of an agent, called by its `/new`, `/resume`, `/tree`, `/fork`, `/compact`, and similar commands.
 *
 * A controller has one current session, `session`, and reports its actions to `hooks`. Appends remain possible at any time: long
 * operations record the state of the branch, and write only if the branch was not left since.
 *
 * @remarks Source: docs/commands.md
 */
export class SessionController {
  /** Hooks at which handlers of the commands are registered. */
  readonly hooks: SessionHooks;
  readonly #host: ControllerHost;
  readonly #compactor: Compactor;
  readonly #now: () => number;

  constructor(options: SessionControllerOptions) {
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

  /** Current session: another object after a command that switches sessions. */
  get session(): SessionManager {
    return this.#host.current.session;
  }

  /** Notifies handlers that the session is ready. Call it after all are registered. */
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
   * @throws {SessionError} `INVALID_SESSION_ID`; `STALE_LEAF` if another command has replaced the session.
   */
  async newSession(options: NewSessionOptions = {}): Promise<SwitchResult> {
    return this.#arrived(await newSession(this.#host, options));
  }

  /**
   * `/resume`: switches to the session of a file. If it cannot be opened, the current session is kept.
   *
   * @throws {SessionError} `CWD_MISSING`, after which the call can be repeated with `cwd`: its details contain `sessionFile`,
   *   `sessionCwd`, and `fallbackCwd`; `SESSION_NOT_FOUND`, `NOT_A_SESSION`, `LEASE_HELD`, or `ABORTED`; `STALE_LEAF` if another
   *   command has replaced the session.
   */
  async switchSession(path: string, options: SwitchSessionOptions = {}): Promise<SwitchResult> {
    return this.#arrived(await switchSession(this.#host, path, options));
  }

  /**
   * `/fork`: copies the path up to an entry to a new session, and switches to it.
   *
   * @param entryId - With `position: "before"`, the default: a user message, whose text is returned for editing. With `"at"`: the
   *   last entry of the fork.
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
      "There is nothing to clone before the first entry; append one.",
    );
  }

  /**
   * `/tree`: moves the leaf within the tree, with an optional summary of the abandoned branch.
   *
   * A message of the user or of an extension is a target for editing: its parent becomes the leaf, and its text is returned.
   * Navigating to the current leaf has no effect. Entries appended while the summary is being written remain on the abandoned
   * branch, and are not in the summary.
   *
   * @throws {SessionError} `ENTRY_NOT_FOUND`; `SUMMARY_FAILED`; `STALE_LEAF` if the branch was left in the meantime. Nothing was
   *   written in these cases.
   */
  async navigateTree(targetId: string, options: NavigateTreeOptions = {}): Promise<NavigateTreeResult> {
    const result = await navigateTree(this.#host, targetId, options);
    if (!result.cancelled) this.#compactor.resetFruitless();
    return result;
  }

  /**
   * `/name`: sets the display name; an empty one clears it.
   *
   * @returns The name as stored; undefined if it was cleared.
   */
  async setName(name: string): Promise<string | undefined> {
    this.session.appendSessionInfo(name);
    const stored = this.session.getSessionName();
    await this.hooks.emit("session_info_changed", { name: stored });
    return stored;
  }

  /**
   * `/session`: counts messages, tool calls, tokens, and cost of all branches.
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
   * Entries that are appended in the meantime remain in the context.
   *
   * @throws {SessionError} `ABORTED`, with the message `Compaction cancelled`; `NOTHING_TO_COMPACT`, with the reason in its
   *   details, also while another compaction is running; `SUMMARY_FAILED`; `STALE_LEAF` if the branch was left or compacted in
   *   the meantime. Nothing was written in these cases.
   */
  async compact(options: CompactCommandOptions = {}): Promise<CompletedCompaction> {
    assertOptions(options, COMPACT_RULES);
    return this.#compactor.run({ ...options, reason: "manual", willRetry: false });
  }

  /**
   * Compacts if the context is too large for the model's window. Agents call this method before each request.
   *
   * Waits for a running compaction, then checks again. After two consecutive compactions that did not shrink the context, returns
   * `notShrinking` until a requested compaction shrinks the context, or the branch or session is left. A tool result that does
   * not fit the window is shortened by a context edit.
   *
   * @throws {SessionError} `ABORTED`; `STALE_LEAF`; `SUMMARY_FAILED` with `onSummaryFailure: "throw"`.
   */
  async compactIfNeeded(options: CompactIfNeededOptions): Promise<CompactIfNeededResult> {
    return compactIfNeeded(this.#host, this.#compactor, options);
  }

  /**
   * `/export`: writes the active branch to a new session file, re-chained, with labels at its end and mode 0600.
   *
   * @returns The absolute path.
   * @throws {SessionError} `SESSION_EXISTS` if the path is taken; `WRITE_FAILED`.
   * @remarks Cost: O(branch).
   */
  exportJsonl(path: string): string {
    return exportBranch(this.session, path);
  }

  /** Resets the state kept per session. */
  #arrived<Result extends SwitchResult>(result: Result): Result {
    if (!result.cancelled) this.#compactor.resetFruitless();
    return result;
  }
}
