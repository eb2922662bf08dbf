/** Roles of messages that are searched, and of the summaries that stand for messages. */
export const SEARCHED_ROLES = [
  "user",
  "assistant",
  "toolResult",
  "bashExecution",
  "custom",
  "system",
  "compactionSummary",
  "branchSummary",
] as const;

/** Which entries are searched, whatever they hold. */
export interface SearchFilters {
  /** Only messages of these roles; summaries are `compactionSummary` and `branchSummary`. Default: all. */
  readonly roles?: readonly string[];
  /** Only calls and results of these tools, whatever the case of their names. Default: all entries. */
  readonly tools?: readonly string[];
  /**
   * Only calls that name this file or a file below this folder, and their results. A relative path may begin anywhere below
   * the session's working directory. Default: all entries.
   */
  readonly path?: string;
  /**
   * Only failures, as `outcomeOf` tells them; words are also looked for in the tool's name and in the arguments of its call.
   * Default false.
   */
  readonly failed?: boolean;
  /** Only entries from then on. */
  readonly since?: Date;
  /** Only entries before that time. */
  readonly until?: Date;
  /** Only sessions that were imported from this program, or with `any` from any. Default: all sessions. */
  readonly source?: string;
  /** Whether entries count that are not on the path to the session's leaf. Default `any`. */
  readonly branch?: "active" | "any";
}

/** Tells whether filters name entries by themselves, so that nothing else need be looked for. */
export function nameEntries({ tools, path, failed = false }: SearchFilters): boolean {
  return failed || tools !== undefined || path !== undefined;
}
