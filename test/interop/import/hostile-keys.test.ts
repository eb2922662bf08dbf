import { expect, test } from "vitest";
import { importCline } from "../../../src/interop/import/cline/import-cline.ts";
import { asked, importChat } from "./support/qwen-records.ts";

const COUNT = 10_000;

// Each takes minutes if a record's cost grows with the number of records before it.

test("turns messages that all have one id into separate entries", () => {
  const messages = Array.from({ length: COUNT }, (_, i) => ({ role: "user", id: "same", content: `${i}` }));
  const importedAt = "2027-01-01T00:00:00.000Z";
  const [session] = importCline({ sessionId: "s", document: messages, importedAt });
  expect(new Set(session?.entries.map(({ id }) => id)).size).toBe(COUNT + 1);
});

test("places records that are each other's parents after the records before them", () => {
  const records = Array.from({ length: COUNT }, (_, i) => {
    const { uuid: parentUuid } = asked(`q${i ^ 1}`, "");
    return asked(`q${i}`, `${i}`, { parentUuid });
  });
  const [session] = importChat(records);
  expect(session?.entries).toHaveLength(COUNT + 1);
  expect(session?.issues).toHaveLength(COUNT / 2);
});
