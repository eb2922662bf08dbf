/** Text that serves as the title of a session without a name, from the entries read so far. */
export interface Opening {
  /** One safe line; empty if nothing has been found yet. */
  readonly text: string;
  /**
   * State of the search: `none` found yet; a `command` of the program; a prompt with nothing after it (`open`); one that was
   * `aborted` without an answer; or the final one (`settled`).
   */
  readonly state: OpeningState;
}

/** States of an opening. */
export const OPENING_STATES = ["none", "command", "open", "aborted", "settled"] as const;
type OpeningState = (typeof OPENING_STATES)[number];
