/** Fields of an entry that are known before its body is parsed. */
export interface EntryHead {
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
  /** Unix milliseconds; NaN if the entry has no readable time. */
  readonly timestampMs: number;
}
