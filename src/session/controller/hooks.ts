import { toRecord } from "../../core/context/entry-fields.ts";
import { makeAbortedError, waitUnlessAborted } from "../../core/format/abort.ts";
import { assertArgument } from "../../core/format/arguments.ts";
import { getErrorTrace } from "../../core/format/errors.ts";
import { assertKnownName } from "../../core/format/known-names.ts";
import { assertOptions, CALLBACK } from "../../core/format/options.ts";
import { onRejection } from "../manager/session-events.ts";
import type {
  SessionHookEvents,
  SessionHookHandler,
  SessionHookResult,
  SessionHookResults,
} from "./hook-events.ts";

/** Options for hooks. */
export interface SessionHooksOptions {
  /** Called for every handler that throws. Default: a process warning. */
  readonly onError?: (error: unknown, name: keyof SessionHookEvents) => void;
}

/** Registration from one call to `on`. The same function may be registered twice. */
interface Registration<Name extends keyof SessionHookEvents> {
  readonly handler: SessionHookHandler<Name>;
}

type Judge<Name extends keyof SessionHookEvents> = (
  answer: SessionHookResult<Name>,
  event: SessionHookEvents[Name],
) => SessionHookResult<Name> | undefined;

interface Hook<Name extends keyof SessionHookEvents> {
  readonly registrations: Set<Registration<Name>>;
  readonly judge: Judge<Name>;
}

/**
 * Hooks that let hosts and extensions take part in session commands.
 *
 * Handlers run one after another in registration order, and each is awaited. If a handler throws, the error is reported and the
 * handler's answer is ignored, but the others still run. The first `cancel` ends the round. Otherwise, the last answer is used as
 * a whole.
 *
 * @remarks Source: docs/extensions.md#hooks
 */
export class SessionHooks {
  readonly #hooks: { readonly [Name in keyof SessionHookEvents]: Hook<Name> } = {
    session_start: makeHook(checkNothing),
    session_before_switch: makeHook(checkEverything),
    session_before_fork: makeHook(checkEverything),
    session_before_compact: makeHook(checkEverything),
    session_compact: makeHook(checkNothing),
    session_compact_failed: makeHook(checkNothing),
    session_before_tree: makeHook(dropUnwantedSummary),
    session_tree: makeHook(checkNothing),
    session_info_changed: makeHook(checkNothing),
    session_shutdown: makeHook(checkNothing),
  };
  readonly #onError: NonNullable<SessionHooksOptions["onError"]>;

  constructor(options: SessionHooksOptions = {}) {
    assertOptions(options, { onError: CALLBACK });
    this.#onError = options.onError ?? warnOfHook;
  }

  /**
   * Adds a handler after the registered ones.
   *
   * @returns A function that removes the handler, even while handlers are running.
   */
  on<Name extends keyof SessionHookEvents>(name: Name, handler: SessionHookHandler<Name>): () => void {
    this.#assertName(name);
    assertArgument("handler", handler, CALLBACK);
    const { registrations }: Hook<Name> = this.#hooks[name];
    const registration = { handler };
    registrations.add(registration);
    return () => {
      registrations.delete(registration);
    };
  }

  /**
   * Calls the handlers of a hook, except those added during the call.
   *
   * @param signal - Signal that stops waiting for a handler and skips the remaining handlers.
   * @returns The answer to use; undefined if there is none, and for hooks that do not accept answers.
   * @throws {SessionError} `ABORTED` if the signal was aborted; never a handler's error.
   */
  async emit<Name extends keyof SessionHookEvents>(
    name: Name,
    event: SessionHookEvents[Name],
    signal?: AbortSignal,
  ): Promise<SessionHookResult<Name> | undefined> {
    this.#assertName(name);
    const { registrations, judge }: Hook<Name> = this.#hooks[name];
    let last: SessionHookResult<Name> | undefined;
    for (const registration of [...registrations]) {
      if (!registrations.has(registration)) continue;
      const counted = await this.#ask(name, { judge, handler: registration.handler }, event, signal);
      if (counted === undefined) continue;
      last = counted.answer;
      if (counted.isLast) break;
    }
    return last;
  }

  /**
   * Returns the valid part of a handler's answer and whether it ends the round; undefined if there is no answer or the handler
   * threw.
   */
  async #ask<Name extends keyof SessionHookEvents>(
    name: Name,
    { handler, judge }: Registration<Name> & Pick<Hook<Name>, "judge">,
    event: SessionHookEvents[Name],
    signal: AbortSignal | undefined,
  ): Promise<{ answer: SessionHookResult<Name>; isLast: boolean } | undefined> {
    const message = `${name} was cancelled`;
    if (signal?.aborted) throw makeAbortedError(message, signal.reason);
    try {
      // Converts a synchronous exception from the handler to a rejection.
      const answering = (async () => handler(event))();
      const answered = (await waitUnlessAborted(answering, signal, message)) ?? undefined;
      // Checked here, because reading the answer may also throw.
      const answer = answered && judge(answered, event);
      return answer && { answer, isLast: toRecord(answer)["cancel"] === true };
    } catch (error) {
      if (signal?.aborted) throw makeAbortedError(message, error);
      this.#report(error, name);
      return undefined;
    }
  }

  #assertName(name: unknown): void {
    assertKnownName("event", name, Object.keys(this.#hooks));
  }

  #report(error: unknown, name: keyof SessionHookEvents): void {
    const warnOfBoth = (secondError: unknown) => {
      warnOfHook(error, name);
      warnOfHook(secondError, name);
    };
    try {
      const returned: unknown = this.#onError(error, name);
      if (returned !== undefined) onRejection(returned, warnOfBoth);
    } catch (secondError) {
      warnOfBoth(secondError);
    }
  }
}

function makeHook<Name extends keyof SessionHookEvents>(judge: Judge<Name>): Hook<Name> {
  return { registrations: new Set(), judge };
}

/** Checks answers of hooks that do not accept answers. */
function checkNothing(): undefined {
  return undefined;
}

/** Checks answers that are used unchanged. */
function checkEverything<Answer>(answer: Answer): Answer {
  return answer;
}

/** Removes a summary that the user did not request, and keeps the other fields of the answer. */
function dropUnwantedSummary(
  answer: SessionHookResults["session_before_tree"],
  { preparation }: SessionHookEvents["session_before_tree"],
): SessionHookResults["session_before_tree"] | undefined {
  if (answer.summary === undefined || preparation.userWantsSummary) return answer;
  const { summary: _unwanted, ...rest } = answer;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

function warnOfHook(error: unknown, name: keyof SessionHookEvents): void {
  process.emitWarning(`A handler of "${name}" threw: ${getErrorTrace(error)}`, { code: "SESSIONTREE_HOOK" });
}
