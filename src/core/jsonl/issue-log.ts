import type { IssueCode, SessionIssue } from "../format/issue.ts";
import type { LinkFinding } from "../tree/pending-parents.ts";
import type { LineSpan } from "./line-spans.ts";

/** Message of each issue. `about` is the id or detail that the message mentions. */
const TEXTS: { readonly [code in IssueCode]: (about: string) => string } = {
  RECORD_BEFORE_HEADER: () => "A record of a different type precedes the session header; it is kept.",
  HEADER_MISSING: () => "The file has no session header.",
  HEADER_REPEATED: () => "A second session header was found; the entries after it are read as usual.",
  VERSION_UNCLEAR: () =>
    "The header's version is not a whole number above 0; the version was derived from the entries.",
  VERSION_TOO_NEW: () => "The session has a newer version; it can be read, but not written.",
  FOREIGN_FORMAT: () =>
    "No record has an id, time, or type in this format, so another program wrote the file. It is read, but not written.",
  LINE_UNREADABLE: () => "The line is not JSON and contains no record; it is kept.",
  LINE_TOO_LONG: () => "The line is longer than `maxLineBytes`; it was not read.",
  NOT_AN_ENTRY: () => "The line is JSON but not an entry, because it has no `type`; it is kept.",
  TAIL_TORN: () => "The last line is incomplete: its writer was interrupted, or is still writing.",
  NUL_BYTES: () => "Zero bytes were found where text was expected, such as those left by a power failure.",
  RECORDS_GLUED: () =>
    "Several records, or parts of them, are on one line; the complete records were recovered.",
  BODY_DAMAGED: () =>
    "The entry's head is legible, but its body is not; the entry keeps its place in the tree.",
  ID_INVENTED: () => "The entry has no id; an id was derived from its position.",
  ID_DUPLICATE: (about) => `An earlier entry has the id ${about}; this entry was given a new id.`,
  ENTRY_REPEATED: () => "The same line appears earlier in the file; it is counted only once.",
  PARENT_MISSING: (about) => `The parent ${about} is not in the file; the entry became a root.`,
  PARENT_BRIDGED: (about) =>
    about === ""
      ? "No entry in the file states a parent; the entry became a child of the previous one."
      : `The parent ${about} was on a damaged line; the entry became a child of the previous one.`,
  PARENT_CYCLE: (about) => `The parent ${about} descends from the entry itself; the entry became a root.`,
  KEPT_ENTRY_MISSING: (about) =>
    `The first kept entry ${about} is not on the path; the compaction keeps nothing.`,
  MESSAGE_FOREIGN: (about) => `The message is malformed, and readers ignore these parts: ${about}.`,
  IMAGE_MISSING: (about) =>
    `The image ${about} is not in the blobs/ folder next to the sessions; models receive a note instead.`,
  STATE_INVALID: (about) => `The stored value does not match its schema: ${about}`,
  SEQUENCE_BROKEN: (about) => `Records of an imported file are out of order: ${about}`,
  SOURCE_LEFT_OUT: (about) => `An import left something out: ${about}`,
  VALUE_REPLACED: (about) =>
    `JSON cannot represent ${about}. The session in memory keeps it; copies contain a string instead.`,
  WRITES_LOST: (about) => about,
  PARTIAL_ANSWER_LEFT: (about) => about,
  ISSUES_OMITTED: (about) => `${about} more issues were found after this point; they are not listed.`,
};

const LINK_CODES = {
  missing: "PARENT_MISSING",
  bridged: "PARENT_BRIDGED",
  unstated: "PARENT_BRIDGED",
  cycle: "PARENT_CYCLE",
} as const satisfies { [kind in LinkFinding["kind"]]: IssueCode };

/** Creates an issue about a line of the file. */
export function makeIssue(code: IssueCode, place: LineSpan, entryId?: string, about = ""): SessionIssue {
  const { line, offset, length } = place;
  return {
    code,
    line,
    offset,
    length,
    message: TEXTS[code](about),
    ...(entryId !== undefined && { entryId }),
  };
}

/** Maximum number of issues. One million issues take about half a gigabyte, and a damaged file must not exhaust memory. */
const MAX_ISSUES = 1_000_000;

/** Issues of one session. */
export class IssueLog {
  /** Issue with the last line, which may still be completed. */
  tail: SessionIssue | undefined;
  readonly #issues = new Map<string, SessionIssue>();
  readonly #maxIssues: number;
  /** The first omitted issue and the number of omitted issues. */
  #omitted: { readonly first: LineSpan; count: number } | undefined;

  constructor(maxIssues = MAX_ISSUES) {
    this.#maxIssues = maxIssues;
  }

  /** Adds an issue unless it has already been added, for example because a damaged body is read twice. */
  add(issue: SessionIssue): void {
    const key = makeIssueKey(issue);
    if (this.#issues.has(key)) return;
    if (this.#issues.size < this.#maxIssues) this.#issues.set(key, issue);
    else if (this.#omitted === undefined) this.#omitted = { first: issue, count: 1 };
    else this.#omitted.count++;
  }

  put(code: IssueCode, place: LineSpan, entryId?: string, about?: string): void {
    this.add(makeIssue(code, place, entryId, about));
  }

  /** Adds or removes the issue about an entry's parent. */
  putLink({ kind, isOver, parentId }: LinkFinding, place: LineSpan, entryId: string): void {
    const issue = makeIssue(LINK_CODES[kind], place, entryId, parentId);
    if (isOver) this.#issues.delete(makeIssueKey(issue));
    else this.add(issue);
  }

  /** Returns a copy of all issues, or of the first million and the number of omitted issues. */
  list(): SessionIssue[] {
    const issues = [...this.#issues.values()];
    if (this.#omitted !== undefined) {
      const { first, count } = this.#omitted;
      issues.push(makeIssue("ISSUES_OMITTED", first, undefined, String(count)));
    }
    return this.tail === undefined ? issues : [...issues, this.tail];
  }
}

function makeIssueKey({ code, offset, message }: SessionIssue): string {
  return `${code} ${offset} ${message}`;
}
