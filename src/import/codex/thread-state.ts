import type { UserMessage } from "../../schema/message.ts";
import type { Draft } from "../session-builder.ts";

/** A turn of the user, and what stood before it. */
export interface Turn {
  readonly before: ThreadState;
  readonly previous: Turn | undefined;
}

/** What the user said, latest first. */
export interface Said {
  readonly message: UserMessage;
  readonly previous: Said | undefined;
}

/** Where a thread stands after some record: never changed, so that going back is taking an older one. */
export interface ThreadState {
  /** The entry that the next one follows; undefined at the beginning. */
  readonly tip: Draft | undefined;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly turns: Turn | undefined;
  readonly said: Said | undefined;
  /** Size of the context as the last answer told it. */
  readonly contextTokens: number;
}

/** What is known of a thread before its first record. */
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

/** Returns all that the user said, in order. */
export function saidInOrder(state: ThreadState): UserMessage[] {
  const messages: UserMessage[] = [];
  for (let said = state.said; said !== undefined; said = said.previous) messages.push(said.message);
  return messages.reverse();
}
