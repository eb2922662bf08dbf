import type { UserMessage } from "../schema/message.ts";
import type { Draft } from "./session-builder.ts";

/** A turn of the user, and the state before it. */
export interface Turn {
  readonly before: ThreadState;
  readonly previous: Turn | undefined;
}

/** What the user said, latest first. */
export interface Said {
  readonly message: UserMessage;
  readonly previous: Said | undefined;
}

/** State of a thread after some record. Immutable, so that a rollback only needs an older one. */
export interface ThreadState {
  /** The entry that the next one follows; undefined at the beginning. */
  readonly tip: Draft | undefined;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly turns: Turn | undefined;
  readonly said: Said | undefined;
  /** Size of the context, according to the last answer. */
  readonly contextTokens: number;
}

/** What is known about a thread before its first record. */
export const THREAD_START: ThreadState = {
  tip: undefined,
  model: undefined,
  effort: undefined,
  turns: undefined,
  said: undefined,
  contextTokens: 0,
};

/** Returns the state before the newest turns; the start if there are fewer. */
export function beforeTurns(state: ThreadState, count: number): ThreadState {
  let before = state;
  let turn = state.turns;
  for (let i = 0; i < count && turn !== undefined; i++) {
    before = turn.before;
    turn = turn.previous;
  }
  return before;
}

/** Returns everything that the user said, in order. */
export function saidInOrder(state: ThreadState): UserMessage[] {
  const messages: UserMessage[] = [];
  for (let said = state.said; said !== undefined; said = said.previous) messages.push(said.message);
  return messages.reverse();
}
