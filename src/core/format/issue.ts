/** Codes of issues in a session's data. Each code has its own heading in docs/errors.md. */
export type IssueCode =
  | "RECORD_BEFORE_HEADER"
  | "HEADER_MISSING"
  | "HEADER_REPEATED"
  | "VERSION_UNCLEAR"
  | "VERSION_TOO_NEW"
  | "FOREIGN_FORMAT"
  | "LINE_UNREADABLE"
  | "LINE_TOO_LONG"
  | "NOT_AN_ENTRY"
  | "TAIL_TORN"
  | "NUL_BYTES"
  | "RECORDS_GLUED"
  | "BODY_DAMAGED"
  | "ID_INVENTED"
  | "ID_DUPLICATE"
  | "ENTRY_REPEATED"
  | "PARENT_MISSING"
  | "PARENT_BRIDGED"
  | "PARENT_CYCLE"
  | "KEPT_ENTRY_MISSING"
  | "MESSAGE_FOREIGN"
  | "IMAGE_MISSING"
  | "STATE_INVALID"
  | "SEQUENCE_BROKEN"
  | "SOURCE_LEFT_OUT"
  | "VALUE_REPLACED"
  | "WRITES_LOST"
  | "PARTIAL_ANSWER_LEFT"
  | "ISSUES_OMITTED";

/** Issue in a session's data. Issues are reported, never thrown. */
export interface SessionIssue {
  readonly code: IssueCode;
  /** Line number in the file, starting at 1; 0 if the data has no lines. */
  readonly line: number;
  /** Byte offset of the affected data. */
  readonly offset: number;
  /** Length in bytes. */
  readonly length: number;
  /** Human-readable description of the issue. */
  readonly message: string;
  /** Id of the affected entry, if any. */
  readonly entryId?: string;
}
