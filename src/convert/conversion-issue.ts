/**
 * What a conversion could not say in the other form. Each code is explained in docs/messages.md.
 *
 * `MESSAGE_DROPPED`: a message was left out. `BLOCK_DROPPED`: a part of one was. `THINKING_DROPPED`: thinking that the
 * model asked would not accept. `SIGNATURE_DROPPED`: a signature of another model. `FLAG_DROPPED`: a field without a
 * counterpart. `TOOLS_DROPPED`: tools that a system message declares; they go into the request by themselves.
 * `PAIR_REPAIRED`: a tool call or result had to be paired. `ID_CHANGED`: an id or a name did not fit the provider's pattern.
 * `CONTENT_MOVED`: content stands elsewhere. `CONTENT_REPLACED`: a text stands for content. `CONTENT_ADDED`: a text that
 * nobody said. `KEPT_IN_DETAILS`: the original is kept in `details` and comes back in a request of the same kind.
 * `DETAILS_DROPPED`: what was kept that way cannot go into this request.
 */
export type ConversionIssueCode =
  | "MESSAGE_DROPPED"
  | "BLOCK_DROPPED"
  | "THINKING_DROPPED"
  | "SIGNATURE_DROPPED"
  | "FLAG_DROPPED"
  | "TOOLS_DROPPED"
  | "PAIR_REPAIRED"
  | "ID_CHANGED"
  | "CONTENT_MOVED"
  | "CONTENT_REPLACED"
  | "CONTENT_ADDED"
  | "KEPT_IN_DETAILS"
  | "DETAILS_DROPPED";

/** Something that a conversion did beside converting: reported, never thrown. */
export interface ConversionIssue {
  readonly code: ConversionIssueCode;
  /** Index of the message, item or content concerned, in the list that was given; -1 if it is none of them. */
  readonly index: number;
  /** What was done, and to what; for a person. */
  readonly message: string;
}

/** Collects the issues of one conversion. */
export class ConversionIssues {
  readonly #issues: ConversionIssue[] = [];

  /** Adds an issue. */
  report(code: ConversionIssueCode, index: number, message: string): void {
    this.#issues.push({ code, index, message });
  }

  /** Returns what was reported, in the order of indexes. */
  list(): ConversionIssue[] {
    return this.#issues.toSorted((a, b) => a.index - b.index);
  }
}
