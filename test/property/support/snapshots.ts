import { decodeEntry } from "../../../src/core/jsonl/entry-body.ts";
import { makeIssue } from "../../../src/core/jsonl/issue-log.ts";
import { SessionIndex } from "../../../src/core/jsonl/session-index.ts";
import { NONE } from "../../../src/core/tree/entry-tree.ts";

/** Creates an index over bytes in memory. */
export function indexBytes(bytes: Uint8Array): SessionIndex {
  return new SessionIndex({ readBytes: (offset, length) => bytes.subarray(offset, offset + length) });
}

/** Reads bytes at once. */
export function readAtOnce(bytes: Uint8Array): SessionIndex {
  const index = indexBytes(bytes);
  index.feed(bytes);
  index.end();
  return index;
}

/** Parses the body of an entry; undefined if it is damaged. */
export function readBody(index: SessionIndex, bytes: Uint8Array, ordinal: number) {
  const context = { version: index.version, entryIdFrom: (number: number) => index.entryIdFrom(number) };
  const { offset, length } = index.spans.at(ordinal);
  return decodeEntry(bytes.subarray(offset, offset + length), index.tree.headAt(ordinal), context);
}

/** Parses every body, so that damage is reported; returns whether each is valid. */
export function readBodies(index: SessionIndex, bytes: Uint8Array): boolean[] {
  return Array.from(index.tree.ordinals(), (ordinal) => {
    const isWhole = readBody(index, bytes, ordinal) !== undefined;
    if (!isWhole) index.report(makeIssue("BODY_DAMAGED", index.spans.at(ordinal), index.tree.idAt(ordinal)));
    return isWhole;
  });
}

/** Returns everything that an index holds about a file, ready to be compared. */
export function takeSnapshot(index: SessionIndex) {
  const { tree, spans, storedLeaf } = index;
  return {
    header: index.header,
    version: index.version,
    isRejected: index.isRejected,
    needsUpgrade: index.needsUpgrade,
    leafId: storedLeaf === NONE ? null : tree.idAt(storedLeaf),
    entries: Array.from(tree.ordinals(), (ordinal) => ({
      ...tree.headAt(ordinal),
      offset: spans.offsetAt(ordinal),
      length: spans.lengthAt(ordinal),
      line: spans.at(ordinal).line,
      children: [...tree.children(ordinal)],
      from: index.entryIdFrom(ordinal),
    })),
    roots: [...tree.children(NONE)],
  };
}

/** Returns issues as `CODE line entry`, each once, in the order of the file. */
export function listIssues(index: SessionIndex): string[] {
  const issues = index.issues.map(({ code, line, entryId }) => `${line} ${code} ${entryId ?? ""}`);
  return [...new Set(issues)].sort();
}
