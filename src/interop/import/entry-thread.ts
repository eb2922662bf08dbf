import type { UserMessage } from "../../core/format/message.ts";
import type { EntryBody } from "./entry-bodies.ts";
import type { Draft, SessionBuilder, UntimedMessage } from "./session-builder.ts";

/** A user turn and the state before it. */
export interface Turn {
  readonly before: ThreadState;
  readonly previous: Turn | undefined;
}

/** The user's prompts as a linked list, latest first. */
export interface Said {
  readonly message: UserMessage;
  readonly previous: Said | undefined;
}

/** State of a thread after a record. States are immutable, so a rollback just restores an older state. */
export interface ThreadState {
  /** Parent of the next entry; undefined at the beginning. */
  readonly tip: Draft | undefined;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly turns: Turn | undefined;
  readonly said: Said | undefined;
  /** Size of the context according to the last answer, in tokens. */
  readonly contextTokens: number;
}

/** State of a thread before its first record. */
export const THREAD_START: ThreadState = {
  tip: undefined,
  model: undefined,
  effort: undefined,
  turns: undefined,
  said: undefined,
  contextTokens: 0,
};

/** Adds the entries of a thread, each as a child of the previous one. Can return to an earlier state. */
export class EntryThread {
  state: ThreadState;
  readonly builder: SessionBuilder;

  constructor(builder: SessionBuilder, start: ThreadState = THREAD_START) {
    this.builder = builder;
    this.state = start;
  }

  add(key: string, time: unknown, body: EntryBody): Draft {
    return this.#moveTo(this.builder.add(key, this.state.tip, time, body));
  }

  addMessage(key: string, time: unknown, message: UntimedMessage): Draft {
    return this.#moveTo(this.builder.addMessage(key, this.state.tip, time, message));
  }

  /** Adds data that a message cannot contain. See `SessionBuilder.keep`. */
  keep(key: string, time: unknown, kind: string, data: unknown): void {
    this.#moveTo(this.builder.keep(key, this.state.tip, time, kind, data));
  }

  say(key: string, time: unknown, content: UserMessage["content"]): void {
    const message: UserMessage = { role: "user", content, timestamp: 0 };
    this.addMessage(key, time, message);
    this.state = { ...this.state, said: { message, previous: this.state.said } };
  }

  #moveTo(tip: Draft): Draft {
    this.state = { ...this.state, tip };
    return tip;
  }

  /** Begins a user turn, so that the thread can be rolled back to the state before it. */
  beginTurn(before: ThreadState = this.state): void {
    this.state = { ...this.state, turns: { before, previous: before.turns } };
  }

  /** Returns to the state before the given number of latest turns, or to the start if there are fewer turns. */
  goBack(turns: number): void {
    let turn = this.state.turns;
    for (let i = 0; i < turns && turn !== undefined; i++) {
      this.state = turn.before;
      turn = turn.previous;
    }
  }

  /** Returns all of the user's prompts, in order. */
  saidInOrder(): UserMessage[] {
    const messages: UserMessage[] = [];
    for (let said = this.state.said; said !== undefined; said = said.previous) messages.push(said.message);
    return messages.reverse();
  }
}
