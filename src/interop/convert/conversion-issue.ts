/**
 * What a conversion had to change, drop or keep aside. docs/messages.md explains each code.
 *
 * `MESSAGE_DROPPED`: a message was dropped. `BLOCK_DROPPED`: a part of a message was. `THINKING_DROPPED`: the model you ask
 * would refuse this thinking. `THINKING_MISMATCH`: the provider reports thinking that does not fit what is before it.
 * `SIGNATURE_DROPPED`: a signature belongs to another model. `FLAG_DROPPED`: a field has no
 * counterpart. `TOOLS_DROPPED`: a system message declares tools; pass them with the request. `PAIR_REPAIRED`: a tool call or
 * its result was missing, misplaced or repeated. `ID_CHANGED`: an id or a name did not fit the provider's pattern.
 * `CONTENT_MOVED`: content moved to another position. `CONTENT_REPLACED`: something else replaces what cannot be sent, or not be
 * stored. `CONTENT_ADDED`: a text was added because the provider requires one. `KEPT_IN_DETAILS`: the original is kept in
 * `details` and comes back in a request of the same kind. `DETAILS_DROPPED`: what `details` keeps cannot be part of this request.
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

/** Something that a conversion changed or dropped: reported, never thrown. */
export interface ConversionIssue {
  readonly code: ConversionIssueCode;
  /** Index in the list that was passed, or -1 if the issue concerns no element of it. */
  readonly index: number;
  /** What was done, for people. */
  readonly message: string;
  /** The entry of that element, if the request was made of a session. */
  readonly entryId?: string;
  /** The entry because of which it was done, such as the compaction that voided thinking. */
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

  /** Names the entries of the elements, by their indices. */
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
