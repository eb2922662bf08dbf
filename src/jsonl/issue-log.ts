import type { IssueCode, SessionIssue } from "../schema/issue.ts";
import type { LinkFinding } from "../tree/late-parents.ts";
import type { LineSpan } from "./line-spans.ts";

/** What each issue says; `about` is the id or the detail that the code is about. */
const TEXTS: { readonly [code in IssueCode]: (about: string) => string } = {
  RECORD_BEFORE_HEADER: () => "A record of another kind stands before the session header; it is kept.",
  HEADER_MISSING: () => "The file has no session header.",
  HEADER_REPEATED: () => "A second session header; the entries after it count as usual.",
  VERSION_UNCLEAR: () => "The header's version is no whole number above 0; it was told from the entries.",
  VERSION_TOO_NEW: () => "The session is of a newer version; it is read, but not written.",
  FOREIGN_FORMAT: () =>
    "No record has an id, a time or a type of this format: it is another program's file. It is read, but not written.",
  LINE_UNREADABLE: () => "The line is no JSON and holds no record; it is kept.",
  LINE_TOO_LONG: () => "The line is longer than `maxLineBytes`; it was not read.",
  NOT_AN_ENTRY: () => "The line is JSON, but no entry: it has no `type`; it is kept.",
  TAIL_TORN: () => "The last line is not whole: its writer was interrupted, or is still writing.",
  NUL_BYTES: () => "Zero bytes where text should be, as a power cut leaves them.",
  RECORDS_GLUED: () => "Several records, or parts of them, stand on one line; what is whole was recovered.",
  BODY_DAMAGED: () => "The entry's head is legible, its body is not; it keeps its place in the tree.",
  ID_INVENTED: () => "The entry has no id; one was derived from its place.",
  ID_DUPLICATE: (about) => `Another entry has the id ${about} already; this one got an id of its own.`,
  ENTRY_REPEATED: () => "The same line stands in the file before; it counts once.",
  PARENT_MISSING: (about) => `The parent ${about} is nowhere in the file; the entry became a root.`,
  PARENT_BRIDGED: (about) => `The parent ${about} was on a damaged line; the entry hangs on the one before.`,
  PARENT_CYCLE: (about) => `The parent ${about} descends from the entry itself; the entry became a root.`,
  KEPT_ENTRY_MISSING: (about) =>
    `The first kept entry ${about} is not on the path; the compaction keeps nothing.`,
  MESSAGE_FOREIGN: (about) =>
    `The message is none of this format, and what is odd in it is not read: ${about}.`,
  IMAGE_MISSING: (about) =>
    `The image ${about} is not in the folder blobs/ beside the sessions; models get a note in its place.`,
  STATE_INVALID: (about) => `The stored value does not fit its schema: ${about}`,
  ISSUES_OMITTED: (about) => `${about} more issues were found from here on; they are not listed.`,
};

const LINK_CODES = {
  missing: "PARENT_MISSING",
  bridged: "PARENT_BRIDGED",
  cycle: "PARENT_CYCLE",
} as const satisfies { [kind in LinkFinding["kind"]]: IssueCode };

/** Makes an issue about a place of the file. */
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

/** A file of a gigabyte of nonsense must not fill the memory: so many take half of one. */
const MAX_ISSUES = 1_000_000;

/** The issues of one session. */
export class IssueLog {
  /** What is wrong with the last line for now: it may still be completed. */
  tail: SessionIssue | undefined;
  readonly #issues = new Map<string, SessionIssue>();
  readonly #maxIssues: number;
  /** The first issue that was not kept, and how many there were. */
  #omitted: { readonly first: LineSpan; count: number } | undefined;

  constructor(maxIssues = MAX_ISSUES) {
    this.#maxIssues = maxIssues;
  }

  /** Adds an issue unless the same was told before, as when a damaged body is read twice. */
  add(issue: SessionIssue): void {
    const key = keyOf(issue);
    if (this.#issues.has(key)) return;
    if (this.#issues.size < this.#maxIssues) this.#issues.set(key, issue);
    else if (this.#omitted === undefined) this.#omitted = { first: issue, count: 1 };
    else this.#omitted.count++;
  }

  put(code: IssueCode, place: LineSpan, entryId?: string, about?: string): void {
    this.add(makeIssue(code, place, entryId, about));
  }

  /** Tells what became of an entry's parent, or takes back what was told of it. */
  putLink({ kind, isOver, parentId }: LinkFinding, place: LineSpan, entryId: string): void {
    const issue = makeIssue(LINK_CODES[kind], place, entryId, parentId);
    if (isOver) this.#issues.delete(keyOf(issue));
    else this.add(issue);
  }

  /** All issues, or the first million and how many more there were; a copy. */
  list(): SessionIssue[] {
    const issues = [...this.#issues.values()];
    if (this.#omitted !== undefined) {
      const { first, count } = this.#omitted;
      issues.push(makeIssue("ISSUES_OMITTED", first, undefined, String(count)));
    }
    return this.tail === undefined ? issues : [...issues, this.tail];
  }
}

function keyOf({ code, offset, message }: SessionIssue): string {
  return `${code} ${offset} ${message}`;
}
