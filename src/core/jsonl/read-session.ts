import { assertArgument, TEXT_OR_BYTES } from "../format/arguments.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import type { SessionHeader } from "../format/header.ts";
import type { SessionIssue } from "../format/issue.ts";
import { NONE } from "../tree/entry-tree.ts";
import { decodeEntry, makeDamagedEntry } from "./entry-body.ts";
import { detectForeignSource } from "./foreign-source.ts";
import { makeIssue } from "./issue-log.ts";
import { describeForeign } from "./not-a-session.ts";
import { SessionIndex } from "./session-index.ts";

/** Session read from bytes, in the current version. */
export interface ReadSessionResult {
  /** Undefined if the bytes are not a session. */
  readonly header: SessionHeader | undefined;
  /** Version of the bytes. */
  readonly version: number;
  /** Entries in file order. Entries with a damaged body have the type `damaged`. */
  readonly entries: AnySessionEntry[];
  /** Parent of the next entry; null in an empty session. */
  readonly leafId: string | null;
  /** Issues found in the bytes. */
  readonly issues: SessionIssue[];
}

/**
 * Reads a whole session from memory and parses all bodies.
 *
 * Intended for environments without a file system, such as browsers. Never throws, regardless of the content.
 *
 * @remarks Cost: O(bytes). Source: docs/format.md#reading
 */
export function readSession(content: Uint8Array | string): ReadSessionResult {
  assertArgument("content", content, TEXT_OR_BYTES);
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const index = new SessionIndex({ readBytes: (offset, length) => bytes.subarray(offset, offset + length) });
  index.feed(bytes);
  index.end();
  const { tree, spans, version } = index;
  const context = { version, entryIdFrom: (recordNumber: number) => index.entryIdFrom(recordNumber) };
  const entries = Array.from(tree.ordinals(), (ordinal) => {
    const { offset, length } = spans.at(ordinal);
    const head = tree.headAt(ordinal);
    const entry = decodeEntry(bytes.subarray(offset, offset + length), head, context);
    if (entry === undefined) index.report(makeIssue("BODY_DAMAGED", spans.at(ordinal), head.id));
    return entry ?? makeDamagedEntry(head);
  });
  const leaf = index.storedLeaf;
  return {
    header: index.header,
    version,
    entries,
    leafId: leaf === NONE ? null : tree.idAt(leaf),
    issues: collectIssues(index, () => [bytes]),
  };
}

/**
 * Returns the issues in bytes that an index has read. If there is no session header, also identifies the program that wrote the
 * bytes.
 */
export function collectIssues(
  { header, issues }: SessionIndex,
  pieces: () => Iterable<Uint8Array>,
): SessionIssue[] {
  const source = header === undefined ? detectForeignSource(pieces) : undefined;
  if (source === undefined) return issues;
  const place = { line: 1, offset: 0, length: 0 };
  return [{ ...place, code: "FOREIGN_FORMAT", message: describeForeign("This", source) }, ...issues];
}
