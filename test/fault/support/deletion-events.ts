export const THREADS: readonly string[] = ["thread/1", "thread/2", "thread/3"];
export const CHATS: readonly string[] = ["chat-1", "chat-2", "chat-3"];

/** Text that was acknowledged. Times are microseconds of a clock that all processes share. */
export interface Written {
  readonly place: string;
  readonly text: string;
  readonly from: number;
  readonly until: number;
}

/** Reports of a child, each sent after its event. */
export type DeletionEvent =
  | Written
  | { readonly deleting: string; readonly from: number }
  | { readonly deleted: string; readonly until: number }
  | { readonly refused: string }
  | { readonly failed: string };
