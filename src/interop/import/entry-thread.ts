import type { UserMessage } from "../../core/format/message.ts";
import type { EntryBody } from "./entry-bodies.ts";
import type { Draft, SessionBuilder, UntimedMessage } from "./session-builder.ts";

/** A turn of the user, and the state before it. */
export interface Turn {
  readonly before: ThreadState;
  readonly previous: Turn | undefined;
}

/** Prompts of the user, latest first. */
export interface Said {
  readonly message: UserMessage;
  readonly previous: Said | undefined;
}

/** State of a thread after a record. Immutable, so that a rollback only needs an older state. */
export interface ThreadState {
  /** Parent of the next entry; undefined at the beginning. */
  readonly tip: Draft | undefined;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly turns: Turn | undefined;
  readonly said: Said | undefined;
  /** Size of the context, according to the last answer. */
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

/** Makes the entries of a thread, each after the previous one, and can return to earlier states. */
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

  /** Adds data that a message cannot contain; see `SessionBuilder.keep`. */
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

  /** Begins a user turn, which the thread can roll back. */
  beginTurn(before: ThreadState = this.state): void {
    this.state = { ...this.state, turns: { before, previous: before.turns } };
  }

  /** Returns to the state before the latest turns; to the start if there are fewer. */
  goBack(turns: number): void {
    let turn = this.state.turns;
    for (let i = 0; i < turns && turn !== undefined; i++) {
      this.state = turn.before;
      turn = turn.previous;
    }
  }

  /** Returns all prompts of the user, in order. */
  saidInOrder(): UserMessage[] {
    const messages: UserMessage[] = [];
    for (let said = this.state.said; said !== undefined; said = said.previous) messages.push(said.message);
    return messages.reverse();
  }
}
