import { expect, test } from "vitest";
import { importCline } from "../../../src/interop/import/cline/import-cline.ts";
import { asked, importChat } from "./support/qwen-records.ts";

const COUNT = 10_000;

// Each takes minutes if every record costs as much as there are records before it.

test("messages that all have one id become entries of their own", () => {
  const messages = Array.from({ length: COUNT }, (_, i) => ({ role: "user", id: "same", content: `${i}` }));
  const importedAt = "2027-01-01T00:00:00.000Z";
  const [session] = importCline({ sessionId: "s", document: messages, importedAt });
  expect(new Set(session?.entries.map(({ id }) => id)).size).toBe(COUNT + 1);
});

test("records that are each other's parents are put behind those before them", () => {
  const records = Array.from({ length: COUNT }, (_, i) => {
    const { uuid: parentUuid } = asked(`q${i ^ 1}`, "");
    return asked(`q${i}`, `${i}`, { parentUuid });
  });
  const [session] = importChat(records);
  expect(session?.entries).toHaveLength(COUNT + 1);
  expect(session?.issues).toHaveLength(COUNT / 2);
});
