import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { isTooLarge, withoutLarge } from "../../../../src/apps/recall/hook/large-sessions.ts";
import { project } from "../support/past.ts";

test("a session of more bytes than a limit is not opened; a deleted one, or one in a database, is not large", async () => {
  const { recall, scribe } = project();
  const { source } = recall.settings;
  const [row] = await source.list(undefined);
  if (row === undefined) throw new Error("there is a session");
  const { size } = statSync(scribe.path);
  expect([isTooLarge(row, size), isTooLarge(row, size - 1)]).toEqual([false, true]);
  expect([isTooLarge({}), isTooLarge({ path: `${scribe.path}.gone` })]).toEqual([false, false]);
  expect((await withoutLarge(source, size).read(row)).tree.size).toBeGreaterThan(0);
  await expect(withoutLarge(source, size - 1).read(row)).rejects.toMatchObject({ code: "READ_FAILED" });
});
