import {
  type CompactionSettings,
  convertToLlm,
  repairToolPairs,
  SessionManager,
  type Summarize,
  type SummarizeReply,
  type SummarizeRequest,
} from "sessiontree";
import {
  SessionController,
  type SessionControllerOptions,
  type SessionHookEvents,
  SessionHooks,
} from "sessiontree/controller";
import { expect, onTestFinished } from "vitest";
import { assistant, tokens, user } from "../../../support/messages.ts";

/** Settings that keep little, so that small conversations can be compacted. */
export const SMALL: CompactionSettings = { enabled: true, reserveTokens: 100, keepRecentTokens: 50 };

type SessionHookName = keyof SessionHookEvents;

const HOOKS: readonly SessionHookName[] = [
  "session_start",
  "session_before_switch",
  "session_before_fork",
  "session_before_compact",
  "session_compact",
  "session_compact_failed",
  "session_before_tree",
  "session_tree",
  "session_info_changed",
  "session_shutdown",
];

/** Hook event as recorded. */
export type Seen = { [Name in SessionHookName]: [Name, SessionHookEvents[Name]] }[SessionHookName];

/** Records all hook events. */
function record(hooks: SessionHooks): Seen[] {
  const seen: Seen[] = [];
  const note = <Name extends SessionHookName>(name: Name) =>
    hooks.on(name, (event) => {
      seen.push([name, event] as Seen);
    });
  for (const name of HOOKS) note(name);
  return seen;
}

/** Returns the names of hook events, in order. */
export function names(seen: readonly Seen[]): SessionHookName[] {
  return seen.map(([name]) => name);
}

/** Summarizer whose replies the test controls. */
class Writer {
  readonly requests: SummarizeRequest[] = [];
  /** Called for each request; by default it replies immediately. */
  reply: (request: SummarizeRequest) => Promise<SummarizeReply> = async () => ({ text: "Notes." });

  readonly summarize: Summarize = (request) => {
    this.requests.push(request);
    return this.reply(request);
  };

  /** Holds all later replies until `release`; `asked` resolves at the first request. */
  hold(): { asked: Promise<void>; release: (reply?: SummarizeReply) => void } {
    const asked = deferred<void>();
    const released = deferred<SummarizeReply>();
    this.reply = () => {
      asked.resolve();
      return released.promise;
    };
    return { asked: asked.promise, release: (reply = { text: "Notes." }) => released.resolve(reply) };
  }
}

/** Creates a promise that the test settles. */
export function deferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Creates a controller over a session in memory, with everything that a test inspects. */
export function stage(options: Partial<SessionControllerOptions> = {}) {
  const session = options.session ?? SessionManager.inMemory("/project");
  const handlerErrors: unknown[] = [];
  const hooks = new SessionHooks({ onError: (error) => handlerErrors.push(error) });
  // Hooks hide handler errors from the emitter, and therefore from the test.
  onTestFinished(() => expect(handlerErrors).toEqual([]));
  const writer = new Writer();
  const controller = new SessionController({
    session,
    hooks,
    summarize: writer.summarize,
    settings: SMALL,
    ...options,
  });
  return { session, hooks, writer, controller, seen: record(hooks) };
}

/** Appends `turns` turns of 2 × `size` tokens each, and returns the ids in order. */
export function talk(session: SessionManager, turns: number, size = 40): string[] {
  return Array.from({ length: turns }, (_, turn) => [
    session.appendMessage(user(`${turn}${tokens(size).slice(1)}`)),
    session.appendMessage(assistant(`${turn}${tokens(size).slice(1)}`)),
  ]).flat();
}

/** Returns the model's context as text: role and beginning of each message. */
export function seenByModel(session: SessionManager): string[] {
  return convertToLlm(session.buildSessionContext().messages).map(({ role, content }) => {
    const text =
      typeof content === "string"
        ? content
        : content.map((block) => ("text" in block ? block.text : "")).join("");
    return `${role}: ${text.replace(/x{2,}/, "…").slice(0, 60)}`;
  });
}

/** Returns whether a provider would accept the context unchanged. */
export function isValidRequest(session: SessionManager): boolean {
  const { messages } = session.buildSessionContext();
  return repairToolPairs(convertToLlm(messages)).repairs.length === 0;
}

/** Returns the error of a rejected promise. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("Expected a rejection.");
}
