import type { EntryTree } from "../tree/entry-tree.ts";

/** The heads of a session's entries, by ordinal and by id, as the tree and the small-session path have them. */
export type SessionHeads = Pick<
  EntryTree,
  "size" | "find" | "typeAt" | "idAt" | "headAt" | "isHeadAt" | "hasType" | "path"
>;
