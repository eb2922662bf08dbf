import { describe, expect, it } from "vitest";
import type { IssueCode } from "../../src/core/format/issue.ts";
import { encodeRecord } from "../../src/core/jsonl/encode.ts";
import { DAMAGED_CUSTOM_TYPE, decodeEntry, encodeCurrentLine } from "../../src/core/jsonl/entry-body.ts";
import { migrateSessionEntries } from "../../src/core/jsonl/migrate.ts";
import { parseSessionEntries } from "../../src/core/jsonl/parse-records.ts";
import { readSession } from "../../src/core/jsonl/read-session.ts";
import type { SessionIndex } from "../../src/core/jsonl/session-index.ts";
import fc from "../support/fast-check.ts";
import { orderlyFile, sessionFile } from "./support/session-files.ts";
import { readAtOnce, readBodies } from "./support/snapshots.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const json = fc.jsonValue({ stringUnit: "binary", maxDepth: 4 });
const entry = fc
  .record({
    type: fc.oneof(fc.constantFrom("message", "custom", "label", "__proto__"), fc.string()),
    id: fc.string({ minLength: 1 }),
    parentId: fc.option(fc.string()),
    timestamp: fc.string(),
    message: fc.record({ role: fc.string(), content: json }),
    data: json,
  })
  .filter(({ type }) => type !== "session");

/** Writes the entries of an index in the current version, as every copy of a session is made. */
function copyOf(index: SessionIndex, bytes: Uint8Array): Uint8Array {
  const { tree, spans, version, header } = index;
  const context = { version, entryIdFrom: (number: number) => index.entryIdFrom(number) };
  const lines = Array.from(tree.ordinals(), (ordinal) => {
    const { offset, length } = spans.at(ordinal);
    const line = encodeCurrentLine(bytes.subarray(offset, offset + length), tree.headAt(ordinal), context);
    return typeof line === "string" ? line : decoder.decode(line);
  });
  return encoder.encode(`${[encodeRecord(header ?? {}), ...lines].join("\n")}\n`);
}

describe("bodies", () => {
  it("are decoded to the encoded value", () => {
    fc.assert(
      fc.property(entry, (record) => {
        const line = encodeRecord(record);
        expect(line).not.toMatch(/[\n\r]/);
        const bytes = encoder.encode(`{"type":"session","version":3,"id":"s"}\n${line}\n`);
        const index = readAtOnce(bytes);
        const { offset, length } = index.spans.at(0);
        const written = bytes.subarray(offset, offset + length);
        const head = { ...index.tree.headAt(0), parentId: record.parentId };
        const context = { version: 3, entryIdFrom: () => undefined };
        expect(decodeEntry(written, head, context)).toEqual(JSON.parse(line));
        expect(encodeCurrentLine(written, head, context)).toBe(written);
      }),
      { numRuns: 2000 },
    );
  });

  it("of valid lines in the current version are copied byte for byte", () => {
    fc.assert(
      fc.property(orderlyFile, (bytes) => {
        const index = readAtOnce(bytes);
        fc.pre(index.header !== undefined && index.version === 3);
        const intact = readBodies(index, bytes);
        const copied = decoder.decode(copyOf(index, bytes)).split("\n").slice(1);
        for (const ordinal of index.tree.ordinals()) {
          const { offset, length } = index.spans.at(ordinal);
          const line = decoder.decode(bytes.subarray(offset, offset + length));
          const { id, parentId } = index.tree.headAt(ordinal);
          const { id: ownId, parentId: ownParentId, timestamp } = JSON.parse(line);
          const saysHead = ownId === id && ownParentId === parentId && typeof timestamp === "string";
          if (saysHead && intact[ordinal]) expect(copied[ordinal]).toBe(line);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a copy in the current version", () => {
  it("of any file is valid, has the same tree, and is its own copy", () => {
    fc.assert(
      fc.property(sessionFile, (bytes) => {
        const index = readAtOnce(bytes);
        fc.pre(index.header !== undefined && index.version <= 3);
        const intact = readBodies(index, bytes);
        const copied = copyOf(index, bytes);
        const copy = readAtOnce(copied);
        readBodies(copy, copied);
        expect(copy.issues).toEqual([]);
        expect([copy.version, copy.needsUpgrade]).toEqual([3, false]);
        for (const ordinal of index.tree.ordinals()) {
          const { type, ...head } = index.tree.headAt(ordinal);
          const found = copy.tree.headAt(ordinal);
          expect(found).toMatchObject({ id: head.id, parentId: head.parentId });
          expect(found.type).toBe(intact[ordinal] ? type : "custom");
        }
        expect(decoder.decode(copyOf(copy, copied))).toBe(decoder.decode(copied));
        const damaged = readSession(copied).entries.filter(
          (one) => "customType" in one && one.customType === DAMAGED_CUSTOM_TYPE,
        );
        expect(damaged).toHaveLength(intact.filter((one) => !one).length);
      }),
      { numRuns: 3000 },
    );
  });

  it("equals the migration of the parsed records, if every line is a record", () => {
    fc.assert(
      fc.property(orderlyFile, (bytes) => {
        const index = readAtOnce(bytes);
        fc.pre(index.header !== undefined && index.version < 3);
        fc.pre(
          !index.issues.some(({ code }) => code !== "HEADER_REPEATED" && code !== "RECORD_BEFORE_HEADER"),
        );
        const records = parseSessionEntries(decoder.decode(bytes));
        migrateSessionEntries(records);
        const own = records.slice(records.findIndex(({ type }) => type === "session"));
        const entries = own.filter(({ type }) => type !== "session");
        const context = {
          version: index.version,
          entryIdFrom: (number: number) => index.entryIdFrom(number),
        };
        for (const [ordinal, migrated] of entries.entries()) {
          const { offset, length } = index.spans.at(ordinal);
          const line = bytes.subarray(offset, offset + length);
          const decoded = decodeEntry(line, index.tree.headAt(ordinal), context);
          const { timestamp: _, ...expected } = { timestamp: "", ...decoded };
          if (decoded !== undefined && index.version < 2) expect(migrated).toMatchObject(expected);
          if (decoded !== undefined) expect(migrated.id).toBe(decoded.id);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

it("the random files hold every kind of damage that the reader detects", () => {
  const kinds: IssueCode[] = [
    "RECORD_BEFORE_HEADER",
    "HEADER_MISSING",
    "HEADER_REPEATED",
    "VERSION_UNCLEAR",
    "VERSION_TOO_NEW",
    "LINE_UNREADABLE",
    "NOT_AN_ENTRY",
    "TAIL_TORN",
    "NUL_BYTES",
    "RECORDS_GLUED",
    "BODY_DAMAGED",
    "ID_INVENTED",
    "ID_DUPLICATE",
    "ENTRY_REPEATED",
    "PARENT_MISSING",
    "PARENT_BRIDGED",
    "PARENT_CYCLE",
  ];
  const seen = new Map<IssueCode, number>();
  for (const bytes of fc.sample(sessionFile, { numRuns: 10_000, seed: 1 })) {
    const index = readAtOnce(bytes);
    readBodies(index, bytes);
    for (const code of new Set(index.issues.map((issue) => issue.code)))
      seen.set(code, (seen.get(code) ?? 0) + 1);
  }
  expect(kinds.filter((code) => (seen.get(code) ?? 0) < 5)).toEqual([]);
});
