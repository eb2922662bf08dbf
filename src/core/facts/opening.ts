/** Text that serves as the title of a session without a name, based on the entries read so far. */
export interface Opening {
  /** A single safe line; empty if nothing has been found yet. */
  readonly text: string;
  /**
   * State of the search. `none`: nothing found yet. `command`: a slash command. `open`: a prompt with nothing after it.
   * `aborted`: a prompt that was aborted without an answer. `settled`: the final prompt.
   */
  readonly state: OpeningState;
}

/** States of an opening. */
export const OPENING_STATES = ["none", "command", "open", "aborted", "settled"] as const;
type OpeningState = (typeof OPENING_STATES)[number];
