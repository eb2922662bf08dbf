import { expect, it } from "vitest";
import { decodeText, parseRecord } from "../../src/core/jsonl/decode.ts";
import { decodeEntry, decodeEntryAt } from "../../src/core/jsonl/entry-body.ts";
import fc from "../support/fast-check.ts";
import { sessionFile } from "./support/session-files.ts";
import { readAtOnce } from "./support/snapshots.ts";

it("entries parsed before the tree equal those decoded under its heads", () => {
  fc.assert(
    fc.property(sessionFile, (bytes) => {
      const index = readAtOnce(bytes);
      const { tree, spans, version } = index;
      const context = { version, entryIdFrom: (number: number) => index.entryIdFrom(number) };
      for (const ordinal of tree.ordinals()) {
        const { offset, length } = spans.at(ordinal);
        const line = bytes.subarray(offset, offset + length);
        const expected = decodeEntry(line, tree.headAt(ordinal), context);
        const record = parseRecord(decodeText(line));
        expect(record && decodeEntryAt(record, tree, ordinal, context)).toStrictEqual(expected);
      }
    }),
    { numRuns: 1000 },
  );
});
