/**
 * Codes for data that a conversion changed, dropped, or stored separately. See docs/messages.md.
 *
 * `MESSAGE_DROPPED`: a message was dropped. `BLOCK_DROPPED`: part of a message was dropped. `THINKING_DROPPED`: the
 * requested model would reject the thinking. `THINKING_MISMATCH`: the provider reported thinking that does not match
 * the preceding messages. `SIGNATURE_DROPPED`: a signature belongs to a different model. `FLAG_DROPPED`: a field has no
 * counterpart. `TOOLS_DROPPED`: a system message declares tools; pass them with the request. `PAIR_REPAIRED`: a tool
 * call or its result was missing, misplaced, or repeated. `ID_CHANGED`: an id or a name did not match the provider's
 * pattern. `CONTENT_MOVED`: content was moved to a different position. `CONTENT_REPLACED`: content that cannot be sent or
 * stored was replaced. `CONTENT_ADDED`: text was added because the provider requires it. `KEPT_IN_DETAILS`: the original is kept
 * in `details` and restored in a request of the same type. `DETAILS_DROPPED`: data kept in `details` cannot be part of this
 * request.
 */
export type ConversionIssueCode =
  | "MESSAGE_DROPPED"
  | "BLOCK_DROPPED"
  | "THINKING_DROPPED"
  | "THINKING_MISMATCH"
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

/** Change or omission made by a conversion. Issues are reported, never thrown. */
export interface ConversionIssue {
  readonly code: ConversionIssueCode;
  /** Index in the input array; -1 if the issue does not concern an element of the array. */
  readonly index: number;
  /** Human-readable description of the change. */
  readonly message: string;
  /** Id of that element's entry, if the request was created from a session. */
  readonly entryId?: string;
  /** Id of the entry that caused the change, such as a compaction that invalidated thinking. */
  readonly causedBy?: string;
}

/** Collects the issues of one conversion. */
export class ConversionIssues {
  readonly #issues: ConversionIssue[] = [];
  #entryIdAt: (index: number) => string | undefined = () => undefined;

  report(
    code: ConversionIssueCode,
    index: number,
    message: string,
    {
      entryId,
      causedBy,
    }: { readonly entryId?: string | undefined; readonly causedBy?: string | undefined } = {},
  ): void {
    const named = { ...(entryId !== undefined && { entryId }), ...(causedBy !== undefined && { causedBy }) };
    this.#issues.push({ code, index, message, ...named });
  }

  /** Sets the function that returns the entry id for an element's index. */
  locate(entryIdAt: (index: number) => string | undefined): void {
    this.#entryIdAt = entryIdAt;
  }

  /** Returns the issues, sorted by index. */
  list(): ConversionIssue[] {
    const located = this.#issues.map((issue) => {
      const entryId = issue.entryId ?? this.#entryIdAt(issue.index);
      return entryId === undefined ? issue : { ...issue, entryId };
    });
    return located.sort((a, b) => a.index - b.index);
  }
}
