import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isHeaderlessSession } from "../../../src/session/log/headerless-session.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const AT = '"timestamp":"2026-02-03T22:01:00.000Z"';
const ENTRY = `{"type":"message","id":"a","parentId":null,${AT},"message":{"role":"user","content":"hi"}}`;

test.each([
  ["entries", ENTRY, true],
  ["entries after a damaged line", `{"type":"sess\n${ENTRY}`, true],
  ["an entry without a message", `{"type":"label","id":"a",${AT},"targetId":"b","label":"c"}`, true],
  ["an unknown type", `{"type":"of tomorrow",${AT}}`, false],
  ["messages without a role", `{"type":"message",${AT},"message":"hi"}`, false],
  ["messages without a time", '{"type":"message","message":{"role":"user"}}', false],
  ["prose", "prose", false],
])("finds entries in a file with %s", (_case, text, isFound) => {
  const path = join(temporaryFolder(), "a.jsonl");
  writeFileSync(path, `${text}\n`);
  expect(isHeaderlessSession(path)).toBe(isFound);
});

test("a file that was deleted in the meantime has no entries", () => {
  expect(isHeaderlessSession(join(temporaryFolder(), "gone.jsonl"))).toBe(false);
});
