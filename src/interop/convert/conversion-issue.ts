/**
 * Codes of what a conversion changed, dropped, or kept aside; docs/messages.md explains each.
 *
 * `MESSAGE_DROPPED`: a message was dropped. `BLOCK_DROPPED`: a part of a message was. `THINKING_DROPPED`: the requested
 * model would reject this thinking. `THINKING_MISMATCH`: the provider reports thinking that does not fit the messages
 * before it. `SIGNATURE_DROPPED`: a signature belongs to another model. `FLAG_DROPPED`: a field has no counterpart.
 * `TOOLS_DROPPED`: a system message declares tools; pass them with the request. `PAIR_REPAIRED`: a tool call or its
 * result was missing, misplaced, or repeated. `ID_CHANGED`: an id or a name did not fit the provider's pattern.
 * `CONTENT_MOVED`: content moved to another position. `CONTENT_REPLACED`: a replacement for content that cannot be sent
 * or stored. `CONTENT_ADDED`: a text was added because the provider requires one. `KEPT_IN_DETAILS`: the original is
 * kept in `details` and restored in a request of the same kind. `DETAILS_DROPPED`: data kept in `details` cannot be
 * part of this request.
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

/** Change or omission by a conversion: reported, never thrown. */
export interface ConversionIssue {
  readonly code: ConversionIssueCode;
  /** Index in the input array, or -1 if the issue concerns no element of it. */
  readonly index: number;
  /** Human-readable description of the change. */
  readonly message: string;
  /** The entry of that element, if the request was created from a session. */
  readonly entryId?: string;
  /** The entry that caused the change, such as the compaction that invalidated thinking. */
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

  /** Sets the lookup of entries for elements, by index. */
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
